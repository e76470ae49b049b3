import type { Clock } from '../../runtime/clock.ts';

/** One failure may be due to its connection. After this many in a row, without an answer, we take the server for away. */
const FAILURES = 5;
const TRY_AGAIN_MS = 1_000;

/**
 * Knows whether the API server is away. While it is, calls are refused at once, so that callers do not wait for the time
 * limit of a connection. One call a second is admitted to find out whether the server is back.
 */
export class Reachability {
  readonly #clock: Clock;
  #failures = 0;
  #triedAt = Number.NEGATIVE_INFINITY;
  #answeredAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether a call may be sent now. */
  admits(): boolean {
    if (this.#failures < FAILURES) return true;
    const now = this.#clock.monotonic();
    if (now - this.#triedAt < TRY_AGAIN_MS) return false;
    this.#triedAt = now;
    return true;
  }

  /** Records that the server has answered, with any status. */
  answered(): void {
    this.#failures = 0;
    this.#answeredAt = this.#clock.monotonic();
  }

  /**
   * Records that a call sent at that time got no connection, or no answer in time. It does not count if the server has
   * answered another call since: then the reason is the call, not the server.
   */
  failed(sentAt: number): void {
    if (sentAt < this.#answeredAt) return;
    this.#failures += 1;
    if (this.#failures === FAILURES) this.#triedAt = this.#clock.monotonic();
  }
}
