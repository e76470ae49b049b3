import type { TimeRange } from '../query/times.ts';

const DAY_SECONDS = 86_400;
/** With more days than a month the names would make a request line of more than 1 kB. */
const MOST_DAYS = 30;

/**
 * The indices that records of this time are in, one for each day (UTC), as the path of a search. All of the prefix when the
 * days are too many or not known; never others.
 */
export function indicesOf(prefix: string, { start, end }: TimeRange): string {
  if (start === undefined || end === undefined) return `${prefix}*`;
  const [first, last] = [Math.floor(start / DAY_SECONDS), Math.floor(end / DAY_SECONDS)];
  if (end - start > MOST_DAYS * DAY_SECONDS) return `${prefix}*`;
  return Array.from({ length: last - first + 1 }, (_, at) => `${prefix}-${dayText(first + at)}`).join(',');
}

/**
 * Whether all of these indices are those of days. Those of a rollover, of a data stream, or behind an alias have other names, and
 * a search by days would miss their records.
 */
export const areOfDays = (prefix: string, indices: readonly unknown[]): boolean =>
  indices.every(
    (name) => typeof name === 'string' && name.startsWith(`${prefix}-`) && DAY.test(name.slice(prefix.length + 1)),
  );

const DAY = /^\d{4}\.\d{2}\.\d{2}$/;

const dayText = (day: number): string =>
  new Date(day * DAY_SECONDS * 1_000).toISOString().slice(0, 10).replaceAll('-', '.');
