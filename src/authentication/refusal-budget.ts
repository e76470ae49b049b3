import type { Clock } from '../runtime/clock.ts';

const WINDOW_MS = 1_000;

export interface RefusalLimits {
  /** In a second, of all together. */
  readonly inAll: number;
  /** In a second, of one subject. */
  readonly ofOne: number;
}

/**
 * How many vain questions are paid for in a second. What one subject causes is its own affair: it has its share, and when
 * the whole is spent, whoever has spent nothing yet may still ask once. So what subjects who can prove who they are cost the
 * cluster grows with their number, which only the cluster can make grow. What nobody stands for has the whole, and no more.
 */
export class RefusalBudget {
  readonly #limits: RefusalLimits;
  readonly #clock: Clock;
  readonly #spentBy = new Map<string, number>();
  #began = Number.NEGATIVE_INFINITY;
  #spent = 0;

  constructor(limits: RefusalLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** `subject`: who is proven to ask; `undefined` when that is not known. */
  isSpent(subject: string | undefined): boolean {
    if (this.#clock.monotonic() - this.#began >= WINDOW_MS) return false;
    const isAllSpent = this.#spent >= this.#limits.inAll;
    if (subject === undefined) return isAllSpent;
    const own = this.#spentBy.get(subject) ?? 0;
    return own >= this.#limits.ofOne || (isAllSpent && own > 0);
  }

  spend(subject: string | undefined): void {
    const now = this.#clock.monotonic();
    if (now - this.#began >= WINDOW_MS) {
      this.#began = now;
      this.#spent = 0;
      this.#spentBy.clear();
    }
    this.#spent++;
    if (subject !== undefined) this.#spentBy.set(subject, (this.#spentBy.get(subject) ?? 0) + 1);
  }
}
