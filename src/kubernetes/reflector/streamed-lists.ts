import type { Clock } from '../../runtime/clock.ts';

/** A server that had trouble with a stream may have it no more: it was busy, restarted, or has been upgraded. */
const FIRST_PAUSE_MS = 600_000;
/** One without WatchList refuses a small request each time, at most six a day. */
const LONGEST_PAUSE_MS = 14_400_000;

/** Whether a list is asked for as a stream (WatchList) or in pages: a stream that failed is not asked for again for a while. */
export class StreamedLists {
  readonly #clock: Clock;
  #againAt = Number.NEGATIVE_INFINITY;
  #pauseMs = FIRST_PAUSE_MS;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get areWanted(): boolean {
    return this.#clock.monotonic() >= this.#againAt;
  }

  /** The pause after this failure: 10 min, twice as long after each further one, at most 4 h. */
  failed(): void {
    this.#againAt = this.#clock.monotonic() + this.#pauseMs;
    this.#pauseMs = Math.min(LONGEST_PAUSE_MS, 2 * this.#pauseMs);
  }

  succeeded(): void {
    this.#pauseMs = FIRST_PAUSE_MS;
  }
}
