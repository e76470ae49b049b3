import type { Backoff } from './backoff.ts';
import type { Clock } from './clock.ts';

/** What the error of a failed call to the cluster may carry. */
export interface CallFault {
  /** The cluster answered, with this instead of what it was asked for. */
  readonly status?: { readonly code: number };
  /** For how long it asks not to be asked (429 and 503). */
  readonly retryAfterMs?: number;
}

/** One failure may be the bad luck of one connection; the second in a row is the cluster's. */
const FAILURES_THAT_TELL = 2;

/** Refusals of this one question, by a cluster that is well: they say nothing about the next one. */
const OF_THE_QUESTION: ReadonlySet<number | undefined> = new Set([400, 413, 422]);

/**
 * Spares a cluster that fails: a pause that all calls share, then one probe at a time, until one is answered. It begins
 * with the second failure in a row, or with the first one that took all its time or says how long to wait.
 */
export class CallPause {
  readonly #clock: Clock;
  readonly #backoff: Backoff;
  #failures = 0;
  /** By the monotonic clock; `undefined`: calls are made freely. */
  #until: number | undefined;
  #isProbing = false;

  constructor(clock: Clock, backoff: Backoff) {
    this.#clock = clock;
    this.#backoff = backoff;
  }

  /** From the failure that began it until a call is answered. */
  get isOn(): boolean {
    return this.#until !== undefined;
  }

  /** Whether one call may be made although the pause is on. Who got that says so when it has ended. */
  takeProbe(): boolean {
    if (this.#isProbing || this.#until === undefined || this.#clock.monotonic() < this.#until) return false;
    this.#isProbing = true;
    return true;
  }

  probeEnded(): void {
    this.#isProbing = false;
  }

  answered(): void {
    this.#failures = 0;
    this.#until = undefined;
    this.#backoff.succeeded();
  }

  /** Calls that were begun together fail together: they lengthen the pause once. */
  failed(fault: CallFault, tookAllItsTime: boolean): void {
    if (OF_THE_QUESTION.has(fault.status?.code)) return;
    const { retryAfterMs = 0 } = fault;
    this.#failures++;
    if (this.#failures < FAILURES_THAT_TELL && !tookAllItsTime && retryAfterMs === 0) return;
    const now = this.#clock.monotonic();
    const waitMs = this.#until === undefined || now >= this.#until ? this.#backoff.failed() : 0;
    this.#until = Math.max(this.#until ?? 0, now + Math.max(waitMs, retryAfterMs));
  }
}
