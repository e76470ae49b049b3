/** An outage of the API server for this long is bridged whole: lists are answered and tokens judged all through it. */
const BRIDGED_MS = 600_000;

/**
 * Age is counted from the last proof of being current. In a quiet collection that is up to 75 s before the outage begins (its
 * watch may be silent for so long, `attempt.ts`), and up to 30 s pass between two attempts (`backoff.ts`) after its end, and
 * 15 s are for the attempt and the list.
 */
const AROUND_IT_MS = 75_000 + 30_000 + 15_000;

/**
 * MAX_STALE: what was not proven current for longer is not answered with, nor judged by, and a replica that has nothing
 * newer is not ready. It holds for nodes, sessions, signing keys, the first administrator and decisions on access alike:
 * the answer to one call rests on all of them.
 */
export const MAX_STALENESS_MS = BRIDGED_MS + AROUND_IT_MS;
