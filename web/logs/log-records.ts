/** A record of the log store (docs/contract/logging.md, section 4.1). What is empty in the store is missing. */
export interface LogRecord {
  readonly log?: string;
  /** The time that the collector has written: usually RFC 3339, with up to nine digits after the second. */
  readonly time?: string;
  readonly namespace?: string;
  readonly pod?: string;
  readonly container?: string;
}

/** Compares times as they are in records, exactly to all their digits. */
export function compareTimes(a = '', b = ''): number {
  const whole = secondOf(a) - secondOf(b);
  if (whole !== 0 && !Number.isNaN(whole)) return whole;
  const [digits, others] = [fractionOf(a), fractionOf(b)];
  return digits < others ? -1 : digits > others ? 1 : 0;
}

const secondOf = (time: string): number => Math.floor(Date.parse(time) / 1_000);
const fractionOf = (time: string): string => (/:\d\d\.(\d+)/.exec(time)?.[1] ?? '').padEnd(9, '0');

const keyOf = ({ time, namespace, pod, container, log }: LogRecord): string =>
  [time, namespace, pod, container, log].join('\n');

/**
 * The records of `found` that are not among `known`. One that a container has written twice is new if it is known once only. Both may be in any order.
 */
export function newAmong(known: readonly LogRecord[], found: readonly LogRecord[]): readonly LogRecord[] {
  const times = new Map<string, number>();
  for (const record of known) times.set(keyOf(record), (times.get(keyOf(record)) ?? 0) + 1);
  return found.filter((record) => {
    const left = times.get(keyOf(record)) ?? 0;
    times.set(keyOf(record), left - 1);
    return left <= 0;
  });
}

/** All of these records, the newest first. Those of one time stay as they are. */
export const newestFirst = (records: readonly LogRecord[]): readonly LogRecord[] =>
  records.toSorted((a, b) => compareTimes(b.time, a.time));
