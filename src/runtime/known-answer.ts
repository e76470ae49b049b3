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
 * Returns the outcome of the call, or the known answer if the call fails. A caller with a known answer does not wait for a
 * failing cluster: while calls are paused it gets that answer at once, and the probe continues in the background. If the
 * reason is our own lack of seats (`TooManyCalls`), the known answer is not used.
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
