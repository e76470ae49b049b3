/** The time ranges that end now, in seconds. */
export const RANGES = { '15m': 900, '1h': 3_600, '6h': 21_600, '24h': 86_400, '7d': 604_800 } as const;

type Range = keyof typeof RANGES;

const DEFAULT_RANGE: Range = '1h';

/** Whole seconds since 1970; both are included. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** What the address says about the time: one of `RANGES`, or RFC 3339 times, of which `until` may be missing. */
export interface TimeInAddress {
  readonly range?: string | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

const isRange = (text: string | undefined): text is Range => text !== undefined && Object.hasOwn(RANGES, text);

/** The range that the address names; `undefined` if it has a time of its own. */
export const rangeOf = ({ range, since, until }: TimeInAddress): Range | undefined =>
  since || until ? undefined : isRange(range) ? range : DEFAULT_RANGE;

/** The time that the address means at `nowMs`. An end before the start is left as it is. */
export function spanOf(time: TimeInAddress, nowMs: number): Span {
  const now = Math.floor(nowMs / 1_000);
  const range = rangeOf(time);
  if (range) return { start: now - RANGES[range], end: now };
  const end = secondsOf(time.until) ?? now;
  return { start: secondsOf(time.since) ?? end - RANGES[DEFAULT_RANGE], end };
}

function secondsOf(text: string | undefined): number | undefined {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? undefined : Math.floor(time / 1_000);
}

/** An instant as it stands in the address: the same for readers in every zone. */
export const addressTime = (seconds: number): string => new Date(seconds * 1_000).toISOString().replace('.000Z', 'Z');

/** An instant as the value of a field `datetime-local`, in the reader's zone. */
export function fieldTime(seconds: number): string {
  const time = new Date(seconds * 1_000);
  const two = (number: number): string => String(number).padStart(2, '0');
  const day = [String(time.getFullYear()).padStart(4, '0'), two(time.getMonth() + 1), two(time.getDate())].join('-');
  return `${day}T${[time.getHours(), time.getMinutes(), time.getSeconds()].map(two).join(':')}`;
}

/** The instant of a field `datetime-local`, as it stands in the address; empty if the field is. */
export function addressTimeOfField(value: string): string {
  const seconds = secondsOf(value);
  return seconds === undefined ? '' : addressTime(seconds);
}

const STEPS = [
  ...[1, 5, 15, 30].map((count) => [count, 's', 1] as const),
  ...[1, 2, 5, 10, 30].map((count) => [count, 'm', 60] as const),
  ...[1, 3, 6, 12].map((count) => [count, 'h', 3_600] as const),
];

const MOST_BARS = 70;
const DAY = 86_400;

/** The width of a bar of the histogram. */
export interface Interval {
  /** In the words of the API. */
  readonly text: string;
  readonly seconds: number;
}

/** The shortest interval with some 70 bars at most: an hour has one for each minute, also while it grows. */
export function intervalFor({ start, end }: Span): Interval {
  const least = (end - start) / MOST_BARS;
  const step = STEPS.find(([count, , unit]) => count * unit >= least);
  if (step) return { text: `${step[0]}${step[1]}`, seconds: step[0] * step[2] };
  const days = Math.ceil(least / DAY);
  return { text: `${days}d`, seconds: days * DAY };
}

export interface Bar {
  /** The part of the bar's interval that is in the time range. */
  readonly span: Span;
  readonly count: number;
}

interface Bucket {
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly count: number;
}

/** A bar for each interval of the time range, also where the store has none. Intervals begin at whole multiples since 1970, as the store's do. */
export function barsOf(buckets: readonly Bucket[], { start, end }: Span, { seconds }: Interval): readonly Bar[] {
  const first = Math.floor(start / seconds);
  const count = Math.max(0, Math.floor(end / seconds) - first + 1);
  const counts = new Array<number>(count).fill(0);
  for (const { time, count } of buckets) {
    const place = Math.floor(time / 1_000 / seconds) - first;
    if (place >= 0 && place < counts.length) counts[place] = (counts[place] ?? 0) + count;
  }
  return counts.map((count, place) => {
    const from = (first + place) * seconds;
    return { span: { start: Math.max(start, from), end: Math.min(end, from + seconds - 1) }, count };
  });
}
