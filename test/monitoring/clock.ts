import { steppedClock } from '../support/stepped-clock.ts';

/**
 * The one clock of these tests: of each Gatehouse, its cluster, its load and its scrapes. An hour takes a minute of a machine that has
 * the time, and as long as it takes on any other. The event loop turns at least four times in 0.3 s, so a limit of 10 s leaves 133 turns
 * to what it limits. The wall clock, by which keys, certificates and tokens are dated, does not change.
 */
export const clock = steppedClock({ times: 60, stepMs: 5, turns: 4 });

export const MINUTE_MS = 60_000;
