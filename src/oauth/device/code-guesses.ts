import type { Clock } from '../../runtime/clock.ts';
import { type CountedFailure, FailureThrottle } from '../../runtime/limits/failure-throttle.ts';

/** The most wrong codes of one person, and the most from one address (D-05). */
const LIMIT = { limit: 10, windowMs: 600_000 };

/** Limits how many wrong codes people may type. The counts are in memory. */
export class CodeGuesses {
  readonly #byUser: FailureThrottle;
  readonly #byAddress: FailureThrottle;

  constructor(clock: Clock) {
    this.#byUser = new FailureThrottle(LIMIT, clock);
    this.#byAddress = new FailureThrottle(LIMIT, clock);
  }

  /** Milliseconds until this person may type a code at this address; 0 if that is now. */
  waitMs(user: string, source: string): number {
    return Math.max(this.#byUser.waitMs(user), this.#byAddress.waitMs(source));
  }

  /** Counts a code as wrong until it is known to be right. So codes that are typed at the same time are all counted. */
  add(user: string, source: string): Pick<CountedFailure, 'takeBack'> {
    const counted = [this.#byUser.add(user), this.#byAddress.add(source)];
    return {
      takeBack: () => {
        for (const one of counted) one.takeBack();
      },
    };
  }
}
