/** An eighth is left whatever happens: those who have no trouble are answered, and an end of the trouble is noticed in moments. */
const LEAST_SHARE = 1 / 8;
/** Slow calls of one or two parties are something about their own questions. */
const PARTIES_THAT_TELL = 3;

/**
 * How many calls all parties together may have under way to somebody whose room nobody knows: one more for each round of answers
 * while somebody waits, half as many when the calls of several parties are slow in one round (additive increase, multiplicative decrease, as TCP does:
 * RFC 5681, 3.1).
 */
export class CallWindow {
  readonly #most: number;
  readonly #slow = new Set<string>();
  #size: number;
  #cuts = 0;
  /** Answers of the round under way, those of slow calls aside. */
  #answers = 0;

  /** Calls at a time, at first and at most. */
  constructor({ first, most }: { readonly first: number; readonly most: number }) {
    this.#most = most;
    this.#size = first;
  }

  /** Calls that may be under way, 1 at least. */
  get size(): number {
    return Math.floor(this.#size);
  }

  /** Cuts so far. To be noted when a call begins: a cut is for all that were begun before it. */
  get cuts(): number {
    return this.#cuts;
  }

  /** `isWanted`: somebody waits for room. What nobody asks for shows nothing. */
  answered(isWanted: boolean): void {
    if (isWanted) this.#size = Math.min(this.#most, this.#size + 1 / this.#size);
    if (++this.#answers < this.#size) return;
    // Three that were slow on three days were not slow together.
    this.#slow.clear();
    this.#answers = 0;
  }

  /** A call of this party, begun after so many cuts, was slow or took all its time. */
  slow(party: string, cuts: number): void {
    if (cuts < this.#cuts) return;
    this.#slow.add(party);
    if (this.#slow.size < PARTIES_THAT_TELL) return;
    this.#slow.clear();
    this.#cuts++;
    this.#size = Math.max(1, this.#most * LEAST_SHARE, this.#size / 2);
  }
}
