import { retryAfterMs } from '../reflector/failure.ts';
import { type Status, toStatus } from '../status.ts';
import type { ApiResponse } from './api-client.ts';

/** The API server answered, and not with what was asked for. For the log: our callers see their own errors. */
export class ClusterError extends Error {
  readonly status: Status;
  /** For how long the API server asks to be left alone, with 429 and 503 (RFC 9110 10.2.3); 0 when it says nothing of that. */
  readonly retryAfterMs: number;

  constructor(what: string, response: ApiResponse) {
    const status = toStatus(response.body, response.status);
    super(`${what} was answered ${`${status.code} ${status.reason}: ${status.message}`.slice(0, 500)}`);
    this.name = 'ClusterError';
    this.status = status;
    const isNotNow = response.status === 429 || response.status === 503;
    this.retryAfterMs = isNotNow ? retryAfterMs(status, response.headers['retry-after']?.toString()) : 0;
  }
}
