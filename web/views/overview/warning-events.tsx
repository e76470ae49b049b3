import { byObject, type SeenEvents } from '../../api/events.ts';
import type { ObjectList } from '../../api/objects.ts';
import { hrefTo } from '../../app/address.ts';
import { settings } from '../../app/settings.ts';
import { usePolled } from '../../app/use-live.ts';
import { EventObject } from '../../events/event-object.tsx';
import { Loading } from '../../parts/loading.tsx';
import { State } from '../../parts/state.tsx';
import { Age } from '../../parts/time.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import { t } from '../../texts/text.ts';

/** How many are shown, and how many events are looked at: a cluster in trouble has thousands. */
const SHOWN = 10;
const LOOKED_AT = 500;
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

function Warnings() {
  const texts = t().warnings;
  const asked = new URLSearchParams({ fieldSelector: 'type=Warning', limit: `${LOOKED_AT}` });
  const polled = usePolled<EventPage>(`/api/v1/events?${asked}`, EVERY_MS);
  const page = polled.value.value;
  const found = byObject(page?.items ?? [], Date.now() - HOUR_MS);
  const others = found.length - SHOWN;
  return (
    <>
      {polled.refusal.value && <Trouble refusal={polled.refusal.value} isQuiet again={() => polled.again()} />}
      {!page && !polled.refusal.value && (
        <p class="soft">
          <Loading />
        </p>
      )}
      {page && found.length === 0 && <p class="soft">{texts.none}</p>}
      {found.length > 0 && <WarningList warnings={found.slice(0, SHOWN)} />}
      {others > 0 && <Others count={others} />}
      {page?.metadata?.continue && <p class="soft">{texts.cut(LOOKED_AT)}</p>}
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
          <bdi>{warning.message}</bdi>
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
