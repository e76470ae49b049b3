const MOST = 10_000;
const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };
const MONTHS: Readonly<Record<string, number>> = { M: 1, q: 3, y: 12 };
/** A Monday. */
const FIRST_WEEK_MS = Date.parse('1970-01-05');

interface Bucket {
  readonly time: number;
  readonly count: number;
}

/**
 * The buckets of a histogram of these times. `undefined`: those of the range, or those between the first and the last time, are
 * too many. All is in milliseconds.
 */
export function bucketsOf(
  times: readonly number[],
  interval: string,
  range: readonly [number, number] | undefined,
): Bucket[] | undefined {
  const { floor, next } = stepsOf(interval);
  const all = (from: number, to: number): number[] | undefined => {
    const starts: number[] = [];
    for (let start = floor(from); start <= to; start = next(start)) {
      starts.push(start);
      if (starts.length > MOST) return undefined;
    }
    return starts;
  };
  if (range && !all(...range)) return undefined;
  if (times.length === 0) return [];
  const counts = new Map<number, number>();
  for (const time of times) counts.set(floor(time), (counts.get(floor(time)) ?? 0) + 1);
  const [first, last] = times.reduce(
    ([low, high], time) => [Math.min(low, time), Math.max(high, time)],
    [Infinity, -Infinity],
  );
  return all(first ?? 0, last ?? 0)?.map((time) => ({ time, count: counts.get(time) ?? 0 }));
}

/** Where the bucket of a time begins, and where the one after a bucket does. */
function stepsOf(interval: string): { floor(time: number): number; next(start: number): number } {
  const [count, unit] = [Number(interval.slice(0, -1)), interval.slice(-1)];
  const months = MONTHS[unit];
  if (months) {
    const begin = (year: number, month: number): number =>
      new Date(0).setUTCFullYear(year, month - (month % months), 1);
    return {
      floor: (time) => begin(new Date(time).getUTCFullYear(), new Date(time).getUTCMonth()),
      next: (start) => new Date(start).setUTCMonth(new Date(start).getUTCMonth() + months),
    };
  }
  const length = count * (SECONDS[unit] ?? Number.NaN) * 1_000;
  const origin = unit === 'w' ? FIRST_WEEK_MS : 0;
  return {
    floor: (time) => origin + Math.floor((time - origin) / length) * length,
    next: (start) => start + length,
  };
}
