import { invalid } from '../runtime/text/parameters.ts';
import { badRequest, StatusError, serviceUnavailable, tooManyRequests } from '../status-error.ts';
import { StoreError } from '../stores/store-error.ts';
import type { DocumentKind } from './document-kind.ts';
import { tooManyBuckets } from './query/parse-query.ts';

/** The refusals of log queries, except those for bad parameters. None contains the store's address, or its message while it is away. */

/** `what` is `logging`, or another search. */
export const notConfigured = (what: string): StatusError =>
  new StatusError('NotFound', { message: `${what} is not configured` });

/** The found records are too far apart for this interval, which is known only after the search. */
export const tooManyBucketsFound = (): StatusError => badRequest(tooManyBuckets().message, [tooManyBuckets()]);

/** The store counts in fixed lengths and not by the calendar. */
export function intervalOfCalendar(): StatusError {
  const cause = invalid(
    'interval',
    'this log store knows no weeks, months, quarters and years; ask for days such as 7d',
  );
  return badRequest(cause.message, [cause]);
}

/** The time range is too long for the store. */
export function rangeTooLong(days: number): StatusError {
  const cause = invalid('start_time', `this log store is asked about ${days} days at most; ask for a shorter time`);
  return badRequest(cause.message, [cause]);
}

/** The time limit, and what was searched. */
export interface SearchLimit {
  readonly ms: number;
  readonly name: DocumentKind['name'];
}

export const tooSlow = ({ ms, name }: SearchLimit, cause?: unknown): StatusError =>
  new StatusError('Timeout', { message: `the ${name} could not be searched within ${ms / 1_000} s` }, cause);

/** A 429, because the answers of all queries together take too much memory. */
export const tooManyLargeAnswers = (cause?: unknown): StatusError =>
  tooManyRequests('Too many large log queries at once, please try again later.', 1, cause);

/** The caller has the right to these documents in no namespace. The route says what is missing. */
export class NothingReadable extends Error {
  constructor() {
    super('the caller may read nothing');
    this.name = 'NothingReadable';
  }
}

const AWAY_RETRY_SECONDS = 5;

/** The error that a caller gets for a failure of the store. Any other error is returned unchanged. */
export function toAnswer(error: unknown, limit: SearchLimit): unknown {
  if (!(error instanceof StoreError)) return error;
  if (error.kind === 'slow') return tooSlow(limit, error);
  if (error.kind === 'full') return tooManyLargeAnswers(error);
  if (error.kind === 'away')
    return serviceUnavailable('the log store is not available, please try again', AWAY_RETRY_SECONDS, error);
  const message = error.kind === 'unsupported' ? error.message : `the log store refuses the query: ${error.message}`;
  return new StatusError('BadGateway', { message }, error);
}
