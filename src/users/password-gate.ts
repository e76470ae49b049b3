import type { Clock } from '../clock.ts';
import type { PasswordMetrics } from './metrics.ts';

export interface GateOptions {
  /** Compares at once. The thread pool has four threads, and files and DNS need some of them. */
  readonly concurrency: number;
  /** Places in the queue. */
  readonly queue: number;
  readonly maxWaitMs: number;
}

/** Gives the place back. */
export type Leave = () => void;

interface Waiter {
  readonly admit: () => void;
  readonly giveUp: () => void;
}

/**
 * The bounded queue in front of password hashing (F2). Sources are served in turn, each in its own order, and a full queue
 * takes the last place of the source that holds the most: one that floods waits behind itself, and keeps nobody out.
 */
export class PasswordGate {
  /** Sources in the order of their next turn. */
  readonly #waiting = new Map<string, Waiter[]>();
  readonly #options: GateOptions;
  readonly #clock: Clock;
  readonly #metrics: PasswordMetrics;
  #length = 0;
  #inFlight = 0;

  constructor(options: GateOptions, clock: Clock, metrics: PasswordMetrics) {
    this.#options = options;
    this.#clock = clock;
    this.#metrics = metrics;
  }

  /** Resolves when it is this attempt's turn; `undefined` when there is no place, the wait too long or the client gone. */
  async enter(source: string, signal: AbortSignal): Promise<Leave | undefined> {
    if (signal.aborted) return undefined;
    const since = this.#clock.monotonic();
    if (this.#inFlight < this.#options.concurrency) this.#count(1);
    else if (!this.#hasRoom(source) || !(await this.#wait(source, signal))) {
      if (!signal.aborted) this.#metrics.rejections.inc();
      return undefined;
    }
    this.#metrics.queueWait.observe((this.#clock.monotonic() - since) / 1000);
    return () => this.#leave();
  }

  /** Hands the place to the next in turn: `#inFlight` stays as it is then. */
  #leave(): void {
    const [turn] = this.#waiting;
    if (!turn) {
      this.#count(-1);
      return;
    }
    const [source, [next, ...others]] = turn;
    this.#waiting.delete(source);
    if (others.length > 0) this.#waiting.set(source, others);
    next?.admit();
  }

  /** Makes room where another source would still hold as many places as this one does then. */
  #hasRoom(source: string): boolean {
    if (this.#length < this.#options.queue) return true;
    const own = this.#waiting.get(source)?.length ?? 0;
    const [most = []] = [...this.#waiting.values()].sort((a, b) => b.length - a.length);
    if (most.length < own + 2) return false;
    most.at(-1)?.giveUp();
    return true;
  }

  #wait(source: string, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (admitted: boolean): void => {
        cancel();
        signal.removeEventListener('abort', giveUp);
        this.#lengthen(-1);
        resolve(admitted);
      };
      const giveUp = (): void => {
        this.#drop(source, waiter);
        end(false);
      };
      const waiter: Waiter = { admit: () => end(true), giveUp };
      const cancel = this.#clock.after(this.#options.maxWaitMs, giveUp);
      signal.addEventListener('abort', giveUp, { once: true });
      this.#waiting.set(source, [...(this.#waiting.get(source) ?? []), waiter]);
      this.#lengthen(1);
    });
  }

  #drop(source: string, waiter: Waiter): void {
    const rest = (this.#waiting.get(source) ?? []).filter((other) => other !== waiter);
    if (rest.length > 0) this.#waiting.set(source, rest);
    else this.#waiting.delete(source);
  }

  #count(by: number): void {
    this.#inFlight += by;
    this.#metrics.inFlight.set(this.#inFlight);
  }

  #lengthen(by: number): void {
    this.#length += by;
    this.#metrics.queueLength.set(this.#length);
  }
}
