import { BoundedMap } from '../../runtime/bounded-map.ts';
import type { Clock } from '../../runtime/clock.ts';

/** One every ten seconds: more than people sign in, and less than retention removes, however many addresses one has. */
const MOST_A_WINDOW = 6;
const WINDOW_MS = 60_000;
const MOST_USERS = 10_000;

/** When successes of a user may become records. */
export class SuccessPace {
  readonly #clock: Clock;
  /** The turns of the last window, and one turn in the future. */
  readonly #turns = new BoundedMap<readonly number[]>(MOST_USERS);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes a turn and returns its time: now or later. A user who waits for a turn must not take another. */
  take(user: string): number {
    const now = this.#clock.monotonic();
    const taken = (this.#turns.get(user) ?? []).filter((at) => at > now - WINDOW_MS);
    const at = taken.length < MOST_A_WINDOW ? now : Math.min(...taken) + WINDOW_MS;
    this.#turns.set(user, [...taken, at]);
    return at;
  }
}
