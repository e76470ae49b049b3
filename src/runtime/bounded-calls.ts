import { type CallFault, isOfTheQuestion } from './call-pause.ts';
import { CallWindow } from './call-window.ts';
import type { Clock } from './clock.ts';
import { FairSlots } from './fair-slots.ts';
import { FastestCall } from './fastest-call.ts';
import { PartyWindows } from './party-windows.ts';

export interface CallLimits {
  /** Calls under way at a time; fewer while the calls of several parties are slow. */
  readonly maxInFlight: number;
  /** So many at first, until answers show that there is room for more. Default: as many as at most. */
  readonly firstInFlight?: number;
  /** Of those, calls of one party; fewer while its calls fail or become slow. Default: all. */
  readonly maxInFlightOfOne?: number;
  /** As `firstInFlight`. */
  readonly firstInFlightOfOne?: number;
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
  readonly #windows: PartyWindows;
  readonly #fastest: FastestCall;

  constructor(limits: CallLimits, clock: Clock) {
    const { maxInFlight: count, firstInFlight = count, timeoutMs } = limits;
    const { maxInFlightOfOne: most = count, firstInFlightOfOne: first = most } = limits;
    const { maxWaiting: waiting = Number.POSITIVE_INFINITY, maxWaitingOfOne: waitingOfOne = waiting } = limits;
    this.#timeoutMs = timeoutMs;
    this.#clock = clock;
    this.#fastest = new FastestCall(clock, timeoutMs);
    this.#window = new CallWindow({ first: firstInFlight, most: count });
    this.#windows = new PartyWindows(clock, { first, most });
    const allows = (party: string, held: number): boolean => this.#windows.allows(party, held);
    this.#slots = new FairSlots({ count, allows, waiting, waitingOfOne });
    this.#slots.open(this.#window.size);
  }

  /** Calls under way, and calls that wait for their turn. */
  get load(): { readonly inFlight: number; readonly waiting: number } {
    return { inFlight: this.#slots.taken, waiting: this.#slots.waiting };
  }

  /** Calls of this party that are under way or wait for their turn. */
  of = (party: string): number => this.#slots.of(party);

  /**
   * Settles as `call` does. Rejects with `TooManyCalls` or `CallsPaused` when it was not begun, with `CallTimedOut` when it
   * took too long: then the signal aborts, and the slot is free when `call` has ended. `call` may reject, not throw.
   */
  async run<T>(party: string, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    await this.#turn(party);
    const limit = new AbortController();
    const cancel = this.#clock.after(this.#timeoutMs, () => limit.abort());
    try {
      return await this.#inSlot(party, this.#noted(party, call(limit.signal)), limit.signal);
    } finally {
      cancel();
    }
  }

  /** Ends the wait of all that were not begun, or of those of one party: they reject with `CallsPaused`. */
  turnAway(party?: string): void {
    this.#slots.turnAway(party);
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

  /** What the end of a call says, noted while it has its slot: else the next one began already. */
  async #noted<T>(party: string, call: Promise<T>): Promise<T> {
    const began = { at: this.#clock.monotonic(), cuts: this.#window.cuts, cutsOfOne: this.#windows.cutsOf(party) };
    const tookMs = (): number => this.#clock.monotonic() - began.at;
    try {
      const answer = await call;
      this.#answered(party, began, this.#fastest.isSlow(tookMs()));
      return answer;
    } catch (error) {
      const { retryAfterMs = 0 } = error as CallFault;
      if (isOfTheQuestion(error)) this.#answered(party, began, false);
      else this.#hold(this.#windows.failed(party, began.cutsOfOne, retryAfterMs));
      if (tookMs() >= this.#timeoutMs) this.#window.slow(party, began.cuts);
      throw error;
    } finally {
      this.#slots.open(this.#window.size);
    }
  }

  #answered(party: string, began: { readonly cuts: number; readonly cutsOfOne: number }, isSlow: boolean): void {
    if (isSlow) {
      this.#window.slow(party, began.cuts);
      this.#windows.slow(party, began.cutsOfOne);
    } else {
      this.#window.answered(this.#slots.waiting > 0);
      this.#windows.answered(party);
    }
  }

  /** When a hold is over, the turn of those who wait may have come. */
  #hold(ms: number): void {
    if (ms > 0) this.#clock.after(ms, () => this.#slots.giveOut());
  }

  /** The slot is free again when the call has ended, which may be later than our patience. */
  #inSlot<T>(party: string, call: Promise<T>, limit: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      const giveUp = (): void => reject(new CallTimedOut('the call took too long'));
      limit.addEventListener('abort', giveUp, { once: true });
      const end = (): void => {
        limit.removeEventListener('abort', giveUp);
        this.#slots.release(party);
      };
      call.finally(end).then(resolve, reject);
    });
  }
}
