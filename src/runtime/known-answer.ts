import { TooManyCalls } from './bounded-calls.ts';

/** What a caller is given, by what came of the call. */
interface Given<Answer, Result> {
  answered(answer: Answer): Result;
  /** What is known from before, while that may be given instead of an answer; `cause`: why there is none. */
  known(cause: unknown): Result | undefined;
  /** What is thrown when nothing is known. */
  failed(cause: unknown): unknown;
}

/**
 * Asks, and goes on with what is known while that fails. Nobody with an answer waits for a cluster that fails: while calls are
 * paused it is given at once, and the probe goes on behind it. Our own want of places (`TooManyCalls`) makes no old answer good.
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
