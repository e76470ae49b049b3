import { useSignal } from '@preact/signals';
import type { Refusal } from '../api/refusal.ts';
import { person } from '../app/session.ts';
import { settings } from '../app/settings.ts';
import { t } from '../texts/text.ts';
import { Copied } from './copied.tsx';
import { commandsToAllow, type Denied, deniedBy, refuserOf } from './denied.ts';
import { Dialog } from './dialog.tsx';
import { Facts } from './facts.tsx';

interface TroubleProps {
  readonly refusal: Refusal;
  /** Asks again. Without it, the page does so by itself. */
  again?(): void;
  /** A right that is missing takes one quiet line: what is shown without it is of use, too. */
  readonly isQuiet?: boolean;
}

/** Says in words why there is no answer, where the data would be (W-13, W-14). What the reader may do about it comes with it. */
export function Trouble({ refusal, again, isQuiet = false }: TroubleProps) {
  const isOpen = useSignal(false);
  const denied = deniedBy(refusal);
  const why = isOpen.value && <Why refusal={refusal} denied={denied} onClose={() => (isOpen.value = false)} />;
  const open = (
    <button type="button" onClick={() => (isOpen.value = true)}>
      {t().why.open}
    </button>
  );
  if (isQuiet && refusal.status === 403)
    return (
      <div class="denied-line">
        <p class="soft">{headline(refusal, denied)}</p>
        {open}
        {why}
      </div>
    );
  return (
    <div class={refusal.status === 403 ? 'notice denied' : 'notice'} role="alert">
      <p>
        <strong>{headline(refusal, denied)}</strong> <span class="said">{said(refusal)}</span>
      </p>
      <p class="actions">
        {refusal.status === 403 && open}
        {again && (
          <button type="button" onClick={again}>
            {t().again}
          </button>
        )}
      </p>
      {why}
    </div>
  );
}

function headline({ status }: Refusal, denied: Denied | undefined): string {
  const texts = t().trouble;
  if (denied) return texts.mayNot(denied.verb, denied.resource, denied.namespace);
  if (status === 0) return texts.away;
  if (status === 403) return texts.forbidden;
  if (status === 404) return texts.notFound;
  if (status === 429) return texts.tooMany;
  if (status >= 500) return texts.unavailable;
  return texts.refused;
}

/** What a refusal says, where there is room for one sentence. */
export const inShort = ({ status, message }: Refusal): string => (status === 0 ? t().trouble.away : message);

/** A review of one's own rights is a POST that changes nothing. */
const REVIEWS = /^\/apis\/authorization\.k8s\.io\//;

function said({ status, method, path, message, causes }: Refusal): string {
  if (status === 0) return method === 'GET' || REVIEWS.test(path) ? t().trouble.triesAgain : t().trouble.unknownEnd;
  // The message often has what the causes say.
  const details = causes
    .filter((cause) => !message.includes(cause.message))
    .map((cause) => `${cause.field}: ${cause.message}`);
  return [message, ...details].join(' · ');
}

interface WhyProps {
  readonly refusal: Refusal;
  readonly denied: Denied | undefined;
  onClose(): void;
}

/** What was asked, as whom, who answered, and what to ask the administrator for (W-19). */
function Why({ refusal, denied, onClose }: WhyProps) {
  const texts = t().why;
  const { user = '', groups = [] } = person.value ?? {};
  return (
    <Dialog title={texts.title} onClose={onClose}>
      <Facts
        facts={[
          [texts.verb, denied?.verb],
          [texts.resource, denied?.resource],
          [texts.group, denied && (denied.group || texts.coreGroup)],
          [texts.namespace, denied && (denied.namespace || texts.wholeCluster)],
          [texts.name, denied?.name],
          [texts.user, denied?.user || user],
          [texts.groups, groups.join(', ')],
          [texts.call, `${refusal.method} ${refusal.path.split('?')[0]}`],
          [texts.who, texts.refusers[refuserOf(refusal.path, denied)]],
          [texts.answer, refusal.message],
        ]}
      />
      <h3>{texts.send}</h3>
      <Copied text={letter(refusal, denied, groups)} />
    </Dialog>
  );
}

function letter(refusal: Refusal, denied: Denied | undefined, groups: readonly string[]): string {
  const texts = t().why;
  const lines = [
    texts.please,
    `  ${refusal.message}`,
    '',
    `${texts.call}: ${refusal.method} ${refusal.path.split('?')[0]}`,
  ];
  if (groups.length > 0) lines.push(`${texts.groups}: ${groups.join(', ')}`);
  return [...lines, ...(denied ? ['', texts.commands, '', commandsToAllow(denied, settings().platform)] : [])].join(
    '\n',
  );
}
