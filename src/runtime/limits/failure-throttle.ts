import { BoundedMap } from '../bounded-map.ts';
import type { Clock } from '../clock.ts';

/** At most `limit` failures of one key in any span of `windowMs`. */
export interface ThrottleLimit {
  readonly limit: number;
  readonly windowMs: number;
}

/** A failure counted before its outcome is known. */
export interface CountedFailure {
  /** Removes the failure from the bucket, because the attempt did not fail. */
  takeBack(): void;
  /**
   * Confirms the failure. Returns true if the bucket is full and that was not reported within the last window, so that a
   * flood is reported once per window.
   */
  stands(): boolean;
}

interface Bucket {
  /** The times of the failures that count, oldest first. */
  readonly times: readonly number[];
  readonly reportedAt?: number | undefined;
}

/**
 * About 30 MB when every key is in use. The key that was idle longest is forgotten first. A failed sign-in costs a
 * comparison of a password hash, and two cores make 40 a second. So pushing a name out takes 40 min, longer than the
 * default window of 30 min would have kept it. A failed client costs only a digest, so its key can be pushed out sooner,
 * but only from so many addresses that the window is no limit to them anyhow.
 */
const CAPACITY = 100_000;

/**
 * Limits failures per key in a sliding window: the bucket of a key counts them, in memory and bounded. Windows follow the
 * monotonic clock (C-33).
 */
export class FailureThrottle {
  readonly #buckets = new BoundedMap<Bucket>(CAPACITY);
  readonly #options: ThrottleLimit;
  readonly #clock: Clock;

  constructor(options: ThrottleLimit, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
  }

  /** Milliseconds until the oldest failure that counts leaves its window; 0 when the bucket is not full. */
  waitMs(key: string): number {
    const times = this.#recent(key);
    const oldest = times[times.length - this.#options.limit];
    return oldest === undefined ? 0 : oldest + this.#options.windowMs - this.#clock.monotonic();
  }

  /** Counts a failure at once, so that attempts at the same time already find it in the bucket. */
  add(key: string): CountedFailure {
    const times = this.#recent(key);
    const time = this.#clock.monotonic();
    const reportedAt = this.#buckets.get(key)?.reportedAt;
    this.#buckets.set(key, { times: [...times, time].slice(-this.#options.limit), reportedAt });
    return { takeBack: () => this.#takeBack(key, time), stands: () => this.#isNewlyFull(key) };
  }

  empty(key: string): void {
    this.#buckets.delete(key);
  }

  /** Empties the buckets of all keys for which this holds: 5 ms when every key is in use. */
  emptyWhere(isMeant: (key: string) => boolean): void {
    for (const [key] of this.#buckets.entries()) if (isMeant(key)) this.#buckets.delete(key);
  }

  #takeBack(key: string, time: number): void {
    const bucket = this.#buckets.get(key);
    const index = bucket?.times.indexOf(time) ?? -1;
    if (bucket && index >= 0) this.#buckets.set(key, { ...bucket, times: bucket.times.toSpliced(index, 1) });
  }

  #isNewlyFull(key: string): boolean {
    const bucket = this.#buckets.get(key);
    const now = this.#clock.monotonic();
    if (!bucket || this.waitMs(key) === 0) return false;
    if (bucket.reportedAt !== undefined && now - bucket.reportedAt < this.#options.windowMs) return false;
    this.#buckets.set(key, { ...bucket, reportedAt: now });
    return true;
  }

  #recent(key: string): readonly number[] {
    const since = this.#clock.monotonic() - this.#options.windowMs;
    return (this.#buckets.get(key)?.times ?? []).filter((time) => time > since);
  }
}
