import { lastSeen, timesSeen } from '../api/events.ts';
import type { KubernetesObject, ObjectList } from '../api/objects.ts';
import { textAt } from '../api/objects.ts';
import { settings } from '../app/settings.ts';
import { usePolled } from '../app/use-live.ts';
import { State } from '../parts/state.tsx';
import { Age } from '../parts/time.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { t } from '../texts/text.ts';

interface EventsProps {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string | undefined;
}

/** The cluster's events about an object, the newest first, asked for as the reader through the gateway. */
export function Events({ kind, name, namespace }: EventsProps) {
  return settings().features.gateway ? <EventList kind={kind} name={name} namespace={namespace} /> : null;
}

function EventList({ kind, name, namespace }: EventsProps) {
  const texts = t().events;
  const fieldSelector = `involvedObject.kind=${kind},involvedObject.name=${name}`;
  const root =
    namespace === undefined ? '/api/v1/events' : `/api/v1/namespaces/${encodeURIComponent(namespace)}/events`;
  const polled = usePolled<ObjectList>(`${root}?${new URLSearchParams({ fieldSelector, limit: '200' })}`);
  const events = (polled.value.value?.items ?? []).toSorted((a, b) => (lastSeen(a) < lastSeen(b) ? 1 : -1));
  return (
    <section aria-labelledby="events">
      <h2 id="events">{texts.title}</h2>
      {polled.refusal.value && <Trouble refusal={polled.refusal.value} again={() => polled.again()} />}
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
                <EventRow key={event.metadata.uid} event={event} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function EventRow({ event }: { readonly event: KubernetesObject }) {
  const type = textAt(event, 'type');
  return (
    <tr>
      <td>
        <State tone={type === 'Warning' ? 'warn' : 'idle'}>{type}</State>
      </td>
      <td>
        <Age since={lastSeen(event)} />
      </td>
      <td>{textAt(event, 'reason')}</td>
      <td>
        <bdi>{textAt(event, 'message')}</bdi>
      </td>
      <td class="number">{timesSeen(event)}</td>
    </tr>
  );
}
