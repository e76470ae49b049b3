import type { StatusCause } from '../../status-error.ts';
import { parseGoDuration } from './go-duration.ts';
import { firstValue, invalid, type ParameterReader, quoted } from './parameters.ts';

/** What clients of Kubernetes add to the query of any request: client-go and kubectl their time limit, people `pretty`. */
export interface ClientSetting {
  /** How long the caller waits for the answer, from its request on. Absent: as long as the server takes. */
  readonly timeoutMs?: number;
}

export const CLIENT_PARAMETERS: readonly (readonly [string, ParameterReader<ClientSetting>])[] = [
  ['timeout', readTimeout],
  ['pretty', () => ({})], // no answer is indented; the API server takes any value as well
];

/** The time that a query allows. None where `timeout` is absent, not positive, or refused when all parameters are read. */
export function timeoutIn(queryString: string): number | undefined {
  const text = firstValue(queryString, 'timeout');
  const setting = text === undefined ? {} : readTimeout(text, 'timeout');
  return 'timeoutMs' in setting ? setting.timeoutMs : undefined;
}

/** The API server takes what is not positive for no limit (`apiserver` `filters.WithRequestDeadline`). */
function readTimeout(text: string, name: string): ClientSetting | StatusCause {
  if (text === '') return {};
  const nanoseconds = parseGoDuration(text);
  if (nanoseconds === undefined) return invalid(name, `${quoted(text)} is not a duration such as 10s or 1m30s`);
  return nanoseconds > 0n ? { timeoutMs: Number(nanoseconds) / 1e6 } : {};
}
