import type { Clock } from '../../runtime/clock.ts';

/**
 * After a failed stream, how long to wait before the next one: the server may have been busy, restarted, or upgraded by
 * then.
 */
const FIRST_PAUSE_MS = 600_000;
/** A server without WatchList refuses one small request each time, at most six a day. */
const LONGEST_PAUSE_MS = 14_400_000;

/**
 * Decides whether to list by a stream (WatchList) or in pages. After a stream has failed, lists use pages for a while.
 */
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
