import type { Backoff } from '../../runtime/backoff.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { RelistReason } from '../metrics.ts';
import type { Failure } from './failure.ts';

/** What to do next, after `waitMs`. `from`: list our `last` version or a newer one, or the `newest` state by a quorum read. */
export type RecoveryStep =
  | { readonly kind: 'watch'; readonly waitMs: number }
  | {
      readonly kind: 'list';
      readonly from: 'last' | 'newest';
      readonly waitMs: number;
      readonly reason?: RelistReason;
    };

/** The outcome of a watch. */
export interface WatchRun {
  readonly failure: Failure;
  readonly livedMs: number;
  /** An event or a bookmark brought the cache forward. */
  readonly progressed: boolean;
  /** The cache's version at the end. */
  readonly resourceVersion: string;
}

/** A stream that ends cleanly after this time did its work. An earlier end may be a fault that repeats. */
const SHORT_MS = 1_000;
/**
 * A stream that brought something and ended soon is reopened at once. If the server ends this many in a row, the next one
 * waits, so that we do not flood the server with requests (I5).
 */
const FREE_SHORT_CLOSES = 3;
/**
 * A relist has helped if the watches after it lived this long, with or without events (I5: a 410 may follow right after
 * an event).
 */
const HELPED_MS = 60_000;
/** After this many bad streams in a row at one version, we take the next event for unreadable and list instead. */
const BAD_STREAMS = 3;

/** Reacts to each class of failure, by the rules of "How the cache follows the cluster" in docs/promises.md. */
export class Recovery {
  readonly #backoff: Backoff;
  #shortCloses = 0;
  /** How long the watches since the last relist lived. */
  #livedMs = HELPED_MS;
  /** The server could not list from the last version, just as it could not watch from it. */
  #isLastOutOfReach = false;
  #badStreams = 0;
  #badAt: string | undefined;

  constructor(backoff: Backoff) {
    this.#backoff = backoff;
  }

  afterWatch(run: WatchRun): RecoveryStep {
    this.watched(run.livedMs);
    switch (run.failure.kind) {
      case 'closed':
        return { kind: 'watch', waitMs: this.#afterClose(run) };
      case 'quiet': // the silence was wait enough
        return { kind: 'watch', waitMs: 0 };
      case 'expired':
        return this.relist('last', 'expired');
      case 'too_large_version':
        return this.relist('newest', 'too_large_version');
      case 'unreadable':
      case 'stream_error':
        return this.#afterBadStream(run.resourceVersion);
      case 'aborted':
      case 'throttled':
      case 'refused':
      case 'reset':
      case 'unsupported':
        return { kind: 'watch', waitMs: this.#wait(run.failure) };
      default:
        return run.failure satisfies never;
    }
  }

  afterList(failure: Failure, list: Extract<RecoveryStep, { kind: 'list' }>): RecoveryStep {
    const again = { ...list, waitMs: 0 };
    const outOfReach = failure.kind === 'expired' || failure.kind === 'too_large_version';
    if (outOfReach && list.from === 'last') {
      this.#isLastOutOfReach = true;
      // During a back-off this list waits as well: two lists for each step of the back-off would exceed the budget (I5).
      return { ...again, from: 'newest', waitMs: this.#backoff.isAtRest ? 0 : this.#wait(failure) };
    }
    return { ...again, waitMs: this.#wait(failure) };
  }

  /** Counts the lifetime of a watch that we ended ourselves for a relist. */
  watched(livedMs: number): void {
    this.#livedMs += livedMs;
  }

  /**
   * The first relist is immediate. If it did not help for long, the next one waits. That one does not try the last version
   * again if the first failed with it (I5: two lists each time would be twice the budget).
   */
  relist(from: 'last' | 'newest', reason: RelistReason): RecoveryStep {
    const hasHelped = this.#livedMs >= HELPED_MS;
    this.#livedMs = 0;
    if (hasHelped) this.#isLastOutOfReach = false;
    const start = this.#isLastOutOfReach ? 'newest' : from;
    return { kind: 'list', from: start, reason, waitMs: hasHelped ? 0 : this.#backoff.failed() };
  }

  /** The back-off, or longer if the server says so (RFC 6585 4). */
  #wait(failure: Failure): number {
    const wait = this.#backoff.failed();
    return failure.kind === 'throttled' ? Math.max(failure.retryAfterMs, wait) : wait;
  }

  #afterClose(run: WatchRun): number {
    if (run.livedMs >= SHORT_MS) {
      this.#shortCloses = 0;
      return 0;
    }
    if (run.progressed && ++this.#shortCloses <= FREE_SHORT_CLOSES) return 0;
    return this.#backoff.failed();
  }

  #afterBadStream(resourceVersion: string): RecoveryStep {
    this.#badStreams = resourceVersion === this.#badAt ? this.#badStreams + 1 : 1;
    this.#badAt = resourceVersion;
    if (this.#badStreams < BAD_STREAMS) return { kind: 'watch', waitMs: this.#backoff.failed() };
    this.#badStreams = 0;
    return this.relist('last', 'stream_error');
  }
}

/** How long lists use pages after a stream failed. By then the server may be less busy, restarted or upgraded. */
const FIRST_PAUSE_MS = 600_000;
/** A server without WatchList refuses one small request each time, at most six a day. */
const LONGEST_PAUSE_MS = 14_400_000;

/**
 * Decides whether to list by a stream (WatchList) or in pages. After a stream has failed, lists use pages for a while.
 */
export class StreamedLists {
  readonly #clock: Clock;
  #againAt = Number.NEGATIVE_INFINITY;
  #pauseMs = FIRST_PAUSE_MS;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get areWanted(): boolean {
    return this.#clock.monotonic() >= this.#againAt;
  }

  /** Lists use pages for 10 min after the first failure, for twice as long after each further one, at most for 4 h. */
  failed(): void {
    this.#againAt = this.#clock.monotonic() + this.#pauseMs;
    this.#pauseMs = Math.min(LONGEST_PAUSE_MS, 2 * this.#pauseMs);
  }

  succeeded(): void {
    this.#pauseMs = FIRST_PAUSE_MS;
  }
}
