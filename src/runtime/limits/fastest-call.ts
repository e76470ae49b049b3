import type { Clock } from '../clock.ts';

/** Calls that share a queue take many times as long as one alone. Below this factor, a slow call may be chance. */
const TIMES_THE_FASTEST = 4;
/** The fastest call of the last one to two windows shows how long a call takes when nothing is in its way. */
const WINDOW_MS = 30_000;

/** Distinguishes calls that wait for each other from calls that are slow by nature. */
export class FastestCall {
  readonly #clock: Clock;
  readonly #patienceMs: number;
  #fastest = Number.POSITIVE_INFINITY;
  #before = Number.POSITIVE_INFINITY;
  #since: number;

  /** A call that takes `timeoutMs` counts as failed. */
  constructor(clock: Clock, timeoutMs: number) {
    this.#clock = clock;
    this.#patienceMs = timeoutMs / 2;
    this.#since = clock.monotonic();
  }

  /**
   * Whether an answered call was slow: it took more than half of the timeout and many times as long as the fastest call
   * of the last minute.
   */
  isSlow(tookMs: number): boolean {
    const now = this.#clock.monotonic();
    if (now - this.#since >= WINDOW_MS) {
      this.#before = this.#fastest;
      this.#fastest = Number.POSITIVE_INFINITY;
      this.#since = now;
    }
    this.#fastest = Math.min(this.#fastest, tookMs);
    return tookMs > Math.max(this.#patienceMs, TIMES_THE_FASTEST * Math.min(this.#fastest, this.#before));
  }
}
