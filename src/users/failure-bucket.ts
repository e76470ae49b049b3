import type { Clock } from '../clock.ts';

/** At most `limit` failures of one key in any span of `windowMs`. */
export interface BucketOptions {
  readonly limit: number;
  readonly windowMs: number;
}

/** About 30 MB when every key is in use; the key idle longest is forgotten first. */
const CAPACITY = 100_000;

/** Failures per key in a sliding window, in memory, bounded. Windows follow the monotonic clock (C-33). */
export class FailureBuckets {
  readonly #failures = new Map<string, number[]>();
  readonly #options: BucketOptions;
  readonly #clock: Clock;

  constructor(options: BucketOptions, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
  }

  /** Milliseconds until the oldest failure that counts leaves its window; 0 when the bucket is not full. */
  waitMs(key: string): number {
    const times = this.#recent(key);
    const oldest = times[times.length - this.#options.limit];
    return oldest === undefined ? 0 : oldest + this.#options.windowMs - this.#clock.monotonic();
  }

  /** Counts a failure; the answer takes it back. */
  add(key: string): () => void {
    const times = this.#recent(key);
    const now = this.#clock.monotonic();
    this.#failures.delete(key);
    this.#failures.set(key, [...times, now].slice(-this.#options.limit));
    const [idlest = ''] = this.#failures.size > CAPACITY ? this.#failures.keys() : [];
    this.#failures.delete(idlest);
    return () => this.#takeBack(key, now);
  }

  empty(key: string): void {
    this.#failures.delete(key);
  }

  #takeBack(key: string, time: number): void {
    const times = this.#failures.get(key) ?? [];
    const index = times.indexOf(time);
    if (index >= 0) this.#failures.set(key, times.toSpliced(index, 1));
  }

  #recent(key: string): readonly number[] {
    const since = this.#clock.monotonic() - this.#options.windowMs;
    return (this.#failures.get(key) ?? []).filter((time) => time > since);
  }
}
