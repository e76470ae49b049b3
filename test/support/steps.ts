import { setImmediate as nextTurn } from 'node:timers/promises';
import { TimeSlices } from '../../src/runtime/time-slices.ts';

/** Slices with a clock that each reading moves by 1 ms, so that a slice is over after at most eight steps. */
export function shortSlices(): TimeSlices {
  let now = 0;
  return new TimeSlices({ monotonic: () => ++now });
}

/** Slices that are over after each step. */
export function slowSlices(): TimeSlices {
  let now = 0;
  return new TimeSlices({ monotonic: () => (now += 10) });
}

/** Far more turns than a thousand entries need with one step each. */
const MOST_TURNS = 3_000;

/** Calls `look` in every turn of the event loop until it returns true. Resolves to the number of turns. */
export async function eachTurn(look: () => boolean): Promise<number> {
  for (let turns = 0; turns < MOST_TURNS; turns++) {
    if (look()) return turns;
    await nextTurn();
  }
  throw new Error(`it was not over after ${MOST_TURNS} turns`);
}
