import { setImmediate as nextTurn } from 'node:timers/promises';
import { TimeSlices } from '../../src/runtime/time-slices.ts';

/** Each reading of the clock adds 1 ms, so a slice is over after eight steps at most. */
export function shortSlices(): TimeSlices {
  let now = 0;
  return new TimeSlices({ monotonic: () => ++now });
}

/** A slice is over after each step. */
export function slowSlices(): TimeSlices {
  let now = 0;
  return new TimeSlices({ monotonic: () => (now += 10) });
}

/** Far more steps than a thousand entries take, at one step each. */
const MOST_TURNS = 3_000;

/** Calls `look` in every turn of the event loop until it says that it is over. Answers the number of turns. */
export async function eachTurn(look: () => boolean): Promise<number> {
  for (let turns = 0; turns < MOST_TURNS; turns++) {
    if (look()) return turns;
    await nextTurn();
  }
  throw new Error(`it was not over after ${MOST_TURNS} turns`);
}
