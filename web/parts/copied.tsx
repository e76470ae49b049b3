import { useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useRef } from 'preact/hooks';
import { t } from '../texts/text.ts';

/** A text with a button that copies it. */
export function Copied({ text }: { readonly text: string }) {
  const shown = useRef<HTMLPreElement>(null);
  return (
    <div class="copied">
      <pre ref={shown} tabIndex={0}>
        {text}
      </pre>
      <CopyButton textOf={() => text} shown={shown} />
    </div>
  );
}

interface CopyButtonProps {
  textOf(): string;
  /** Where the text is shown. */
  readonly shown: RefObject<HTMLElement | null>;
}

/** Copies a text. Where the browser does not let a page copy (plain http), what is shown is selected instead. */
export function CopyButton({ textOf, shown }: CopyButtonProps) {
  const said = useSignal('');
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(textOf());
      said.value = t().copied;
    } catch {
      if (shown.current) getSelection()?.selectAllChildren(shown.current);
      said.value = t().selected;
    }
  };
  return (
    <>
      <button type="button" onClick={() => void copy()}>
        {t().copy}
      </button>
      <span role="status" class="soft">
        {said.value}
      </span>
    </>
  );
}
