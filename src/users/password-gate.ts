import { onAbort } from '../runtime/abort.ts';
import type { Clock } from '../runtime/clock.ts';
import { FairSlots } from '../runtime/fair-slots.ts';
import type { PasswordMetrics } from './metrics.ts';

export interface GateOptions {
  /** Compares at a time. The thread pool has four threads, and files and DNS need some of them. */
  readonly concurrency: number;
  /** Places in the queue. */
  readonly queue: number;
  readonly maxWaitMs: number;
}

/** Releases the place. */
export type Leave = () => void;

/**
 * The bounded queue in front of password hashing. Sources take turns, each in its own order, and a full queue
 * takes the last place of the source that holds the most. A source that floods waits behind itself, and keeps nobody
 * out.
 */
export class PasswordGate {
  readonly #slots: FairSlots;
  readonly #maxWaitMs: number;
  readonly #clock: Clock;
  readonly #metrics: PasswordMetrics;

  constructor({ concurrency, queue, maxWaitMs }: GateOptions, clock: Clock, metrics: PasswordMetrics) {
    this.#slots = new FairSlots({ count: concurrency, waiting: queue });
    this.#maxWaitMs = maxWaitMs;
    this.#clock = clock;
    this.#metrics = metrics;
  }

  /**
   * Resolves when it is this attempt's turn; with `undefined` when there is no place, the wait is too long, or the
   * client has gone.
   */
  async enter(source: string, signal: AbortSignal): Promise<Leave | undefined> {
    if (signal.aborted) return undefined;
    const since = this.#clock.monotonic();
    const isTaken = await this.#take(source, signal);
    this.#show();
    if (!isTaken) {
      if (!signal.aborted) this.#metrics.rejections.inc();
      return undefined;
    }
    this.#metrics.queueWait.observe((this.#clock.monotonic() - since) / 1000);
    return () => {
      this.#slots.release(source);
      this.#show();
    };
  }

  async #take(source: string, signal: AbortSignal): Promise<boolean> {
    const patience = new AbortController();
    const giveUp = (): void => patience.abort();
    const cancel = this.#clock.after(this.#maxWaitMs, giveUp);
    const letGo = onAbort(signal, giveUp);
    const outcome = this.#slots.take(source, patience.signal);
    this.#show();
    const isTaken = (await outcome) === 'taken';
    cancel();
    letGo();
    return isTaken;
  }

  #show(): void {
    this.#metrics.inFlight.set(this.#slots.taken);
    this.#metrics.queueLength.set(this.#slots.waiting);
  }
}
