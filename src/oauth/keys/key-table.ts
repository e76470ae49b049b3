import type { KeyRecord } from './key-plan.ts';

/** RFC 3339, to the second. */
export const timeText = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');

/** A thumbprint, the longest state, a time. */
const WIDTHS = [43, 11, 20];

/** The keys as lines for a terminal. The lines hold nothing secret. */
export function keyTable(keys: readonly KeyRecord[], nowMs: number): string[] {
  const rows = keys.map(({ kid, state, sinceMs }) => [kid, state, timeText(sinceMs), ageText(nowMs - sinceMs)]);
  return [['KID', 'STATE', 'SINCE', 'AGE'], ...rows].map((cells) =>
    cells.map((cell, column) => cell.padEnd(WIDTHS[column] ?? 0)).join('  '),
  );
}

const UNITS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
] as const;

/** In the largest unit of which there are two or more. */
function ageText(ms: number): string {
  const [unitMs, unit] = UNITS.find(([length]) => ms >= 2 * length) ?? [1_000, 's'];
  return `${Math.max(0, Math.floor(ms / unitMs))}${unit}`;
}
