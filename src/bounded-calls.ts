import { CallWindow } from './call-window.ts';
import type { Clock } from './clock.ts';
import { FairSlots } from './fair-slots.ts';

export interface CallLimits {
  /** Calls under way at a time; fewer while whoever is asked cannot take so many. */
  readonly maxInFlight: number;
  /** So many at first, until answers show that there is room for more. Default: all. */
  readonly firstInFlight?: number;
  /** Of those, calls of one party. Default: all. */
  readonly maxInFlightOfOne?: number;
  /** Calls that wait for their turn; one more fails at once. Default: any number. */
  readonly maxWaiting?: number;
  /** Of those, calls of one party. Default: all. */
  readonly maxWaitingOfOne?: number;
  /** A call that takes longer has failed. */
  readonly timeoutMs: number;
}

/** A call was given up when its time was over: whoever is asked may hang. */
export class CallTimedOut extends Error {}

/** A call was not begun, because our own places are taken. It says nothing of whoever is asked. */
export class TooManyCalls extends Error {
  /** Taken by this party; else by all together. */
  readonly byParty: boolean;

  constructor(message: string, byParty: boolean) {
    super(message);
    this.byParty = byParty;
  }
}

/** A call was not begun, because the calls before it failed. */
export class CallsPaused extends Error {}

/**
 * How much longer than a call a wait for one may take. When nobody is answered, the calls under way end first, and their
 * end says so; a wait that ends by itself is for want of places.
 */
const WAIT_MARGIN_MS = 500;

/** Calls of one kind to somebody who must not be flooded, and may not answer. Parties share the places fairly. */
export class BoundedCalls {
  readonly #timeoutMs: number;
  readonly #clock: Clock;
  readonly #slots: FairSlots;
  readonly #window: CallWindow;

  constructor(limits: CallLimits, clock: Clock) {
    const { maxInFlight: count, maxInFlightOfOne = count, maxWaiting = Number.POSITIVE_INFINITY } = limits;
    const { maxWaitingOfOne: waitingOfOne = maxWaiting, firstInFlight: first = count, timeoutMs } = limits;
    this.#timeoutMs = timeoutMs;
    this.#clock = clock;
    this.#window = new CallWindow(clock, { first, most: count, timeoutMs });
    this.#slots = new FairSlots({ count, countOfOne: maxInFlightOfOne, waiting: maxWaiting, waitingOfOne });
    this.#slots.open(this.#window.size);
  }

  /** Calls under way, and calls that wait for their turn. */
  get load(): { readonly inFlight: number; readonly waiting: number } {
    return { inFlight: this.#slots.taken, waiting: this.#slots.waiting };
  }

  /** Calls that may be under way now. */
  get room(): number {
    return this.#window.size;
  }

  /** Whoever is asked said, or showed, that a call which began then came with too many others. */
  tooMany(beganAt: number): void {
    this.#window.tooMany(beganAt);
    this.#slots.open(this.#window.size);
  }

  /**
   * Settles as `call` does. Rejects with `TooManyCalls` or `CallsPaused` when it was not begun, with `CallTimedOut` when it
   * took too long: then the signal aborts, and the slot is free when `call` has ended. `call` may reject, not throw.
   */
  async run<T>(party: string, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    await this.#turn(party);
    const limit = new AbortController();
    const cancel = this.#clock.after(this.#timeoutMs, () => limit.abort());
    const beganAt = this.#clock.monotonic();
    const noted = call(limit.signal).then((answer) => {
      this.#window.answered(beganAt, this.#slots.waiting > 0);
      return answer;
    });
    try {
      return await this.#inSlot(party, noted, limit.signal);
    } finally {
      cancel();
    }
  }

  /** Ends the wait of all that were not begun: they reject with `CallsPaused`. */
  turnAway(): void {
    this.#slots.turnAway('turned_away');
  }

  /** Ends the wait of this party's calls: they reject with `TooManyCalls`. */
  turnAwayParty(party: string): void {
    this.#slots.turnAway('no_share', party);
  }

  async #turn(party: string): Promise<void> {
    const wait = new AbortController();
    const cancel = this.#clock.after(this.#timeoutMs + WAIT_MARGIN_MS, () => wait.abort());
    try {
      const outcome = await this.#slots.take(party, wait.signal);
      if (outcome === 'turned_away') throw new CallsPaused('the calls that waited were turned away');
      if (outcome !== 'taken') throw new TooManyCalls('too many calls are waiting', outcome === 'no_share');
    } finally {
      cancel();
    }
  }

  /** The slot is free again when the call has ended, which may be later than our patience. */
  #inSlot<T>(party: string, call: Promise<T>, limit: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      const giveUp = (): void => reject(new CallTimedOut('the call took too long'));
      limit.addEventListener('abort', giveUp, { once: true });
      call.then(resolve, reject).finally(() => {
        limit.removeEventListener('abort', giveUp);
        this.#slots.open(this.#window.size);
        this.#slots.release(party);
      });
    });
  }
}
