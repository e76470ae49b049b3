import { BoundedMap } from '../../runtime/bounded-map.ts';
import type { Clock } from '../../runtime/clock.ts';

/** One every ten seconds: more than people sign in, and less than retention removes, however many addresses one has. */
const MOST_A_WINDOW = 6;
const WINDOW_MS = 60_000;
const MOST_USERS = 10_000;

/** Limits how many successes of a user become records. */
export class SuccessThrottle {
  readonly #clock: Clock;
  /** When records of the last window were due, and one in the future. */
  readonly #due = new BoundedMap<readonly number[]>(MOST_USERS);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns when the next record of this user is due: now or later. A user who waits for it must not take another. */
  take(user: string): number {
    const now = this.#clock.monotonic();
    const taken = (this.#due.get(user) ?? []).filter((at) => at > now - WINDOW_MS);
    const at = taken.length < MOST_A_WINDOW ? now : Math.min(...taken) + WINDOW_MS;
    this.#due.set(user, [...taken, at]);
    return at;
  }
}
