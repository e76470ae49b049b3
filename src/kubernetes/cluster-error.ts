import type { ApiResponse } from './api-client.ts';
import { type Status, toStatus } from './status.ts';

/** The API server answered, and not with what was asked for. For the log: our callers see their own errors. */
export class ClusterError extends Error {
  readonly status: Status;

  constructor(what: string, response: ApiResponse) {
    const status = toStatus(response.body, response.status);
    super(`${what} was answered ${`${status.code} ${status.reason}: ${status.message}`.slice(0, 500)}`);
    this.name = 'ClusterError';
    this.status = status;
  }
}
