import { firstValue, invalid, type ParameterReader, quoted } from '../../runtime/text/parameters.ts';
import type { StatusCause } from '../../status-error.ts';
import { parseGoDuration } from './go-duration.ts';

/** What Kubernetes clients may add to the query of any request: `timeout` by client-go and kubectl, `pretty` by people. */
export interface ClientSetting {
  /** How long the caller waits for the answer, counted from its request. Absent: the caller sets no limit. */
  readonly timeoutMs?: number;
}

export const CLIENT_PARAMETERS: readonly (readonly [string, ParameterReader<ClientSetting>])[] = [
  ['timeout', readTimeout],
  ['pretty', () => ({})], // no answer is indented; the API server accepts any value as well
];

/** The time limit in a query. `undefined` if `timeout` is absent, not positive or invalid: this function refuses nothing. */
export function timeoutIn(queryString: string): number | undefined {
  const text = firstValue(queryString, 'timeout');
  const setting = text === undefined ? {} : readTimeout(text, 'timeout');
  return 'timeoutMs' in setting ? setting.timeoutMs : undefined;
}

/** A value that is not positive sets no limit, as in the API server (`apiserver` `filters.WithRequestDeadline`). */
function readTimeout(text: string, name: string): ClientSetting | StatusCause {
  if (text === '') return {};
  const nanoseconds = parseGoDuration(text);
  if (nanoseconds === undefined) return invalid(name, `${quoted(text)} is not a duration such as 10s or 1m30s`);
  return nanoseconds > 0n ? { timeoutMs: Number(nanoseconds) / 1e6 } : {};
}
