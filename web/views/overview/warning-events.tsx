import { byObject, type SeenEvents } from '../../api/events.ts';
import type { ObjectList } from '../../api/objects.ts';
import { hrefTo } from '../../app/address.ts';
import { resourcesRoot, settings } from '../../app/settings.ts';
import { usePolled } from '../../app/use-live.ts';
import { EventObject } from '../../events/event-object.tsx';
import type { Polled } from '../../live/polled.ts';
import { withCarets } from '../../logs/log-text.ts';
import { deniedBy } from '../../parts/denied.ts';
import { Loading } from '../../parts/loading.tsx';
import { State } from '../../parts/state.tsx';
import { Age } from '../../parts/time.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import { t } from '../../texts/text.ts';

/** How many are shown, and how many events are looked at: a cluster in trouble has thousands. */
const SHOWN = 10;
const LOOKED_AT = 500;
/** Namespaces that are asked one by one at most, each a call of its own. */
const FEW = 10;
const EVERY_MS = 30_000;
const HOUR_MS = 3_600_000;

/** What the cluster has warned of in the last hour, asked for as the reader through the gateway. */
export function WarningEvents() {
  const { title, noGateway } = t().warnings;
  return (
    <section class="card wide" aria-labelledby="warnings">
      <h2 id="warnings">{title}</h2>
      {settings().features.gateway ? <Warnings /> : <p class="soft">{noGateway}</p>}
    </section>
  );
}

interface EventPage extends ObjectList {
  readonly metadata?: { readonly continue?: string };
}

const ASKED = new URLSearchParams({ fieldSelector: 'type=Warning', limit: `${LOOKED_AT}` });

/** Those of the whole cluster, or of the namespaces of a reader who may not see the whole cluster. */
function Warnings() {
  const polled = usePolled<EventPage>(`/api/v1/events?${ASKED}`, EVERY_MS);
  const refusal = polled.refusal.value;
  return refusal && deniedBy(refusal) ? <WarningsOfFew all={polled} /> : <Found asked={[polled]} />;
}

interface WarningsOfFewProps {
  /** The question about the whole cluster, which was refused. */
  readonly all: Polled<EventPage>;
}

/** The reader's namespaces one by one, if they are few: the gateway answers for all of them only with `gateway.permittedLists`. */
function WarningsOfFew({ all }: WarningsOfFewProps) {
  const names = new URLSearchParams({ permitted: 'true', sortBy: 'name', ascending: 'true', limit: `${FEW + 1}` });
  const namespaces = usePolled<ObjectList>(`${resourcesRoot()}/namespaces?${names}`, EVERY_MS);
  const few = namespaces.value.value?.items.map(({ metadata }) => metadata.name);
  if (few && few.length > 0 && few.length <= FEW) return <WarningsOf key={few.join()} namespaces={few} />;
  if (few || namespaces.refusal.value) return <Found asked={[all]} />;
  return (
    <p class="soft">
      <Loading />
    </p>
  );
}

/** The number of namespaces does not change while this is shown. */
function WarningsOf({ namespaces }: { readonly namespaces: readonly string[] }) {
  const asked = namespaces.map((name) =>
    usePolled<EventPage>(`/api/v1/namespaces/${encodeURIComponent(name)}/events?${ASKED}`, EVERY_MS),
  );
  return <Found asked={asked} />;
}

interface FoundProps {
  /** The questions whose answers are shown together. */
  readonly asked: readonly Polled<EventPage>[];
}

function Found({ asked }: FoundProps) {
  const texts = t().warnings;
  const pages = asked.flatMap(({ value }) => value.value ?? []);
  const refused = asked.find(({ refusal }) => refusal.value);
  const found = byObject(
    pages.flatMap(({ items }) => items ?? []),
    Date.now() - HOUR_MS,
  );
  const others = found.length - SHOWN;
  const isComplete = pages.length === asked.length;
  return (
    <>
      {refused?.refusal.value && <Trouble refusal={refused.refusal.value} isQuiet again={() => refused.again()} />}
      {!isComplete && !refused && (
        <p class="soft">
          <Loading />
        </p>
      )}
      {isComplete && found.length === 0 && <p class="soft">{texts.none}</p>}
      {found.length > 0 && <WarningList warnings={found.slice(0, SHOWN)} />}
      {others > 0 && <Others count={others} />}
      {pages.some(({ metadata }) => metadata?.continue) && <p class="soft">{texts.cut(LOOKED_AT)}</p>}
    </>
  );
}

function WarningList({ warnings }: { readonly warnings: readonly SeenEvents[] }) {
  return (
    <ul class="warnings">
      {warnings.map((warning) => (
        <li key={warning.key}>
          <State tone="warn">{warning.reason}</State>
          <span class="soft">
            <Age since={warning.last} />
            {warning.times > 1 && ` · ${t().warnings.times(warning.times)}`}
          </span>
          <span>
            <EventObject event={warning} />
          </span>
          <bdi>{withCarets(warning.message)}</bdi>
        </li>
      ))}
    </ul>
  );
}

/** How many there are besides those that are shown, with the way to all of them. */
function Others({ count }: { readonly count: number }) {
  const text = t().more.replace('%', String(count));
  return (
    <p class="soft">
      {settings().features.events ? <a href={hrefTo(['events'], { range: '1h', type: 'Warning' })}>{text}</a> : text}
    </p>
  );
}
