import type { Clock } from '../../runtime/clock.ts';

/** One failure may be a connection's own. So many in a row, without an answer between them, are the server's. */
const FAILURES = 5;
const TRY_AGAIN_MS = 1_000;

/**
 * Whether the API server is known to be away. Then calls are refused at once, instead of making each caller wait for the
 * time limit of a connection, but for one a second, which finds out whether it is back.
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

  /** The server has answered, with any status. */
  answered(): void {
    this.#failures = 0;
    this.#answeredAt = this.#clock.monotonic();
  }

  /**
   * A call that was sent then got no connection, or no answer in time. When others were answered since, that says something
   * about the call, and not about the server.
   */
  failed(sentAt: number): void {
    if (sentAt < this.#answeredAt) return;
    this.#failures += 1;
    if (this.#failures === FAILURES) this.#triedAt = this.#clock.monotonic();
  }
}
