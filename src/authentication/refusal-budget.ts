import type { Clock } from '../runtime/clock.ts';

const WINDOW_MS = 1_000;

export interface RefusalLimits {
  /** In a second, for all subjects together. */
  readonly inAll: number;
  /** In a second, for one subject. */
  readonly ofOne: number;
}

/**
 * Limits the reviews in a second that end without a good answer. Each subject has a share of its own. When the whole
 * budget is spent, a subject that has spent nothing yet may still ask once. So what subjects with a proven identity
 * cost the cluster grows with their number, which only the cluster can increase. Questions without a proven subject
 * have the whole budget, and no more.
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

  /** `subject`: the proven subject of the question; `undefined` when it is not known. */
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
