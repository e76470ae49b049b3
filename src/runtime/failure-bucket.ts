import type { Clock } from './clock.ts';

/** At most `limit` failures of one key in any span of `windowMs`. */
export interface BucketOptions {
  readonly limit: number;
  readonly windowMs: number;
}

/** A failure counted ahead of its outcome. */
export interface CountedFailure {
  /** It was none. */
  takeBack(): void;
  /** It was one. True when the bucket is full and nobody was told of it within a window: an ongoing flood is told once. */
  stands(): boolean;
}

interface Bucket {
  /** Of the failures that count, oldest first. */
  readonly times: readonly number[];
  readonly toldAt?: number | undefined;
}

/**
 * About 30 MB when every key is in use; the key idle longest is forgotten first. A failed sign-in costs a compare, of which two
 * cores make 40 a second: pushing a name out takes 40 min, longer than the default window of 30 min would have kept it. A failed
 * client costs a digest: its key can be pushed out sooner, from so many addresses that the window is no limit to them anyhow.
 */
const CAPACITY = 100_000;

/** Failures per key in a sliding window, in memory, bounded. Windows follow the monotonic clock (C-33). */
export class FailureBuckets {
  readonly #buckets = new Map<string, Bucket>();
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

  /** Counts a failure at once, so that attempts at the same time find the bucket as it will be. */
  add(key: string): CountedFailure {
    const times = this.#recent(key);
    const time = this.#clock.monotonic();
    const toldAt = this.#buckets.get(key)?.toldAt;
    this.#buckets.delete(key);
    this.#buckets.set(key, { times: [...times, time].slice(-this.#options.limit), toldAt });
    const [idlest] = this.#buckets.keys();
    if (this.#buckets.size > CAPACITY && idlest !== undefined) this.#buckets.delete(idlest);
    return { takeBack: () => this.#takeBack(key, time), stands: () => this.#isNewlyFull(key) };
  }

  empty(key: string): void {
    this.#buckets.delete(key);
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
    if (bucket.toldAt !== undefined && now - bucket.toldAt < this.#options.windowMs) return false;
    this.#buckets.set(key, { ...bucket, toldAt: now });
    return true;
  }

  #recent(key: string): readonly number[] {
    const since = this.#clock.monotonic() - this.#options.windowMs;
    return (this.#buckets.get(key)?.times ?? []).filter((time) => time > since);
  }
}
