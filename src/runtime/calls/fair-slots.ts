import { onAbort } from '../abort.ts';
import { BoundedMap } from '../bounded-map.ts';

/** How many slots there are and who may have them. The parties share the slots; a party is a user or an address, for example. */
export interface SlotLimits {
  /** Slots held at a time, by all parties together. */
  readonly count: number;
  /** Whether a party that already holds that many slots may have another one. Default: always. */
  readonly allows?: (party: string, held: number) => boolean;
  /** Places in the queue, of all parties together. Default: any number. */
  readonly waiting?: number;
  /** Places in the queue that one party may have. Default: all. */
  readonly waitingOfOne?: number;
}

/**
 * The result of asking for a slot. `taken`: the caller has it and must release it. There was no place to wait:
 * `no_share`, because the party has its share or another one has more right to the place; `no_place`, because other
 * parties have them all. `gave_up`: the signal aborted first. `turned_away`: `turnAway` ended the wait.
 */
export type SlotOutcome = 'taken' | 'no_share' | 'no_place' | 'gave_up' | 'turned_away';

/** How many parties' last turns are remembered: several times the number of parties that hold a slot or wait. */
const TURNS = 1_000;

interface Waiter {
  /** Ends the wait. Called once; the caller removes the waiter from the queue. */
  settle(outcome: SlotOutcome): void;
}

/**
 * At most `count` holders at a time. Parties take turns; the requests of a party keep their order. When the queue is
 * full, the party with the most places loses its last one; if every party has one, the party whose last turn was latest
 * loses it. A party that floods waits behind itself, and keeps nobody out.
 */
export class FairSlots {
  readonly #limits: Required<SlotLimits>;
  #open: number;
  /** Parties that wait, in the order of their next turn. */
  readonly #queue = new Map<string, Waiter[]>();
  /** Slots held, of parties that hold one. */
  readonly #held = new Map<string, number>();
  /** The number of the last turn of each party that had one recently. */
  readonly #turns = new BoundedMap<number>(TURNS);
  #turn = 0;
  #taken = 0;
  #waiting = 0;

  constructor(limits: SlotLimits) {
    const { count, allows = () => true, waiting = Number.POSITIVE_INFINITY, waitingOfOne = waiting } = limits;
    this.#limits = { count, allows, waiting, waitingOfOne };
    this.#open = count;
  }

  /** Slots in use. For a while after slots were closed, this is more than are open. */
  get taken(): number {
    return this.#taken;
  }

  /** Places of the queue in use. */
  get waiting(): number {
    return this.#waiting;
  }

  /** The slots that this party holds plus its places in the queue. */
  of(party: string): number {
    return (this.#held.get(party) ?? 0) + (this.#queue.get(party)?.length ?? 0);
  }

  /** Resolves when it is this party's turn, or when it will not have one. */
  take(party: string, signal: AbortSignal): Promise<SlotOutcome> {
    if (signal.aborted) return Promise.resolve('gave_up');
    if (this.#taken < this.#open && this.#mayHoldAnother(party)) {
      this.#hold(party);
      return Promise.resolve('taken');
    }
    const lacking = this.#makeRoom(party);
    return lacking ? Promise.resolve(lacking) : this.#wait(party, signal);
  }

  /** Releases a slot and gives it to the party whose turn it is. */
  release(party: string): void {
    const left = (this.#held.get(party) ?? 0) - 1;
    if (left > 0) this.#held.set(party, left);
    else this.#held.delete(party);
    this.#taken--;
    this.giveOut();
  }

  /** Sets how many slots are given out from now on, from one to `count`. A holder keeps its slot. */
  open(slots: number): void {
    this.#open = Math.max(1, Math.min(slots, this.#limits.count));
    this.giveOut();
  }

  /** Gives free slots to those whose turn it is. Call it when `allows` would answer differently. */
  giveOut(): void {
    while (this.#taken < this.#open && this.#giveNext());
  }

  /** Ends the wait of everybody, or of one party, without a turn. */
  turnAway(party?: string): void {
    for (const name of party === undefined ? [...this.#queue.keys()] : [party]) {
      const waiters = this.#queue.get(name) ?? [];
      this.#queue.delete(name);
      for (const waiter of waiters) waiter.settle('turned_away');
    }
  }

  /** Gives one slot to the next party that may have it. Returns false if there is none. */
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

  #mayHoldAnother(party: string): boolean {
    return this.#limits.allows(party, this.#held.get(party) ?? 0);
  }

  #hold(party: string): void {
    this.#taken++;
    this.#held.set(party, (this.#held.get(party) ?? 0) + 1);
    this.#turns.set(party, ++this.#turn);
  }

  /**
   * Why there is no place for one more; `undefined` if there is one. A full queue makes room at the cost of a party that
   * has more.
   */
  #makeRoom(party: string): 'no_share' | 'no_place' | undefined {
    const { waiting, waitingOfOne } = this.#limits;
    const own = this.#queue.get(party)?.length ?? 0;
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
    if (own === 0 && this.#dropLatest(this.#turnOf(party))) return undefined;
    return own > 1 && own >= most.length ? 'no_share' : 'no_place';
  }

  /**
   * When every party waits with one request, drops the one whose last turn was latest, if that was later than `turn`.
   */
  #dropLatest(turn: number): boolean {
    let latest = '';
    let latestTurn = turn;
    for (const party of this.#queue.keys()) {
      const other = this.#turnOf(party);
      if (other > latestTurn) [latest, latestTurn] = [party, other];
    }
    if (latestTurn === turn) return false;
    const waiters = this.#queue.get(latest) ?? [];
    if (waiters.length === 1) this.#queue.delete(latest);
    waiters.pop()?.settle('no_place');
    return true;
  }

  /** The number of a party's last turn; 0 when it is no longer remembered. */
  #turnOf = (party: string): number => this.#turns.get(party) ?? 0;

  #wait(party: string, signal: AbortSignal): Promise<SlotOutcome> {
    return new Promise((resolve) => {
      const waiter: Waiter = {
        settle: (outcome) => {
          stopListening();
          this.#waiting--;
          resolve(outcome);
        },
      };
      const stopListening = onAbort(signal, () => {
        this.#drop(party, waiter);
        waiter.settle('gave_up');
      });
      const queue = this.#queue.get(party);
      if (queue) queue.push(waiter);
      else this.#queue.set(party, [waiter]);
      this.#waiting++;
    });
  }

  #drop(party: string, waiter: Waiter): void {
    const rest = (this.#queue.get(party) ?? []).filter((other) => other !== waiter);
    if (rest.length > 0) this.#queue.set(party, rest);
    else this.#queue.delete(party);
  }
}
