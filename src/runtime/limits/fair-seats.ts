import { onAbort } from '../abort.ts';
import { BoundedMap } from '../bounded-map.ts';

/** How many seats there are and who may have them. The flows share the seats; a flow is a user or an address, for example. */
export interface SeatLimits {
  /** Seats held at a time, by all flows together. */
  readonly count: number;
  /** Whether a flow that already holds that many seats may have another one. Default: always. */
  readonly allows?: (flow: string, held: number) => boolean;
  /** Waiters in the queue, of all flows together. Default: any number. */
  readonly waiting?: number;
  /** Waiters of one flow. Default: all. */
  readonly waitingOfOne?: number;
}

/**
 * The result of asking for a seat. `taken`: the caller has it and must release it. The queue had no room: for
 * `no_share`, because the flow has its share or another one has more right to it; for `queue_full`, because other flows
 * fill it. `gave_up`: the signal aborted first. `turned_away`: `turnAway` ended the wait.
 */
export type SeatOutcome = 'taken' | 'no_share' | 'queue_full' | 'gave_up' | 'turned_away';

/** How many flows' last turns are remembered: several times the number of flows that hold a seat or wait. */
const TURNS = 1_000;

interface Waiter {
  /** Ends the wait. Called once; the caller removes the waiter from the queue. */
  settle(outcome: SeatOutcome): void;
}

/**
 * At most `count` holders at a time. Flows take turns; the requests of a flow keep their order. When the queue is
 * full, the flow with the most waiters loses its last one; if every flow has one, the flow whose last turn was latest
 * loses it. A flow that floods waits behind itself, and keeps nobody out.
 */
export class FairSeats {
  readonly #limits: Required<SeatLimits>;
  #open: number;
  /** Flows that wait, in the order of their next turn. */
  readonly #queue = new Map<string, Waiter[]>();
  /** Seats held, of flows that hold one. */
  readonly #held = new Map<string, number>();
  /** The number of the last turn of each flow that had one recently. */
  readonly #turns = new BoundedMap<number>(TURNS);
  #turn = 0;
  #taken = 0;
  #waiting = 0;

  constructor(limits: SeatLimits) {
    const { count, allows = () => true, waiting = Number.POSITIVE_INFINITY, waitingOfOne = waiting } = limits;
    this.#limits = { count, allows, waiting, waitingOfOne };
    this.#open = count;
  }

  /** Seats in use. For a while after seats were closed, this is more than are open. */
  get taken(): number {
    return this.#taken;
  }

  /** Waiters in the queue. */
  get waiting(): number {
    return this.#waiting;
  }

  /** The seats that this flow holds, plus its waiters. */
  of(flow: string): number {
    return (this.#held.get(flow) ?? 0) + (this.#queue.get(flow)?.length ?? 0);
  }

  /** Resolves when it is this flow's turn, or when it will not have one. */
  take(flow: string, signal: AbortSignal): Promise<SeatOutcome> {
    if (signal.aborted) return Promise.resolve('gave_up');
    if (this.#taken < this.#open && this.#mayHoldAnother(flow)) {
      this.#hold(flow);
      return Promise.resolve('taken');
    }
    const lacking = this.#makeRoom(flow);
    return lacking ? Promise.resolve(lacking) : this.#wait(flow, signal);
  }

  /** Releases a seat and gives it to the flow whose turn it is. */
  release(flow: string): void {
    const left = (this.#held.get(flow) ?? 0) - 1;
    if (left > 0) this.#held.set(flow, left);
    else this.#held.delete(flow);
    this.#taken--;
    this.giveOut();
  }

  /** Sets how many seats are given out from now on, from one to `count`. A holder keeps its seat. */
  open(seats: number): void {
    this.#open = Math.max(1, Math.min(seats, this.#limits.count));
    this.giveOut();
  }

  /** Gives free seats to those whose turn it is. Call it when `allows` would answer differently. */
  giveOut(): void {
    while (this.#taken < this.#open && this.#giveNext());
  }

  /** Ends the wait of everybody, or of one flow, without a turn. */
  turnAway(flow?: string): void {
    for (const name of flow === undefined ? [...this.#queue.keys()] : [flow]) {
      const waiters = this.#queue.get(name) ?? [];
      this.#queue.delete(name);
      for (const waiter of waiters) waiter.settle('turned_away');
    }
  }

  /** Gives one seat to the next flow that may have it. Returns false if there is none. */
  #giveNext(): boolean {
    for (const [next, [first, ...others]] of this.#queue) {
      if (!first || !this.#mayHoldAnother(next)) continue;
      this.#queue.delete(next);
      if (others.length > 0) this.#queue.set(next, others);
      this.#hold(next);
      first.settle('taken');
      return true;
    }
    return false;
  }

  #mayHoldAnother(flow: string): boolean {
    return this.#limits.allows(flow, this.#held.get(flow) ?? 0);
  }

  #hold(flow: string): void {
    this.#taken++;
    this.#held.set(flow, (this.#held.get(flow) ?? 0) + 1);
    this.#turns.set(flow, ++this.#turn);
  }

  /**
   * Why there is no room for one more; `undefined` if there is one. A full queue makes room at the cost of a flow that
   * has more.
   */
  #makeRoom(flow: string): 'no_share' | 'queue_full' | undefined {
    const { waiting, waitingOfOne } = this.#limits;
    const own = this.#queue.get(flow)?.length ?? 0;
    if (own >= waitingOfOne) return 'no_share';
    if (this.#waiting < waiting) return undefined;
    const most = [...this.#queue.values()].reduce<Waiter[]>(
      (longest, other) => (other.length > longest.length ? other : longest),
      [],
    );
    if (most.length >= own + 2) {
      most.pop()?.settle('no_share');
      return undefined;
    }
    if (own === 0 && this.#dropLatest(this.#turnOf(flow))) return undefined;
    return own > 1 && own >= most.length ? 'no_share' : 'queue_full';
  }

  /**
   * When every flow waits with one request, drops the one whose last turn was latest, if that was later than `turn`.
   */
  #dropLatest(turn: number): boolean {
    let latest = '';
    let latestTurn = turn;
    for (const flow of this.#queue.keys()) {
      const other = this.#turnOf(flow);
      if (other > latestTurn) [latest, latestTurn] = [flow, other];
    }
    if (latestTurn === turn) return false;
    const waiters = this.#queue.get(latest) ?? [];
    if (waiters.length === 1) this.#queue.delete(latest);
    waiters.pop()?.settle('queue_full');
    return true;
  }

  /** The number of a flow's last turn; 0 when it is no longer remembered. */
  #turnOf = (flow: string): number => this.#turns.get(flow) ?? 0;

  #wait(flow: string, signal: AbortSignal): Promise<SeatOutcome> {
    return new Promise((resolve) => {
      const waiter: Waiter = {
        settle: (outcome) => {
          stopListening();
          this.#waiting--;
          resolve(outcome);
        },
      };
      const stopListening = onAbort(signal, () => {
        this.#drop(flow, waiter);
        waiter.settle('gave_up');
      });
      const queue = this.#queue.get(flow);
      if (queue) queue.push(waiter);
      else this.#queue.set(flow, [waiter]);
      this.#waiting++;
    });
  }

  #drop(flow: string, waiter: Waiter): void {
    const rest = (this.#queue.get(flow) ?? []).filter((other) => other !== waiter);
    if (rest.length > 0) this.#queue.set(flow, rest);
    else this.#queue.delete(flow);
  }
}
