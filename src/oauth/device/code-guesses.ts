import type { Clock } from '../../runtime/clock.ts';
import { type CountedFailure, FailureThrottle } from '../../runtime/limits/failure-throttle.ts';

/** Wrong codes of one person, and from one address (D-05). */
const LIMIT = { limit: 10, windowMs: 600_000 };

/** Limits how many wrong codes people type, in memory. */
export class CodeGuesses {
  readonly #byUser: FailureThrottle;
  readonly #byAddress: FailureThrottle;

  constructor(clock: Clock) {
    this.#byUser = new FailureThrottle(LIMIT, clock);
    this.#byAddress = new FailureThrottle(LIMIT, clock);
  }

  /** Milliseconds until this person may type a code at this address; 0 when it may. */
  waitMs(user: string, source: string): number {
    return Math.max(this.#byUser.waitMs(user), this.#byAddress.waitMs(source));
  }

  /** Counts the code as a wrong one until it is known to be right, so that codes that are typed at the same time count. */
  add(user: string, source: string): Pick<CountedFailure, 'takeBack'> {
    const counted = [this.#byUser.add(user), this.#byAddress.add(source)];
    return {
      takeBack: () => {
        for (const one of counted) one.takeBack();
      },
    };
  }
}
