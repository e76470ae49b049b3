import { durationText } from './runtime/duration-text.ts';
import { StatusError } from './status-error.ts';

/**
 * After an outage the next attempt to follow the cluster is at most 30 s away (`backoff.ts`), so it is no use to ask
 * sooner.
 */
const RETRY_SECONDS = 30;

/**
 * The message to a caller about data that is older than allowed: it names the data and the limit. `ageMs` is Infinity
 * before the first proof that the data is current. Then it returns `undefined`, because no data can be old yet, and
 * another check reports that.
 */
export const tooOldText = (data: string, ageMs: number, limitMs: number): string | undefined =>
  ageMs > limitMs && Number.isFinite(ageMs)
    ? `${data} are not available: data is older than ${durationText(limitMs)}`
    : undefined;

/** The 503 for data that is older than allowed. Its message is a sentence of `tooOldText`, under /oauth as well. */
export class DataTooOld extends StatusError {
  readonly retryAfterSeconds = RETRY_SECONDS;

  constructor(message: string) {
    super({ code: 503, reason: 'ServiceUnavailable', message, details: { retryAfterSeconds: RETRY_SECONDS } });
  }
}
