import { retryAfterMs, type Status, toStatus } from '../status.ts';
import type { ApiResponse } from './api-client.ts';

/**
 * The API server's answer was not the one that was asked for. For the log only: our callers get errors of their own.
 */
export class ClusterError extends Error {
  readonly status: Status;
  /** How long the API server asks us to wait, with 429 and 503 (RFC 9110 10.2.3); 0 when it does not say. */
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
