import type { Clock } from './clock.ts';

/** Calls that share a queue take many times what one alone takes. Below that, it is somebody's bad day. */
const TIMES_THE_FASTEST = 4;
/** The fastest call of the last one to two of these is what a call takes when nobody is in its way. */
const WINDOW_MS = 30_000;

/** Tells calls that wait for each other from calls that take long by nature. */
export class FastestCall {
  readonly #clock: Clock;
  readonly #patienceMs: number;
  #fastest = Number.POSITIVE_INFINITY;
  #before = Number.POSITIVE_INFINITY;
  #since: number;

  /** A call that takes `timeoutMs` has failed. */
  constructor(clock: Clock, timeoutMs: number) {
    this.#clock = clock;
    this.#patienceMs = timeoutMs / 2;
    this.#since = clock.monotonic();
  }

  /** Whether a call that was answered took half of our patience and many times what the fastest of the last minute did. */
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
