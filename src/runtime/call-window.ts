/**
 * At least an eighth is always left, so that parties without trouble are answered, and the end of the trouble is
 * noticed within moments.
 */
const LEAST_SHARE = 1 / 8;
/** When only one or two parties have slow calls, the reason lies in their own questions. */
const PARTIES_THAT_TELL = 3;

/**
 * How many calls all parties together may have under way to a side whose capacity is unknown. The window grows by one
 * for each round of answers while somebody waits, and is halved when the calls of several parties are slow in one round
 * (additive increase, multiplicative decrease, as TCP does: RFC 5681, 3.1).
 */
export class CallWindow {
  readonly #most: number;
  readonly #slow = new Set<string>();
  #size: number;
  #cuts = 0;
  /** Answers in the current round, except those of slow calls. */
  #answers = 0;

  /** The size of the window at first and at most. */
  constructor({ first, most }: { readonly first: number; readonly most: number }) {
    this.#most = most;
    this.#size = first;
  }

  /** How many calls may be under way; at least 1. */
  get size(): number {
    return Math.floor(this.#size);
  }

  /**
   * The number of cuts so far. Note it when a call begins: a cut counts once for all calls that were begun before it.
   */
  get cuts(): number {
    return this.#cuts;
  }

  /** `isWanted`: somebody is waiting for room. Otherwise the answer does not show that more would fit. */
  answered(isWanted: boolean): void {
    if (isWanted) this.#size = Math.min(this.#most, this.#size + 1 / this.#size);
    if (++this.#answers < this.#size) return;
    // Calls that were slow in different rounds were not slow together.
    this.#slow.clear();
    this.#answers = 0;
  }

  /** A call of this party, begun after that many cuts, was slow or timed out. */
  slow(party: string, cuts: number): void {
    if (cuts < this.#cuts) return;
    this.#slow.add(party);
    if (this.#slow.size < PARTIES_THAT_TELL) return;
    this.#slow.clear();
    this.#cuts++;
    this.#size = Math.max(1, this.#most * LEAST_SHARE, this.#size / 2);
  }
}
