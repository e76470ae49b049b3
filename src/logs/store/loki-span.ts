import type { TimeRange } from '../query/times.ts';
import { rangeTooLong } from '../refusals.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** How far an open range goes back. Loki refuses ranges of more than 30 days and an hour (`max_query_length`). */
const OPEN_RANGE_MS = 30 * DAY_MS;
/**
 * The longest span. Loki splits a query into quarters of an hour and holds a query for each in memory: 8,832 for this many days. For half
 * a century it took 23 GB when its operator had lifted Loki's own limit.
 */
const LONGEST_RANGE_MS = 92 * DAY_MS;
/** How far the clock of a node may be ahead. Loki takes no lines that are ten minutes ahead of its own (`creation_grace_period`). */
const AHEAD_MS = HOUR_MS;
/** Loki reads a number of ten digits or fewer as seconds, not as nanoseconds. */
const EARLIEST_MS = DAY_MS;

/**
 * The span to ask Loki about, in milliseconds since 1970. It ends an hour from now at the latest; an open start is thirty days before
 * that end. If the end is before the start, there is nothing to ask. Throws a 400
 * for a time that is too long.
 */
export function spanOf({ start, end }: TimeRange, now: number): readonly [start: number, end: number] {
  const latest = now + AHEAD_MS;
  const last = end === undefined ? latest : Math.min((end + 1) * 1_000, latest);
  const first = start === undefined ? last - OPEN_RANGE_MS : start * 1_000;
  if (last - first > LONGEST_RANGE_MS) throw rangeTooLong(LONGEST_RANGE_MS / DAY_MS);
  return [Math.max(first, EARLIEST_MS), last];
}
