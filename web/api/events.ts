import { numberAt, textAt } from './objects.ts';

/** What is read of an event of the cluster. */
export interface EventRecord {
  /** `Normal` or `Warning`, usually. */
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  /** When it was seen last (RFC 3339). */
  readonly last: string;
  /** How often it was seen. */
  readonly times: number;
  /** The object that it is about. What is in no namespace has an empty one. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** The later of two times; a text that is no time counts only if there is no other. */
const later = (one: string, other: string): string => {
  const [a, b] = [Date.parse(one), Date.parse(other)];
  if (Number.isNaN(b)) return one || other;
  return Number.isNaN(a) || b > a ? other : one;
};

/** Reads an event in either form: that of `v1`, or that of `events.k8s.io/v1` (docs/contract/events.md, E-04). */
export function readEvent(event: unknown): EventRecord {
  const about = (member: string): string =>
    textAt(event, 'involvedObject', member) || textAt(event, 'regarding', member);
  const times = [
    ...['lastTimestamp', 'deprecatedLastTimestamp', 'eventTime'].map((member) => textAt(event, member)),
    textAt(event, 'series', 'lastObservedTime'),
  ];
  const counts = [numberAt(event, 'series', 'count'), numberAt(event, 'count'), numberAt(event, 'deprecatedCount')];
  return {
    type: textAt(event, 'type'),
    reason: textAt(event, 'reason'),
    message: textAt(event, 'message') || textAt(event, 'note'),
    last: times.reduce(later, '') || textAt(event, 'metadata', 'creationTimestamp'),
    times: counts.find((count) => count > 0) ?? 1,
    ...{ apiVersion: about('apiVersion'), kind: about('kind'), namespace: about('namespace'), name: about('name') },
  };
}

/** What the events of one reason say about one object: the newest, with the sum of their counts. */
export interface SeenEvents extends EventRecord {
  readonly key: string;
}

/** Events that were seen at this time (milliseconds since 1970) or later, by reason and object, the newest first. */
export function byObject(events: readonly unknown[], since: number): readonly SeenEvents[] {
  const groups = new Map<string, SeenEvents>();
  for (const event of events.map(readEvent)) {
    const { last, reason, kind, namespace, name } = event;
    if (!(Date.parse(last) >= since)) continue;
    const key = JSON.stringify([reason, kind, namespace, name]);
    const before = groups.get(key);
    const isNewest = before === undefined || Date.parse(before.last) < Date.parse(last);
    const times = (before?.times ?? 0) + event.times;
    groups.set(key, { ...(isNewest ? { ...event, key } : before), times });
  }
  return [...groups.values()].toSorted((a, b) => Date.parse(b.last) - Date.parse(a.last));
}
