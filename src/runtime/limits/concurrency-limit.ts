/**
 * The limit keeps at least an eighth of its maximum, so that flows whose calls are fast are answered, and so that we
 * notice within moments when calls are fast again.
 */
const LEAST_SHARE = 1 / 8;
/** When only one or two flows have slow calls, the reason lies in their own questions. */
const LEAST_SLOW_FLOWS = 3;

/** A limit of calls in flight, at first and at most. */
export interface ConcurrencyRange {
  readonly first: number;
  readonly most: number;
}

/**
 * How many calls all flows together may have in flight to a side whose capacity is unknown. The limit grows by one for
 * each round of answers while somebody waits, and is halved when the calls of several flows are slow in one round
 * (additive increase, multiplicative decrease, as TCP does: RFC 5681, 3.1).
 */
export class ConcurrencyLimit {
  readonly #most: number;
  readonly #slow = new Set<string>();
  #current: number;
  #cuts = 0;
  /** Answers in the current round, except those of slow calls. */
  #answers = 0;

  constructor({ first, most }: ConcurrencyRange) {
    this.#most = most;
    this.#current = first;
  }

  /** How many calls may be in flight; at least 1. */
  get current(): number {
    return Math.floor(this.#current);
  }

  /**
   * The number of cuts so far. Read it when a call begins: a cut counts once for all calls that were begun before it.
   */
  get cuts(): number {
    return this.#cuts;
  }

  /** `isWanted`: somebody is waiting for room. Otherwise the answer does not show that more would fit. */
  answered(isWanted: boolean): void {
    if (isWanted) this.#current = Math.min(this.#most, this.#current + 1 / this.#current);
    if (++this.#answers < this.#current) return;
    // A round is over after as many answers as the limit. Calls count as slow together only within one round.
    this.#slow.clear();
    this.#answers = 0;
  }

  /** Records that a call of this flow, begun after that many cuts, was slow or timed out. */
  slow(flow: string, cuts: number): void {
    if (cuts < this.#cuts) return;
    this.#slow.add(flow);
    if (this.#slow.size < LEAST_SLOW_FLOWS) return;
    this.#slow.clear();
    this.#cuts++;
    this.#current = Math.max(1, this.#most * LEAST_SHARE, this.#current / 2);
  }
}
