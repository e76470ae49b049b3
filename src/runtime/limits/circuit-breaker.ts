import type { Backoff } from '../backoff.ts';
import type { Clock } from '../clock.ts';

/** What the error of a failed call to the cluster may carry. */
export interface CallFault {
  /** The status that the cluster answered with instead of a result. */
  readonly status?: { readonly code: number };
  /** How long the cluster asks to be left alone (429 and 503). */
  readonly retryAfterMs?: number;
}

/** One failure may be bad luck of one connection. Two in a row mean that the cluster fails. */
const LEAST_FAILURES = 2;

/** Status codes by which a healthy cluster refuses one question. They predict nothing about the next one. */
const OF_THE_QUESTION: ReadonlySet<number | undefined> = new Set([400, 413, 422]);

/** Whether the cluster refused the question itself. */
export const isOfTheQuestion = (fault: unknown): boolean =>
  OF_THE_QUESTION.has((fault as CallFault | undefined)?.status?.code);

/**
 * While all flows are paused, one that has not failed may still ask every second: once the cluster is back, it answers
 * the first of them.
 */
const STRANGER_EVERY_MS = 1_000;
/**
 * The most flows that are remembered as failed. When there are so many, further ones are not remembered: how many
 * failed matters more than which.
 */
const MOST_FAILED = 1_000;

/** When a probe is due and a flow that has not failed wants it, the flows that have failed wait this much longer. */
const COURTESY_MS = 1_000;

/**
 * Spares a failing cluster: calls pause, then one probe at a time is made until one is answered. The breaker opens with
 * the second failure in a row, or with the first one that timed out or that says how long to wait. It is open for the
 * flows that failed, and for all flows once several have failed.
 */
export class CircuitBreaker {
  readonly #clock: Clock;
  readonly #backoff: Backoff;
  readonly #leastFailedFlows: number;
  /** Flows that failed since the last answer. */
  readonly #failed = new Set<string>();
  #failures = 0;
  /** The end of the pause by the monotonic clock; `undefined` while there is no pause. */
  #until: number | undefined;
  #isProbing = false;
  #othersWait = false;
  #strangerAt = Number.NEGATIVE_INFINITY;

  /**
   * `leastFailedFlows`: how many flows must fail before all are paused. With fewer, the reason may lie in their own
   * questions.
   */
  constructor(clock: Clock, backoff: Backoff, leastFailedFlows: number) {
    this.#clock = clock;
    this.#backoff = backoff;
    this.#leastFailedFlows = leastFailedFlows;
  }

  /** Whether calls of this flow are paused: from the failure that began the pause until a call is answered. */
  isOpenFor(flow: string): boolean {
    return this.isOpenForAll || (this.#until !== undefined && this.#failed.has(flow));
  }

  get isOpenForAll(): boolean {
    return this.#until !== undefined && this.#failed.size >= this.#leastFailedFlows;
  }

  /** Whether this flow has failed since the last answer. */
  hasFailed = (flow: string): boolean => this.#failed.has(flow);

  /**
   * Whether this flow may make one call although it is paused. If so, it must call `probeEnded` when the call has
   * ended. The cluster's `Retry-After` holds for the flows that it was sent to.
   */
  takeProbe(flow: string): boolean {
    const now = this.#clock.monotonic();
    if (this.#until === undefined) return false;
    const hasFailed = this.#failed.has(flow);
    const dueAt = hasFailed ? this.#until + (this.#othersWait ? COURTESY_MS : 0) : this.#strangerAt;
    if (this.#isProbing || now < dueAt) {
      this.#othersWait ||= !hasFailed;
      return false;
    }
    this.#isProbing = true;
    this.#othersWait = false;
    if (!hasFailed) this.#strangerAt = now + STRANGER_EVERY_MS;
    return true;
  }

  probeEnded(): void {
    this.#isProbing = false;
  }

  answered(): void {
    this.#failures = 0;
    this.#failed.clear();
    this.#until = undefined;
    this.#backoff.succeeded();
  }

  /** Records a failure. Calls that were begun together fail together, so they lengthen the pause only once. */
  failed(flow: string, fault: CallFault, tookAllItsTime: boolean): void {
    const { retryAfterMs = 0 } = fault;
    if (this.#failed.size < MOST_FAILED) this.#failed.add(flow);
    this.#failures++;
    if (this.#failures < LEAST_FAILURES && !tookAllItsTime && retryAfterMs === 0) return;
    const now = this.#clock.monotonic();
    const waitMs = this.#until === undefined || now >= this.#until ? this.#backoff.failed() : 0;
    this.#until = Math.max(this.#until ?? 0, now + Math.max(waitMs, retryAfterMs));
  }
}
