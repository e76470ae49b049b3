import { setImmediate as nextTurn } from 'node:timers/promises';
import { TimeSlices } from '../../src/runtime/time-slices.ts';

/** Each look at the clock takes 1 ms, so that a slice is over after eight steps at most. */
export function shortSlices(): TimeSlices {
  let now = 0;
  return new TimeSlices({ monotonic: () => ++now });
}

/** A slice is over after each step. */
export function slowSlices(): TimeSlices {
  let now = 0;
  return new TimeSlices({ monotonic: () => (now += 10) });
}

/** Far more than a thousand entries take, a step each. */
const MOST_TURNS = 3_000;

/** Calls `look` in every turn of the event loop until it says that it is over; how many turns that were. */
export async function eachTurn(look: () => boolean): Promise<number> {
  for (let turns = 0; turns < MOST_TURNS; turns++) {
    if (look()) return turns;
    await nextTurn();
  }
  throw new Error(`it was not over after ${MOST_TURNS} turns`);
}
