/** An outage of the API server for this long is bridged whole: lists are answered and tokens judged all through it. */
const BRIDGED_MS = 600_000;

/**
 * What the way back may take: 30 s, the longest pause between two attempts (`backoff.ts`), and 15 s for the attempt, the
 * list and the time that had passed since the last proof when the outage began.
 */
const WAY_BACK_MS = 45_000;

/**
 * MAX_STALE: what was not proven current for longer is not answered with, nor judged by, and a replica that has nothing
 * newer is not ready. It holds for nodes, sessions, signing keys, the first administrator and decisions on access alike:
 * the answer to one call rests on all of them.
 */
export const MAX_STALENESS_MS = BRIDGED_MS + WAY_BACK_MS;
