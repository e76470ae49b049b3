import { type EventRecord, readEvent } from '../api/events.ts';
import type { ObjectList } from '../api/objects.ts';
import { settings } from '../app/settings.ts';
import { usePolled } from '../app/use-live.ts';
import { searchedEvents } from '../events/event-links.ts';
import { withCarets } from '../logs/log-text.ts';
import { Loading } from '../parts/loading.tsx';
import { State } from '../parts/state.tsx';
import { Age } from '../parts/time.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { t } from '../texts/text.ts';

interface ObjectEventsProps {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string | undefined;
}

/** The cluster's events about an object, and the way to the search of events, as far as this server has them. */
export function ObjectEvents(props: ObjectEventsProps) {
  const { gateway, events } = settings().features;
  if (!(gateway || events)) return null;
  return (
    <section aria-labelledby="events">
      <h2 id="events">{t().events.title}</h2>
      {gateway && <EventList {...props} />}
      {events && (
        <p>
          <a href={searchedEvents(props)}>{t().events.search}</a>
        </p>
      )}
    </section>
  );
}

/** The newest first, asked for as the reader through the gateway. */
function EventList({ kind, name, namespace }: ObjectEventsProps) {
  const texts = t().events;
  const fieldSelector = `involvedObject.kind=${kind},involvedObject.name=${name}`;
  const root =
    namespace === undefined ? '/api/v1/events' : `/api/v1/namespaces/${encodeURIComponent(namespace)}/events`;
  const polled = usePolled<ObjectList>(`${root}?${new URLSearchParams({ fieldSelector, limit: '200' })}`);
  const events = (polled.value.value?.items ?? [])
    .map((event) => ({ uid: event.metadata.uid, ...readEvent(event) }))
    .toSorted((a, b) => Date.parse(b.last) - Date.parse(a.last));
  return (
    <>
      {polled.refusal.value && <Trouble refusal={polled.refusal.value} again={() => polled.again()} />}
      {!polled.value.value && !polled.refusal.value && (
        <p class="soft">
          <Loading />
        </p>
      )}
      {polled.value.value && events.length === 0 && <p class="soft">{texts.none}</p>}
      {events.length > 0 && (
        <div class="scrolled">
          <table>
            <thead>
              <tr>
                <th scope="col">{texts.type}</th>
                <th scope="col">{texts.last}</th>
                <th scope="col">{texts.reason}</th>
                <th scope="col">{texts.message}</th>
                <th scope="col" class="number">
                  {texts.count}
                </th>
              </tr>
            </thead>
            <tbody>
              {events.map((event) => (
                <EventRow key={event.uid} event={event} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}

function EventRow({ event: { type, last, reason, message, times } }: { readonly event: EventRecord }) {
  return (
    <tr>
      <td>
        <State tone={type === 'Warning' ? 'warn' : 'idle'}>{type}</State>
      </td>
      <td>
        <Age since={last} />
      </td>
      <td>{reason}</td>
      <td>
        <bdi>{withCarets(message)}</bdi>
      </td>
      <td class="number">{times}</td>
    </tr>
  );
}
