import type { Clock } from './clock.ts';

/** A sixteenth of all calls is made whatever happens, so that an end of the trouble is noticed within moments. */
const LEAST_SHARE = 1 / 16;
/** Calls that share a queue take many times what one alone takes. Below that, it is somebody's bad day. */
const TIMES_THE_FASTEST = 4;
/** The fastest call of the last one to two of these is what a call takes when nobody is in its way. */
const FASTEST_MS = 30_000;

export interface WindowLimits {
  /** Calls at a time, at first and at most. */
  readonly first: number;
  readonly most: number;
  /** A call that takes longer has failed. */
  readonly timeoutMs: number;
}

/**
 * How many calls are made at a time to somebody whose room nobody knows: half as many when it is asked too much, one more for
 * each round of answers (additive increase, multiplicative decrease, as TCP does: RFC 5681, 3.1). It is asked too much when it says
 * so, or when calls take half of our patience and many times what the fastest did.
 */
export class CallWindow {
  readonly #clock: Clock;
  readonly #most: number;
  readonly #patienceMs: number;
  #size: number;
  /** Calls that began before were too many together: one cut is for all of them. */
  #cutAt = Number.NEGATIVE_INFINITY;
  #fastest = Number.POSITIVE_INFINITY;
  #fastestBefore = Number.POSITIVE_INFINITY;
  #fastestSince: number;

  constructor(clock: Clock, { first, most, timeoutMs }: WindowLimits) {
    this.#clock = clock;
    this.#most = most;
    this.#size = first;
    this.#patienceMs = timeoutMs / 2;
    this.#fastestSince = clock.monotonic();
  }

  /** Calls that may be under way, 1 at least. */
  get size(): number {
    return Math.floor(this.#size);
  }

  /** `isWanted`: somebody waits for room. What nobody asks for shows nothing. */
  answered(beganAt: number, isWanted: boolean): void {
    const now = this.#clock.monotonic();
    const tookMs = now - beganAt;
    if (now - this.#fastestSince >= FASTEST_MS) {
      this.#fastestBefore = this.#fastest;
      this.#fastest = Number.POSITIVE_INFINITY;
      this.#fastestSince = now;
    }
    this.#fastest = Math.min(this.#fastest, tookMs);
    const fastest = Math.min(this.#fastest, this.#fastestBefore);
    if (tookMs > Math.max(this.#patienceMs, TIMES_THE_FASTEST * fastest)) this.tooMany(beganAt);
    else if (isWanted) this.#size = Math.min(this.#most, this.#size + 1 / this.#size);
  }

  /** A call that began then, and those that were under way with it, were too many. */
  tooMany(beganAt: number): void {
    if (beganAt <= this.#cutAt) return;
    this.#cutAt = this.#clock.monotonic();
    this.#size = Math.max(1, this.#most * LEAST_SHARE, this.#size / 2);
  }
}
