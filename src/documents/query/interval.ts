import { invalid, quoted } from '../../runtime/text/parameters.ts';
import type { StatusCause } from '../../status-error.ts';
import type { TimeRange } from './times.ts';

/** The length of a histogram's buckets. For weeks and longer units `count` is 1, and the buckets follow the calendar in UTC. */
export interface Interval {
  readonly count: number;
  readonly unit: FixedUnit | CalendarUnit;
}

type FixedUnit = 's' | 'm' | 'h' | 'd';
type CalendarUnit = 'w' | 'M' | 'q' | 'y';

export interface Bucket {
  /** The beginning of the bucket, in milliseconds since 1970. */
  readonly time: number;
  readonly count: number;
}

export const DEFAULT_INTERVAL: Interval = { count: 15, unit: 'm' };

/** The most buckets of one answer, empty ones included. A browser shows about a tenth of that. */
export const MOST_BUCKETS = 10_000;

const UNIT_MS: Readonly<Record<FixedUnit, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const WEEK_MS = 7 * UNIT_MS.d;
/** Weeks begin on Monday; the first Monday since 1970 was 1970-01-05. */
const FIRST_MONDAY_MS = 4 * UNIT_MS.d;
const MONTHS: Readonly<Record<Exclude<CalendarUnit, 'w'>, number>> = { M: 1, q: 3, y: 12 };

/** At most nine digits, because a store can represent a billion days in milliseconds. */
const INTERVAL = /^([1-9][0-9]{0,8})([smhdwMqy])$/;

export function parseInterval(text: string, name: string): Interval | StatusCause {
  const [, count, unit] = INTERVAL.exec(text) ?? [];
  const interval = { count: Number(count), unit: unit as Interval['unit'] };
  if (unit !== undefined && (isFixed(interval.unit) || interval.count === 1)) return interval;
  return invalid(name, `${quoted(text)} is not an interval such as 30s, 15m, 6h, 7d, 1w, 1M, 1q or 1y`);
}

export const intervalText = ({ count, unit }: Interval): string => `${count}${unit}`;

/** Whether a store counts the interval by its length. It counts one day, and weeks and longer units, by the calendar. */
export const hasFixedLength = ({ count, unit }: Interval): boolean => isFixed(unit) && !(unit === 'd' && count === 1);

/** The length in milliseconds; `undefined` when it depends on the calendar. */
export const lengthOf = ({ count, unit }: Interval): number | undefined =>
  isFixed(unit) ? count * UNIT_MS[unit] : undefined;

/** The number of buckets in a closed range. */
export function bucketsIn({ start, end }: Required<TimeRange>, interval: Interval): number {
  return indexOf(end * 1_000 + 999, interval) - indexOf(start * 1_000, interval) + 1;
}

/**
 * The buckets and the empty ones between them, in the order of time; `undefined` if there are more than an answer may have. `filled`
 * are the buckets of several searches in any order; buckets of the same time are added up.
 */
export function withEmptyBuckets(filled: readonly Bucket[], interval: Interval): Bucket[] | undefined {
  const counts = new Map<number, number>();
  for (const { time, count } of filled) counts.set(time, (counts.get(time) ?? 0) + count);
  const times = [...counts.keys()].sort((a, b) => a - b);
  const [first, last] = [times[0], times.at(-1)];
  if (first === undefined || last === undefined) return [];
  if (indexOf(last, interval) - indexOf(first, interval) >= MOST_BUCKETS) return undefined;
  const buckets: Bucket[] = [];
  for (let time = first; time <= last; time = nextOf(time, interval))
    buckets.push({ time, count: counts.get(time) ?? 0 });
  return buckets;
}

const isFixed = (unit: Interval['unit']): unit is FixedUnit => unit in UNIT_MS;

/** The number of the bucket that this time is in. */
function indexOf(ms: number, { count, unit }: Interval): number {
  if (isFixed(unit)) return Math.floor(ms / (count * UNIT_MS[unit]));
  if (unit === 'w') return Math.floor((ms - FIRST_MONDAY_MS) / WEEK_MS);
  const date = new Date(ms);
  return Math.floor((date.getUTCFullYear() * 12 + date.getUTCMonth()) / MONTHS[unit]);
}

/** The beginning of the bucket that this time is in. */
export function beginningOf(ms: number, interval: Interval): number {
  const { count, unit } = interval;
  const index = indexOf(ms, interval);
  if (isFixed(unit)) return index * count * UNIT_MS[unit];
  if (unit === 'w') return index * WEEK_MS + FIRST_MONDAY_MS;
  return new Date(0).setUTCFullYear(0, index * MONTHS[unit], 1);
}

/** The beginning of the bucket after the one that begins at `time`. */
function nextOf(time: number, { count, unit }: Interval): number {
  if (isFixed(unit)) return time + count * UNIT_MS[unit];
  if (unit === 'w') return time + WEEK_MS;
  const date = new Date(time);
  return date.setUTCMonth(date.getUTCMonth() + MONTHS[unit]);
}
