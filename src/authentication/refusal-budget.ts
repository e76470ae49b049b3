import type { Clock } from '../clock.ts';

const WINDOW_MS = 1_000;

/** How many vain questions are paid for in a second: what everybody can cause may cost the cluster no more. */
export class RefusalBudget {
  readonly #perSecond: number;
  readonly #clock: Clock;
  #began = Number.NEGATIVE_INFINITY;
  #spent = 0;

  constructor(perSecond: number, clock: Clock) {
    this.#perSecond = perSecond;
    this.#clock = clock;
  }

  get isSpent(): boolean {
    return this.#spent >= this.#perSecond && this.#clock.monotonic() - this.#began < WINDOW_MS;
  }

  spend(): void {
    const now = this.#clock.monotonic();
    if (now - this.#began >= WINDOW_MS) {
      this.#began = now;
      this.#spent = 0;
    }
    this.#spent++;
  }
}
