/** Gives up the place in the queue. Returns false if there is none any more, as after the turn. */
export type LeaveQueue = () => boolean;

/**
 * Waiters by flow: flows take turns, and the waiters of a flow keep their order. The caller decides when the next turn
 * comes. The queue keeps nothing about a flow that does not wait, and has no bound of its own.
 */
export class FairQueue {
  /** The flows that wait, in the order of their next turns. Each has at least one waiter: a function to call at its turn. */
  readonly #waiting = new Map<string, Set<() => void>>();
  #size = 0;

  /** How many wait, of all flows together. */
  get size(): number {
    return this.#size;
  }

  has(flow: string): boolean {
    return this.#waiting.has(flow);
  }

  /** Calls `begin` at the turn of this waiter, unless it leaves the queue before. */
  wait(flow: string, begin: () => void): LeaveQueue {
    const own = this.#waiting.get(flow) ?? new Set();
    const waiter = (): void => begin();
    this.#waiting.set(flow, own.add(waiter));
    this.#size++;
    return () => this.#remove(flow, waiter);
  }

  /** Gives the turn to the first waiter of this flow; default: of the flow whose turn it is. Returns whether anybody waited. */
  next(flow = this.#first): boolean {
    if (flow === undefined) return false;
    const [first] = this.#waiting.get(flow) ?? [];
    if (!first) return false;
    this.#remove(flow, first);
    const others = this.#waiting.get(flow);
    if (others) {
      this.#waiting.delete(flow);
      this.#waiting.set(flow, others);
    }
    first();
    return true;
  }

  get #first(): string | undefined {
    for (const flow of this.#waiting.keys()) return flow;
    return undefined;
  }

  #remove(flow: string, waiter: () => void): boolean {
    const own = this.#waiting.get(flow);
    if (!own?.delete(waiter)) return false;
    if (own.size === 0) this.#waiting.delete(flow);
    this.#size--;
    return true;
  }
}
