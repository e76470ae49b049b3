import { onAbort } from '../abort.ts';
import type { Clock } from '../clock.ts';
import { type CallFault, isOfTheQuestion } from './circuit-breaker.ts';
import { ConcurrencyLimit } from './concurrency-limit.ts';
import { FairSeats } from './fair-seats.ts';
import { FastestCall } from './fastest-call.ts';
import { FlowConcurrencyLimits } from './flow-concurrency-limits.ts';

export interface CallLimits {
  /** Calls in flight at a time; fewer while the calls of several flows are slow. */
  readonly maxInFlight: number;
  /** The limit at first, until answers show that there is room for more. Default: `maxInFlight`. */
  readonly firstInFlight?: number;
  /** How many of them one flow may have in flight; fewer while its calls fail or become slow. Default: all. */
  readonly maxInFlightOfOne?: number;
  /** Like `firstInFlight`, for one flow. */
  readonly firstInFlightOfOne?: number;
  /** Calls that wait for their turn; one more fails at once. Default: any number. */
  readonly maxWaiting?: number;
  /** How many waiting calls one flow may have. Default: all. */
  readonly maxWaitingOfOne?: number;
  /** A call that takes longer has failed. */
  readonly timeoutMs: number;
}

/** A call exceeded its time limit and was given up: the other side may hang. */
export class CallTimedOut extends Error {}

/** A call was not begun, because all our own seats are taken. This says nothing about the other side. */
export class TooManyCalls extends Error {
  /** True when this flow has taken its share; false when all flows together have taken the seats. */
  readonly byFlow: boolean;

  constructor(message: string, byFlow: boolean) {
    super(message);
    this.byFlow = byFlow;
  }
}

/** A call was not begun, because the calls before it failed. */
export class CallsPaused extends Error {}

/**
 * How much longer a call may wait for its turn than it may run. When the other side answers nobody, the calls in flight
 * end first, and their failure shows the reason. A wait that times out by itself therefore means a lack of seats.
 */
const WAIT_MARGIN_MS = 500;

/** Makes calls of one kind to a side that must not be flooded and may not answer. Flows share the seats fairly. */
export class BoundedCalls {
  readonly #timeoutMs: number;
  readonly #clock: Clock;
  readonly #seats: FairSeats;
  readonly #limit: ConcurrencyLimit;
  readonly #flowLimits: FlowConcurrencyLimits;
  readonly #fastest: FastestCall;

  constructor(limits: CallLimits, clock: Clock) {
    const { maxInFlight: count, firstInFlight = count, timeoutMs } = limits;
    const { maxInFlightOfOne: most = count, firstInFlightOfOne: first = most } = limits;
    const { maxWaiting: waiting = Number.POSITIVE_INFINITY, maxWaitingOfOne: waitingOfOne = waiting } = limits;
    this.#timeoutMs = timeoutMs;
    this.#clock = clock;
    this.#fastest = new FastestCall(clock, timeoutMs);
    this.#limit = new ConcurrencyLimit({ first: firstInFlight, most: count });
    this.#flowLimits = new FlowConcurrencyLimits(clock, { first, most });
    const allows = (flow: string, held: number): boolean => this.#flowLimits.allows(flow, held);
    this.#seats = new FairSeats({ count, allows, waiting, waitingOfOne });
    this.#seats.open(this.#limit.current);
  }

  /** Calls in flight, and calls that wait for their turn. */
  get load(): { readonly inFlight: number; readonly waiting: number } {
    return { inFlight: this.#seats.taken, waiting: this.#seats.waiting };
  }

  /** Calls of this flow that are in flight or waiting for their turn. */
  of = (flow: string): number => this.#seats.of(flow);

  /**
   * Settles as `call` does. Rejects with `TooManyCalls` or `CallsPaused` when the call was not begun, and with
   * `CallTimedOut` when it took too long. Then the signal aborts, and the seat is free once `call` has ended. `call`
   * may reject but must not throw.
   */
  async run<T>(flow: string, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    await this.#takeSeat(flow);
    const timeout = new AbortController();
    const cancel = this.#clock.after(this.#timeoutMs, () => timeout.abort());
    try {
      return await this.#inSeat(flow, this.#noted(flow, call(timeout.signal)), timeout.signal);
    } finally {
      cancel();
    }
  }

  /** Ends the wait of all calls that were not begun, or of those of one flow. They reject with `CallsPaused`. */
  turnAway(flow?: string): void {
    this.#seats.turnAway(flow);
  }

  async #takeSeat(flow: string): Promise<void> {
    const wait = new AbortController();
    const cancel = this.#clock.after(this.#timeoutMs + WAIT_MARGIN_MS, () => wait.abort());
    try {
      const outcome = await this.#seats.take(flow, wait.signal);
      if (outcome === 'turned_away') throw new CallsPaused('the calls that waited were turned away');
      if (outcome !== 'taken') throw new TooManyCalls('too many calls are waiting', outcome === 'no_share');
    } finally {
      cancel();
    }
  }

  /** Records how a call ended while it still has its seat; afterwards the next call could have begun already. */
  async #noted<T>(flow: string, call: Promise<T>): Promise<T> {
    const began = { at: this.#clock.monotonic(), cuts: this.#limit.cuts, cutsOfOne: this.#flowLimits.cutsOf(flow) };
    const tookMs = (): number => this.#clock.monotonic() - began.at;
    try {
      const answer = await call;
      this.#answered(flow, began, this.#fastest.isSlow(tookMs()));
      return answer;
    } catch (error) {
      const { retryAfterMs = 0 } = error as CallFault;
      if (isOfTheQuestion(error)) this.#answered(flow, began, false);
      else this.#backOff(this.#flowLimits.failed(flow, began.cutsOfOne, retryAfterMs));
      if (tookMs() >= this.#timeoutMs) this.#limit.slow(flow, began.cuts);
      throw error;
    } finally {
      this.#seats.open(this.#limit.current);
    }
  }

  #answered(flow: string, began: { readonly cuts: number; readonly cutsOfOne: number }, isSlow: boolean): void {
    if (isSlow) {
      this.#limit.slow(flow, began.cuts);
      this.#flowLimits.slow(flow, began.cutsOfOne);
    } else {
      this.#limit.answered(this.#seats.waiting > 0);
      this.#flowLimits.answered(flow);
    }
  }

  /** Gives waiting calls their turn when the backoff of a flow is over. */
  #backOff(ms: number): void {
    if (ms > 0) this.#clock.after(ms, () => this.#seats.giveOut());
  }

  /** Frees the seat when the call has ended, which may be after we have given it up. */
  #inSeat<T>(flow: string, call: Promise<T>, timeout: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      const stopListening = onAbort(timeout, () => reject(new CallTimedOut('the call took too long')));
      const end = (): void => {
        stopListening();
        this.#seats.release(flow);
      };
      call.finally(end).then(resolve, reject);
    });
  }
}
