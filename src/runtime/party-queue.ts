/** One that waits. */
export interface Waiter {
  /** `true`: it is its turn. `false`: it left before. */
  readonly turn: Promise<boolean>;
  /** Gives the place in the queue up. Returns whether there was one: not after the turn. */
  leave(): boolean;
}

type Settle = (isTurn: boolean) => void;

/**
 * Waiters by party: parties take turns, each in its own order. Whoever gives out the turns decides when. It keeps nothing of
 * a party that does not wait, and has no bound of its own.
 */
export class PartyQueue {
  /** In the order of the next turns. A party in it has a waiter. */
  readonly #waiting = new Map<string, Set<Settle>>();
  #size = 0;

  /** How many wait, of all parties together. */
  get size(): number {
    return this.#size;
  }

  has(party: string): boolean {
    return this.#waiting.has(party);
  }

  wait(party: string): Waiter {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const own = this.#waiting.get(party) ?? new Set();
    this.#waiting.set(party, own.add(resolve));
    this.#size++;
    const leave = (): boolean => {
      const waited = this.#remove(party, resolve);
      if (waited) resolve(false);
      return waited;
    };
    return { turn: promise, leave };
  }

  /** Gives the turn to the first of this party, or of the one whose turn it is. Returns the party, if anybody waits. */
  next(party = this.#first): string | undefined {
    if (party === undefined) return undefined;
    const [first] = this.#waiting.get(party) ?? [];
    if (!first) return undefined;
    this.#remove(party, first);
    const others = this.#waiting.get(party);
    if (others) {
      this.#waiting.delete(party);
      this.#waiting.set(party, others);
    }
    first(true);
    return party;
  }

  get #first(): string | undefined {
    for (const party of this.#waiting.keys()) return party;
    return undefined;
  }

  #remove(party: string, settle: Settle): boolean {
    const own = this.#waiting.get(party);
    if (!own?.delete(settle)) return false;
    if (own.size === 0) this.#waiting.delete(party);
    this.#size--;
    return true;
  }
}
