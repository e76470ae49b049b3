import { onAbort } from '../abort.ts';
import type { Clock } from '../clock.ts';
import { type CallFault, isOfTheQuestion } from './call-pause.ts';
import { FairSlots } from './fair-slots.ts';
import { PartyWindows } from './party-windows.ts';

/** Calls that share a queue take many times as long as one alone. Below this factor, a slow call may be chance. */
const TIMES_THE_FASTEST = 4;
/** The fastest call of the last one to two windows shows how long a call takes when nothing is in its way. */
const WINDOW_MS = 30_000;

/** Distinguishes calls that wait for each other from calls that are slow by nature. */
export class FastestCall {
  readonly #clock: Clock;
  readonly #patienceMs: number;
  #fastest = Number.POSITIVE_INFINITY;
  #before = Number.POSITIVE_INFINITY;
  #since: number;

  /** A call that takes `timeoutMs` counts as failed. */
  constructor(clock: Clock, timeoutMs: number) {
    this.#clock = clock;
    this.#patienceMs = timeoutMs / 2;
    this.#since = clock.monotonic();
  }

  /**
   * Whether an answered call was slow: it took more than half of the timeout and many times as long as the fastest call
   * of the last minute.
   */
  isSlow(tookMs: number): boolean {
    const now = this.#clock.monotonic();
    if (now - this.#since >= WINDOW_MS) {
      this.#before = this.#fastest;
      this.#fastest = Number.POSITIVE_INFINITY;
      this.#since = now;
    }
    this.#fastest = Math.min(this.#fastest, tookMs);
    return tookMs > Math.max(this.#patienceMs, TIMES_THE_FASTEST * Math.min(this.#fastest, this.#before));
  }
}

/**
 * The window keeps at least an eighth of its limit, so that parties whose calls are fast are answered, and so that we
 * notice within moments when calls are fast again.
 */
const LEAST_SHARE = 1 / 8;
/** When only one or two parties have slow calls, the reason lies in their own questions. */
const LEAST_SLOW_PARTIES = 3;

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
   * The number of cuts so far. Read it when a call begins: a cut counts once for all calls that were begun before it.
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

  /** Records that a call of this party, begun after that many cuts, was slow or timed out. */
  slow(party: string, cuts: number): void {
    if (cuts < this.#cuts) return;
    this.#slow.add(party);
    if (this.#slow.size < LEAST_SLOW_PARTIES) return;
    this.#slow.clear();
    this.#cuts++;
    this.#size = Math.max(1, this.#most * LEAST_SHARE, this.#size / 2);
  }
}

export interface CallLimits {
  /** Calls under way at a time; fewer while the calls of several parties are slow. */
  readonly maxInFlight: number;
  /** The limit at first, until answers show that there is room for more. Default: `maxInFlight`. */
  readonly firstInFlight?: number;
  /** How many of them one party may have in flight; fewer while its calls fail or become slow. Default: all. */
  readonly maxInFlightOfOne?: number;
  /** Like `firstInFlight`, for one party. */
  readonly firstInFlightOfOne?: number;
  /** Calls that wait for their turn; one more fails at once. Default: any number. */
  readonly maxWaiting?: number;
  /** How many waiting calls one party may have. Default: all. */
  readonly maxWaitingOfOne?: number;
  /** A call that takes longer has failed. */
  readonly timeoutMs: number;
}

/** A call exceeded its time limit and was given up: the other side may hang. */
export class CallTimedOut extends Error {}

/** A call was not begun, because all our own places are taken. This says nothing about the other side. */
export class TooManyCalls extends Error {
  /** True when this party has taken its share; false when all parties together have taken the places. */
  readonly byParty: boolean;

  constructor(message: string, byParty: boolean) {
    super(message);
    this.byParty = byParty;
  }
}

/** A call was not begun, because the calls before it failed. */
export class CallsPaused extends Error {}

/**
 * How much longer a call may wait for its turn than it may run. When the other side answers nobody, the calls under way
 * end first, and their failure shows the reason. A wait that times out by itself therefore means a lack of places.
 */
const WAIT_MARGIN_MS = 500;

/** Makes calls of one kind to a side that must not be flooded and may not answer. Parties share the places fairly. */
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

  /** Calls of this party that are under way or waiting for their turn. */
  of = (party: string): number => this.#slots.of(party);

  /**
   * Settles as `call` does. Rejects with `TooManyCalls` or `CallsPaused` when the call was not begun, and with
   * `CallTimedOut` when it took too long. Then the signal aborts, and the slot is free once `call` has ended. `call`
   * may reject but must not throw.
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

  /** Ends the wait of all calls that were not begun, or of those of one party. They reject with `CallsPaused`. */
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

  /** Records how a call ended while it still has its slot; afterwards the next call could have begun already. */
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

  /** Gives waiting calls their turn when a hold is over. */
  #hold(ms: number): void {
    if (ms > 0) this.#clock.after(ms, () => this.#slots.giveOut());
  }

  /** Frees the slot when the call has ended, which may be after we have given it up. */
  #inSlot<T>(party: string, call: Promise<T>, limit: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      const stopListening = onAbort(limit, () => reject(new CallTimedOut('the call took too long')));
      const end = (): void => {
        stopListening();
        this.#slots.release(party);
      };
      call.finally(end).then(resolve, reject);
    });
  }
}
