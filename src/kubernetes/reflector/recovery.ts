import type { Backoff } from '../../runtime/backoff.ts';
import type { RelistReason } from '../metrics.ts';
import type { Failure } from './failure.ts';

/** What to do next, after `waitMs`. `from` is where a list starts: the last version, or `newest` by quorum. */
export type Step =
  | { readonly kind: 'watch'; readonly waitMs: number }
  | {
      readonly kind: 'list';
      readonly from: 'last' | 'newest';
      readonly waitMs: number;
      readonly reason?: RelistReason;
    };

/** How a watch went. */
export interface WatchRun {
  readonly failure: Failure;
  readonly livedMs: number;
  /** An event or a bookmark brought the cache forward. */
  readonly progressed: boolean;
  /** The cache's version at the end. */
  readonly resourceVersion: string;
}

/** A stream that ends cleanly after this long did its work; one that ends sooner may be a fault that repeats. */
const SHORT_MS = 1_000;
/** Streams that bring something and end at once are followed at once; after so many in a row it is a storm (I5). */
const FREE_SHORT_CLOSES = 3;
/** A relist has helped when the watches after it lived so long, whatever they brought (I5: a 410 may follow an event at once). */
const HELPED_MS = 60_000;
/** The third bad stream in a row at one version: what comes next there cannot be read, so it is listed instead. */
const BAD_STREAMS = 3;

/**
 * One stated reaction per class of failure: "How the cache follows the cluster" of docs/promises.md in code. Remembers only
 * what the rules need.
 */
export class Recovery {
  readonly #backoff: Backoff;
  #shortCloses = 0;
  /** How long the watches since the last relist lived. */
  #livedMs = HELPED_MS;
  /** The server could not list from the last version, as it could not watch from it. */
  #isLastOutOfReach = false;
  #badStreams = 0;
  #badAt: string | undefined;

  constructor(backoff: Backoff) {
    this.#backoff = backoff;
  }

  afterWatch(run: WatchRun): Step {
    this.watched(run.livedMs);
    switch (run.failure.kind) {
      case 'closed':
        return { kind: 'watch', waitMs: this.#afterClose(run) };
      case 'quiet': // it took its time already
        return { kind: 'watch', waitMs: 0 };
      case 'expired':
        return this.relist('last', 'expired');
      case 'too_large_version':
        return this.relist('newest', 'too_large_version');
      case 'unreadable':
      case 'stream_error':
        return this.#afterBadStream(run.resourceVersion);
      default:
        return { kind: 'watch', waitMs: this.#wait(run.failure) };
    }
  }

  afterList(failure: Failure, list: Extract<Step, { kind: 'list' }>): Step {
    const again = { ...list, waitMs: 0 };
    const outOfReach = failure.kind === 'expired' || failure.kind === 'too_large_version';
    if (outOfReach && list.from === 'last') {
      this.#isLastOutOfReach = true;
      return { ...again, from: 'newest' };
    }
    return { ...again, waitMs: this.#wait(failure) };
  }

  /** A watch lived so long and was then ended by ourselves: for a relist. */
  watched(livedMs: number): void {
    this.#livedMs += livedMs;
  }

  /**
   * The first relist is immediate; one that follows another too soon for that to have helped waits, and does not try again
   * what failed before (I5: two lists each time would be twice the budget).
   */
  relist(from: 'last' | 'newest', reason: RelistReason): Step {
    const hasHelped = this.#livedMs >= HELPED_MS;
    this.#livedMs = 0;
    if (hasHelped) this.#isLastOutOfReach = false;
    const start = this.#isLastOutOfReach ? 'newest' : from;
    return { kind: 'list', from: start, reason, waitMs: hasHelped ? 0 : this.#backoff.failed() };
  }

  /** Back-off, or longer when the server said so (RFC 6585 4). */
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

  #afterBadStream(resourceVersion: string): Step {
    this.#badStreams = resourceVersion === this.#badAt ? this.#badStreams + 1 : 1;
    this.#badAt = resourceVersion;
    if (this.#badStreams < BAD_STREAMS) return { kind: 'watch', waitMs: this.#backoff.failed() };
    this.#badStreams = 0;
    return this.relist('last', 'stream_error');
  }
}
