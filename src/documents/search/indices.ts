import type { TimeRange } from '../query/times.ts';

const DAY_SECONDS = 86_400;
/** With more days, the names of the indices would make a request line longer than 1 kB. */
const MOST_DAYS = 30;

/**
 * The indices with records of this time range, one for each day (UTC), as they are named in the path of a search. All indices of the
 * prefix if the range is open or has too many days.
 */
export function indicesOf(prefix: string, { start, end }: TimeRange): string {
  if (start === undefined || end === undefined) return `${prefix}*`;
  const [first, last] = [Math.floor(start / DAY_SECONDS), Math.floor(end / DAY_SECONDS)];
  if (end - start > MOST_DAYS * DAY_SECONDS) return `${prefix}*`;
  return Array.from({ length: last - first + 1 }, (_, at) => `${prefix}-${dayText(first + at)}`).join(',');
}

/**
 * Whether there is one index for each day. Indices of a rollover, of a data stream, or behind an alias have other names, and a search
 * in daily indices would miss their records. If there are daily indices of this prefix, those of a longer prefix belong to another
 * system and are ignored: a search in all indices would include their records.
 */
export function areOfDays(prefix: string, indices: readonly unknown[]): boolean {
  const others = indices.filter((name) => !isDayOf(prefix, name));
  if (others.length === 0) return true;
  return others.length < indices.length && others.every((name) => isDayOfLonger(prefix, name));
}

const isDayOf = (prefix: string, name: unknown): boolean =>
  typeof name === 'string' && name.startsWith(`${prefix}-`) && DAY.test(name.slice(prefix.length + 1));

const isDayOfLonger = (prefix: string, name: unknown): boolean =>
  typeof name === 'string' && name.startsWith(prefix) && OTHER_DAY.test(name.slice(prefix.length));

const DAY = /^\d{4}\.\d{2}\.\d{2}$/;
const OTHER_DAY = /^.+-\d{4}\.\d{2}\.\d{2}$/;

const dayText = (day: number): string =>
  new Date(day * DAY_SECONDS * 1_000).toISOString().slice(0, 10).replaceAll('-', '.');
