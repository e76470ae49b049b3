import { parseDuration } from '../../config/fields.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const NS_PER_MS = 1e6;

/** Reads a duration as 3.4 does: a text such as `10m0s`, or a number of nanoseconds. Returns milliseconds; `undefined` if it is none. */
export function oldDurationMs(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) && value >= 0 ? value / NS_PER_MS : undefined;
  return typeof value === 'string' ? parseDuration(value.trim()) : undefined;
}

/** Writes a duration of whole milliseconds in its largest units: `1h30m`, `10m`, `250ms`. */
export function durationText(ms: number): string {
  const whole = Math.round(ms);
  const hours = Math.floor(whole / HOUR_MS);
  const minutes = Math.floor((whole % HOUR_MS) / MINUTE_MS);
  const rest = whole % MINUTE_MS;
  const seconds = rest % 1_000 === 0 ? `${rest / 1_000}s` : `${rest}ms`;
  const text = `${hours > 0 ? `${hours}h` : ''}${minutes > 0 ? `${minutes}m` : ''}${rest > 0 ? seconds : ''}`;
  return text === '' ? '0s' : text;
}
