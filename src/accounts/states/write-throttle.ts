import type { Clock } from '../../runtime/clock.ts';

/** three writes to the cluster for 1,000 failed sign-ins, however many users they are spread over. */
const PER_FAILURE = 3 / 1_000;
/** A few people who mistype are written down at once. */
const MOST = 3;
/** How fast the bucket fills with time, in writes: fast enough that in quiet times every failure is written down. */
const PER_MS = 1 / 10_000;
/** More failures than this in ten seconds are a flood, in which the bucket does not fill with time (A-43 has the same number a minute). */
const FLOOD = 100;
const FLOOD_MS = 10_000;

/**
 * Limits the writes that failed sign-ins cause, by a token bucket. While it is empty, users wait, and failures that come
 * meanwhile are merged.
 */
export class WriteThrottle {
  readonly #clock: Clock;
  #credit = MOST;
  #creditedAt: number;
  #failures = 0;
  #countedSince: number;
  #isFlood = false;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#creditedAt = clock.monotonic();
    this.#countedSince = this.#creditedAt;
  }

  /** Counts a failed sign-in. */
  failed(): void {
    this.#pass();
    this.#credit = Math.min(MOST, this.#credit + PER_FAILURE);
    this.#isFlood ||= ++this.#failures > FLOOD;
  }

  /** Whether one write may be made now. */
  take(): boolean {
    this.#pass();
    if (this.#credit < 1) return false;
    this.#credit -= 1;
    return true;
  }

  #pass(): void {
    const now = this.#clock.monotonic();
    if (!this.#isFlood) this.#credit = Math.min(MOST, this.#credit + (now - this.#creditedAt) * PER_MS);
    this.#creditedAt = now;
    if (now - this.#countedSince < FLOOD_MS) return;
    this.#isFlood = this.#failures > FLOOD;
    this.#failures = 0;
    this.#countedSince = now;
  }
}
