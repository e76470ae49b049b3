const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

const withRest = (
  seconds: number,
  [unit, letter]: readonly [number, string],
  [small, smallLetter]: readonly [number, string],
) => {
  const rest = Math.floor((seconds % unit) / small);
  return `${Math.floor(seconds / unit)}${letter}${rest === 0 ? '' : `${rest}${smallLetter}`}`;
};

/** A time span for people, as `k8s.io/apimachinery/pkg/util/duration` writes it. */
export function ageText(ms: number): string {
  const seconds = Math.trunc(ms / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 2 * MINUTE) return `${Math.max(0, seconds)}s`;
  if (seconds < 10 * MINUTE) return withRest(seconds, [MINUTE, 'm'], [1, 's']);
  if (seconds < 3 * HOUR) return `${Math.floor(seconds / MINUTE)}m`;
  if (seconds < 8 * HOUR) return withRest(seconds, [HOUR, 'h'], [MINUTE, 'm']);
  if (seconds < 2 * DAY) return `${Math.floor(seconds / HOUR)}h`;
  if (seconds < 8 * DAY) return withRest(seconds, [DAY, 'd'], [HOUR, 'h']);
  if (seconds < 2 * YEAR) return `${Math.floor(seconds / DAY)}d`;
  if (seconds < 8 * YEAR) return withRest(seconds, [YEAR, 'y'], [DAY, 'd']);
  return `${Math.floor(seconds / YEAR)}y`;
}
