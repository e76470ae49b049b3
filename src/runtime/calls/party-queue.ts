/** Gives up the place in the queue. Returns false if there is none any more, as after the turn. */
export type LeaveQueue = () => boolean;

/**
 * Waiters by party: parties take turns, and the waiters of a party keep their order. The caller decides when the next turn
 * comes. The queue keeps nothing about a party that does not wait, and has no bound of its own.
 */
export class PartyQueue {
  /** The waiters of each party, in the order of the next turns: functions to call at their turn. A party in it has at least one. */
  readonly #waiting = new Map<string, Set<() => void>>();
  #size = 0;

  /** How many wait, of all parties together. */
  get size(): number {
    return this.#size;
  }

  has(party: string): boolean {
    return this.#waiting.has(party);
  }

  /** Calls `begin` at the turn of this waiter, unless it leaves the queue before. */
  wait(party: string, begin: () => void): LeaveQueue {
    const own = this.#waiting.get(party) ?? new Set();
    const waiter = (): void => begin();
    this.#waiting.set(party, own.add(waiter));
    this.#size++;
    return () => this.#remove(party, waiter);
  }

  /** Gives the turn to the first waiter of this party; default: of the party whose turn it is. Returns whether anybody waited. */
  next(party = this.#first): boolean {
    if (party === undefined) return false;
    const [first] = this.#waiting.get(party) ?? [];
    if (!first) return false;
    this.#remove(party, first);
    const others = this.#waiting.get(party);
    if (others) {
      this.#waiting.delete(party);
      this.#waiting.set(party, others);
    }
    first();
    return true;
  }

  get #first(): string | undefined {
    for (const party of this.#waiting.keys()) return party;
    return undefined;
  }

  #remove(party: string, waiter: () => void): boolean {
    const own = this.#waiting.get(party);
    if (!own?.delete(waiter)) return false;
    if (own.size === 0) this.#waiting.delete(party);
    this.#size--;
    return true;
  }
}
