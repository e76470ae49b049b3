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

/** Whether the cluster refused the question itself. */
export const isOfTheQuestion = (fault: unknown): boolean =>
  OF_THE_QUESTION.has((fault as CallFault | undefined)?.status?.code);

/** While all are paused, whoever has not failed may ask all the same, once a second for all of them: a cluster that is back answers the first one. */
const STRANGER_EVERY_MS = 1_000;
/** Whoever failed is remembered, up to so many. */
const MOST_FAILED = 1_000;

/** When a probe is due and somebody who has not failed wants it, those who have failed leave it to them for so long. */
const COURTESY_MS = 1_000;

/**
 * Spares a cluster that fails: a pause, then one probe at a time, until one is answered. It begins with the second failure in a row, or
 * with the first one that took all its time or says how long to wait. It is one for the parties that failed, and one for all as soon
 * as several did.
 */
export class CallPause {
  readonly #clock: Clock;
  readonly #backoff: Backoff;
  readonly #partiesThatTell: number;
  /** Parties that failed since the last answer. */
  readonly #failed = new Set<string>();
  #failures = 0;
  /** By the monotonic clock; `undefined`: calls are made freely. */
  #until: number | undefined;
  #isProbing = false;
  #othersWait = false;
  #strangerAt = Number.NEGATIVE_INFINITY;

  /** `partiesThatTell`: all are paused when so many failed. Until then it may be something about their own questions. */
  constructor(clock: Clock, backoff: Backoff, partiesThatTell: number) {
    this.#clock = clock;
    this.#backoff = backoff;
    this.#partiesThatTell = partiesThatTell;
  }

  /** From the failure that began it until a call is answered. */
  isOnFor(party: string): boolean {
    return this.isOnForAll || (this.#until !== undefined && this.#failed.has(party));
  }

  get isOnForAll(): boolean {
    return this.#until !== undefined && this.#failed.size >= this.#partiesThatTell;
  }

  /** Since the last answer. */
  hasFailed = (party: string): boolean => this.#failed.has(party);

  /**
   * Whether this party may make one call although the pause is on for it. Who got that says so when it has ended. The cluster's
   * `Retry-After` holds for the parties that it was sent to.
   */
  takeProbe(party: string): boolean {
    const now = this.#clock.monotonic();
    if (this.#until === undefined) return false;
    const hasFailed = this.#failed.has(party);
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

  /** Calls that were begun together fail together: they lengthen the pause once. */
  failed(party: string, fault: CallFault, tookAllItsTime: boolean): void {
    const { retryAfterMs = 0 } = fault;
    if (this.#failed.size < MOST_FAILED) this.#failed.add(party);
    this.#failures++;
    if (this.#failures < FAILURES_THAT_TELL && !tookAllItsTime && retryAfterMs === 0) return;
    const now = this.#clock.monotonic();
    const waitMs = this.#until === undefined || now >= this.#until ? this.#backoff.failed() : 0;
    this.#until = Math.max(this.#until ?? 0, now + Math.max(waitMs, retryAfterMs));
  }
}
