import { invalid, isInteger, parseInteger64, quoted } from '../../runtime/text/parameters.ts';
import type { StatusCause } from '../../status-error.ts';

/** A time range in whole seconds since 1970, with its first and its whole last second. An absent `start` or `end` is no limit. */
export interface TimeRange {
  readonly start?: number;
  readonly end?: number;
}

/**
 * The years 1 to 9999, in seconds since 1970. If a client sends milliseconds for a time after January 1978, the number is above
 * this range, so it is refused and not taken for seconds.
 */
const FIRST_SECOND = -62_135_596_800;
export const LAST_SECOND = 253_402_300_799;

/** Parses a time in whole seconds. Returns the reason if the text is not such a time. */
export function parseSeconds(text: string, name: string): number | StatusCause {
  const value = parseInteger64(text);
  if (value !== undefined && value >= FIRST_SECOND && value <= LAST_SECOND) return Number(value);
  const isAbove = value === undefined ? isInteger(text) && !text.startsWith('-') : value > LAST_SECOND;
  const hint = isAbove ? ' (milliseconds are not accepted)' : '';
  return invalid(name, `${quoted(text)} is not a time in whole seconds${hint}`);
}
