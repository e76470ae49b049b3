import { useSignal } from '@preact/signals';
import { bytesText } from '../api/quantity.ts';
import { t } from '../texts/text.ts';
import { cutLine, piecesOf, withCarets } from './log-text.ts';

interface LineProps {
  readonly text: string;
  /** What to mark in it. */
  readonly wanted: RegExp | undefined;
}

/** A line of a log as hostile text: control characters are visible, and a very long line is shown whole only if the reader wants that. */
export function LogLine({ text, wanted }: LineProps) {
  const first = cutLine(text);
  return first.length === text.length ? (
    <Pieces text={text} wanted={wanted} />
  ) : (
    <LongLine {...{ first, text, wanted }} />
  );
}

/** Nothing is marked in the whole of it: a line can be made of so many pieces that a browser stands still. */
function LongLine({ first, text, wanted }: LineProps & { readonly first: string }) {
  const isWhole = useSignal(false);
  return (
    <>
      {isWhole.value ? <bdi>{withCarets(text)}</bdi> : <Pieces text={`${first}…`} wanted={wanted} />}{' '}
      <button
        type="button"
        class="badge"
        aria-expanded={isWhole.value}
        onClick={() => (isWhole.value = !isWhole.value)}
      >
        {isWhole.value ? t().logs.less : t().logs.whole(bytesText(text.length))}
      </button>
    </>
  );
}

function Pieces({ text, wanted }: LineProps) {
  return (
    <bdi>
      {piecesOf(text, wanted).map(({ kind, text }) =>
        kind === 'plain' ? text : kind === 'hit' ? <mark>{text}</mark> : <span class="control">{text}</span>,
      )}
    </bdi>
  );
}
