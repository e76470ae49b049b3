import type { Clock } from './clock.ts';
import type { Random } from './random.ts';

/** The first wait before jitter. Each further wait is twice as long. */
const FIRST_MS = 800;
/** The default for the longest wait, jitter included: a cluster that is back is noticed within half a minute. */
const LONGEST_MS = 30_000;
/** After this long without failures, the next failure counts as the first one again. */
const HEALTHY_MS = 120_000;

/**
 * How long to wait before the next attempt: 0.8 s doubled each time, jitter 1.0 (a wait lies between d and 2d), at most
 * 30 s, and 0.8 s again after 2 min without a failure. At its quickest that is 7 attempts in the first 60 s
 * (0, 0.8, 2.4, 5.6, 12, 24.8 and 50.4 s) and then one every 25.6 to 30 s.
 */
export class Backoff {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #longestMs: number;
  #baseMs = FIRST_MS;
  #healthySince: number | undefined;

  constructor(clock: Clock, random: Random, longestMs = LONGEST_MS) {
    this.#clock = clock;
    this.#random = random;
    this.#longestMs = longestMs;
  }

  /** Records a success. Only the first one since the last failure matters, so it may be called for every byte. */
  succeeded(): void {
    this.#healthySince ??= this.#clock.monotonic();
  }

  /** Whether the next wait is the shortest: nothing has failed, or two minutes without a failure have passed since. */
  get isAtRest(): boolean {
    return this.#baseMs === FIRST_MS || this.#hasRecovered();
  }

  /** Records a failed attempt. Returns the milliseconds to wait before the next one. */
  failed(): number {
    if (this.#hasRecovered()) this.#baseMs = FIRST_MS;
    this.#healthySince = undefined;
    const wait = Math.min(this.#longestMs, this.#baseMs * (1 + this.#random.fraction()));
    this.#baseMs = Math.min(this.#longestMs, this.#baseMs * 2);
    return wait;
  }

  #hasRecovered(): boolean {
    return this.#healthySince !== undefined && this.#clock.monotonic() - this.#healthySince >= HEALTHY_MS;
  }
}
