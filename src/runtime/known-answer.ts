import { TooManyCalls } from './limits/bounded-calls.ts';

/** What the caller gets, by the outcome of the call. */
interface Outcomes<Answer, Result> {
  answered(answer: Answer): Result;
  /** The known answer, while it may still be used; `cause`: why there is no new one. */
  known(cause: unknown): Result | undefined;
  /** What is thrown when nothing is known. */
  failed(cause: unknown): unknown;
}

/**
 * Returns the outcome of the call, or the known answer if the call fails. While calls to the cluster are paused after failures, it
 * returns the known answer at once and lets the call continue in the background. It does not use the known answer if the call
 * failed because too many calls of ours were in flight (`TooManyCalls`).
 */
export function orKnown<Answer, Result>(
  call: Promise<Answer>,
  isPaused: boolean,
  { answered, known, failed }: Outcomes<Answer, Result>,
): Result | Promise<Result> {
  const now = isPaused ? known(undefined) : undefined;
  if (now !== undefined) return now;
  return call.then(answered, (cause: unknown) => {
    const kept = cause instanceof TooManyCalls ? undefined : known(cause);
    if (kept === undefined) throw failed(cause);
    return kept;
  });
}
