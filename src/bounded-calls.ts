import type { Clock } from './clock.ts';
import { Slots } from './slots.ts';

export interface CallLimits {
  /** Calls under way at a time. */
  readonly maxInFlight: number;
  /** Calls that wait for their turn; one more fails at once. Default: any number. */
  readonly maxWaiting?: number;
  /** A call that takes longer, its wait for a turn included, has failed. */
  readonly timeoutMs: number;
}

/** A call was given up when its time was over: whoever is asked may hang. */
export class CallTimedOut extends Error {}

/** A call was not begun: as many as may wait do so already, or all were turned away. It says nothing of whoever is asked. */
export class TooManyCalls extends Error {}

/** Calls of one kind to somebody who must not be flooded, and may not answer. */
export class BoundedCalls {
  readonly #limits: CallLimits;
  readonly #clock: Clock;
  readonly #slots: Slots;

  constructor(limits: CallLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
    this.#slots = new Slots(limits.maxInFlight);
  }

  /**
   * Settles as `call` does, or rejects with `CallTimedOut`: then the signal aborts, and the slot is free when `call` has
   * ended. `call` may reject, not throw.
   */
  async run<T>(call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const limit = new AbortController();
    const cancel = this.#clock.after(this.#limits.timeoutMs, () => limit.abort());
    try {
      if (!(await this.#turn(limit.signal))) throw notBegun(limit.signal);
      return await this.#inSlot(call(limit.signal), limit.signal);
    } finally {
      cancel();
    }
  }

  /** Ends the wait of all that were not begun: they reject with `TooManyCalls`. */
  turnAway(): void {
    this.#slots.turnAway();
  }

  #turn(limit: AbortSignal): Promise<boolean> {
    const { maxWaiting = Number.POSITIVE_INFINITY } = this.#limits;
    const isFull = this.#slots.free === 0 && this.#slots.waiting >= maxWaiting;
    if (isFull) throw new TooManyCalls('too many calls are waiting');
    return this.#slots.take(limit);
  }

  /** The slot is free again when the call has ended, which may be later than our patience. */
  #inSlot<T>(call: Promise<T>, limit: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      const giveUp = (): void => reject(new CallTimedOut('the call took too long'));
      limit.addEventListener('abort', giveUp, { once: true });
      call.then(resolve, reject).finally(() => {
        limit.removeEventListener('abort', giveUp);
        this.#slots.release();
      });
    });
  }
}

const notBegun = (limit: AbortSignal): Error =>
  limit.aborted
    ? new CallTimedOut('there was no turn in time')
    : new TooManyCalls('the calls that waited were turned away');
