import { TooManyCalls } from './bounded-calls.ts';

/** What the caller gets, by the outcome of the call. */
interface Given<Answer, Result> {
  answered(answer: Answer): Result;
  /** The known answer, while it may still be used; `cause`: why there is no new one. */
  known(cause: unknown): Result | undefined;
  /** What is thrown when nothing is known. */
  failed(cause: unknown): unknown;
}

/**
 * Asks, and goes on with the known answer while asking fails. Nobody who has an answer waits for a failing cluster:
 * while calls are paused they get that answer at once, and the probe goes on behind it. When we lack places ourselves
 * (`TooManyCalls`), an old answer is not used.
 */
export function orKnown<Answer, Result>(
  call: Promise<Answer>,
  isPaused: boolean,
  { answered, known, failed }: Given<Answer, Result>,
): Result | Promise<Result> {
  const now = isPaused ? known(undefined) : undefined;
  if (now !== undefined) return now;
  return call.then(answered, (cause: unknown) => {
    const kept = cause instanceof TooManyCalls ? undefined : known(cause);
    if (kept === undefined) throw failed(cause);
    return kept;
  });
}
