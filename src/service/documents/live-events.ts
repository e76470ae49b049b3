import { EVENTS } from '../../documents/kinds/event-kind.ts';
import { textAt, textsOf } from '../../documents/memory/kept-document.ts';
import { type MemoryDocument, MemoryStore } from '../../documents/memory/memory-store.ts';
import type { DocumentStore } from '../../documents/store/document-store.ts';
import type { HeldKinds } from '../../kinds/mirrors/held-kinds.ts';
import type { ClusterKind } from '../../kubernetes/discovery/cluster-kind.ts';
import type { Entry } from '../../resources/entries/entry.ts';
import type { Clock } from '../../runtime/clock.ts';
import { derived } from '../../runtime/derived.ts';
import { asObject } from '../../runtime/text/json-value.ts';
import { TimeSlices } from '../../runtime/time-slices.ts';
import { type StatusError, serviceUnavailable } from '../../status-error.ts';

export interface LiveEventsParts {
  /** The kinds that are in memory while somebody asks for them. Absent: none can be. */
  readonly kinds: Pick<HeldKinds, 'hold'> | undefined;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/** Every cluster has this kind, and serves its objects as `events.k8s.io/v1` too (`k8s.io/api/core/v1`, `Event`). */
const EVENT: ClusterKind = {
  ...{ group: '', version: 'v1', resource: 'events', kind: 'Event', singularName: 'event' },
  ...{ shortNames: ['ev'], namespaced: true, verbs: ['get', 'list', 'watch'] },
};

/** The events that the cluster still has (usually an hour), as a store (E-05). They are in memory while somebody asks for them. */
export function createLiveEvents({
  kinds,
  clock,
}: LiveEventsParts & { readonly kinds: Pick<HeldKinds, 'hold'> }): DocumentStore {
  return new MemoryStore({
    kind: EVENTS,
    slices: new TimeSlices(clock),
    documents: async () => {
      const held = await kinds.hold(EVENT);
      if (held.way !== 'whole') throw tooMany();
      held.lister.refresh();
      return held.store.entries().map(documentOf);
    },
  });
}

/** Held by its fields alone, a kind has no messages to search. */
const tooMany = (): StatusError =>
  serviceUnavailable('events are not available: they do not fit into kinds.memory', RETRY_SECONDS);

const RETRY_SECONDS = 30;

/** Only the fields are kept beside the entry. */
const documentOf = derived((entry: Entry): MemoryDocument => {
  const read = (): object => JSON.parse(Buffer.from(entry.encoded.bytes()).toString());
  const event = read();
  return { at: timeOf(event, entry), id: textAt(event, 'involvedObject.uid'), texts: textsOf(event, EVENTS), read };
});

/** When it was seen last. Many components leave `lastTimestamp` empty, so that the later of all times counts (E-04). */
function timeOf(event: object, { createdAt }: Entry): number {
  const places = ['lastTimestamp', 'eventTime', 'series.lastObservedTime'];
  const times = places.map((place) => Date.parse(textAt(asObject(event), place))).filter((time) => !Number.isNaN(time));
  return times.length > 0 ? Math.max(...times) : createdAt;
}
