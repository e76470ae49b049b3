import type { TimeRange } from '../query/times.ts';
import { rangeTooLong } from '../refusals.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** How far a range without a start goes back. Loki refuses ranges of more than 30 days and an hour (`max_query_length`). */
const OPEN_RANGE_MS = 30 * DAY_MS;
/**
 * The longest span. Loki splits a query into quarters of an hour and holds a query for each in memory: 8,832 for this many days. A span
 * of half a century took 23 GB when Loki's own limit had been removed.
 */
const LONGEST_RANGE_MS = 92 * DAY_MS;
/**
 * How far the clock of a node may be ahead. Loki refuses lines that are more than ten minutes ahead of its own clock
 * (`creation_grace_period`).
 */
const AHEAD_MS = HOUR_MS;
/** The earliest start: Loki reads a number of ten digits or fewer as seconds and not as nanoseconds. */
const EARLIEST_MS = DAY_MS;

/**
 * The span of a search in Loki, in milliseconds since 1970. It ends an hour from now at the latest; without a start it begins thirty
 * days before its end. If the end is before the start, there is nothing to search. Throws a 400 for a range that is too long.
 */
export function spanOf({ start, end }: TimeRange, now: number): readonly [start: number, end: number] {
  const latest = now + AHEAD_MS;
  const last = end === undefined ? latest : Math.min((end + 1) * 1_000, latest);
  const first = start === undefined ? last - OPEN_RANGE_MS : start * 1_000;
  if (last - first > LONGEST_RANGE_MS) throw rangeTooLong(LONGEST_RANGE_MS / DAY_MS);
  return [Math.max(first, EARLIEST_MS), last];
}
