const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/**
 * Writes a duration as Go's `time.Duration` prints it, which is the form in Kubernetes' messages: `12m0s`, `1h30m0s`,
 * `2m0.5s`, `250ms`. Rounds to whole milliseconds.
 */
export function durationText(ms: number): string {
  const rounded = Math.round(ms);
  if (rounded > 0 && rounded < SECOND_MS) return `${rounded}ms`;
  const hours = Math.floor(rounded / HOUR_MS);
  const minutes = Math.floor((rounded % HOUR_MS) / MINUTE_MS);
  const seconds = `${(rounded % MINUTE_MS) / SECOND_MS}s`;
  if (hours > 0) return `${hours}h${minutes}m${seconds}`;
  return minutes > 0 ? `${minutes}m${seconds}` : seconds;
}
