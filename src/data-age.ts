import { durationText } from './runtime/duration-text.ts';
import { StatusError } from './status-error.ts';

/** After an outage the next attempt to follow the cluster is at most 30 s away (`backoff.ts`): asking sooner is in vain. */
const RETRY_SECONDS = 30;

/**
 * What a caller is told of data that is older than it may be: which data, and the limit that is set. `ageMs` is Infinity before
 * the first proof of being current: then there is nothing that could be old, and something else says so.
 */
export const tooOldText = (data: string, ageMs: number, limitMs: number): string | undefined =>
  ageMs > limitMs && Number.isFinite(ageMs)
    ? `${data} are not available: data is older than ${durationText(limitMs)}`
    : undefined;

/** The 503 for data that is older than it may be. Its message is a sentence of `tooOldText`, under /oauth as well. */
export class DataTooOld extends StatusError {
  readonly retryAfterSeconds = RETRY_SECONDS;

  constructor(message: string) {
    super({ code: 503, reason: 'ServiceUnavailable', message, details: { retryAfterSeconds: RETRY_SECONDS } });
  }
}
