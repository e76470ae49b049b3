import { type KubernetesObject, numberAt, textAt } from './objects.ts';

/** When an event of the cluster (core/v1) was seen last (RFC 3339). */
export const lastSeen = (event: KubernetesObject): string =>
  textAt(event, 'series', 'lastObservedTime') ||
  textAt(event, 'lastTimestamp') ||
  textAt(event, 'eventTime') ||
  (event.metadata.creationTimestamp ?? '');

/** How often an event was seen. */
export const timesSeen = (event: KubernetesObject): number =>
  numberAt(event, 'series', 'count') || numberAt(event, 'count') || 1;

/** What the events of one reason say about one object. */
export interface SeenEvents {
  readonly key: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly reason: string;
  /** That of the newest. */
  readonly message: string;
  /** RFC 3339. */
  readonly last: string;
  readonly times: number;
}

/** Events that were seen at this time (milliseconds since 1970) or later, by reason and object, the newest first. */
export function byObject(events: readonly KubernetesObject[], since: number): readonly SeenEvents[] {
  const groups = new Map<string, SeenEvents>();
  for (const event of events) {
    const last = lastSeen(event);
    if (!(Date.parse(last) >= since)) continue;
    const [kind, namespace, name] = ['kind', 'namespace', 'name'].map((one) => textAt(event, 'involvedObject', one));
    const [reason, message] = [textAt(event, 'reason'), textAt(event, 'message')];
    const key = JSON.stringify([reason, kind, namespace, name]);
    const before = groups.get(key);
    const isNewest = before === undefined || Date.parse(before.last) < Date.parse(last);
    const times = (before?.times ?? 0) + timesSeen(event);
    const newest = { key, kind: kind ?? '', namespace: namespace ?? '', name: name ?? '', reason, message, last };
    groups.set(key, { ...(isNewest ? newest : before), times });
  }
  return [...groups.values()].toSorted((a, b) => Date.parse(b.last) - Date.parse(a.last));
}
