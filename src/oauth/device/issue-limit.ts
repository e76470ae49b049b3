import type { Clock } from '../../runtime/clock.ts';
import { FailureThrottle } from '../../runtime/limits/failure-throttle.ts';
import { DEVICE_SECONDS } from './device-request.ts';

/** The life of a code, because only a code that has not ended can be guessed. */
const WINDOW_MS = DEVICE_SECONDS * 1000;

const MOST_OF_AN_ADDRESS = 20;

/**
 * There are 20^8 codes. At most 25,600 of them, one in a million, may be valid at any time (D-05). A restart forgets the count. So three
 * replicas that each restart once in the life of a code issue at most 24,000.
 */
const MOST_OF_A_REPLICA = 4000;

/** Limits how many codes are issued. The counts are in memory. */
export class IssueLimit {
  readonly #byAddress: FailureThrottle;
  readonly #ofAll: FailureThrottle;

  constructor(clock: Clock) {
    this.#byAddress = new FailureThrottle({ limit: MOST_OF_AN_ADDRESS, windowMs: WINDOW_MS }, clock);
    this.#ofAll = new FailureThrottle({ limit: MOST_OF_A_REPLICA, windowMs: WINDOW_MS }, clock);
  }

  /** Takes one code for this address. Returns 0, or the milliseconds until there is one. */
  take(source: string): number {
    const waitMs = Math.max(this.#byAddress.waitMs(source), this.#ofAll.waitMs(''));
    if (waitMs > 0) return waitMs;
    this.#byAddress.add(source);
    this.#ofAll.add('');
    return 0;
  }
}
