import { CallsPaused, CallTimedOut, TooManyCalls } from '../runtime/limits/bounded-calls.ts';
import { isOfTheQuestion } from '../runtime/limits/circuit-breaker.ts';
import { StoreError } from '../stores/store-error.ts';
import { PrometheusFault, QUERY_LIMIT_MS } from './prometheus.ts';

/** The values of a metric are too many, alone or beside others that are being answered. It says nothing about Prometheus. */
export class TooManyValues extends Error {
  /** The client reads it as a refusal of the query by Prometheus, so that the calls after it are not paused. */
  readonly status = { code: 422 };
}

/** Makes a failure of a request one of the query, if it is ours. */
export const asQueryFault = (error: unknown): unknown =>
  error instanceof StoreError && error.kind !== 'away' ? new TooManyValues(error.message, { cause: error }) : error;

/** What is wrong with a metric, as its callers may read it: without addresses, and without what concerns our account. */
export function toPublicText(error: unknown): string {
  if (error instanceof TooManyValues) return 'too many values; ask for fewer metrics or nodes, or for a longer step';
  if (error instanceof CallTimedOut) return `Prometheus did not answer within ${QUERY_LIMIT_MS} ms`;
  if (error instanceof TooManyCalls) return 'too many queries at once, please try again later';
  if (error instanceof PrometheusFault && isOfTheQuestion(error))
    return `Prometheus refuses the query: ${error.message}`;
  if (error instanceof CallsPaused || error instanceof StoreError || error instanceof PrometheusFault)
    return 'Prometheus is not available';
  throw error;
}
