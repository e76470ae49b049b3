import { createHash } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { type BucketOptions, type CountedFailure, FailureBuckets } from './failure-bucket.ts';
import type { User } from './user.ts';

export interface ThrottleOptions {
  /** Failures per user, known or not; a known-good pair has a bucket of its own with the same limit. */
  readonly user: BucketOptions;
  /** Failures per source address. */
  readonly address: BucketOptions;
}

/** Who tries, as the buckets know them. */
export interface Attempter {
  readonly user: string;
  readonly source: string;
  /** The stored state says that the bucket of this user is full, on whichever replica it filled. */
  readonly isLimited: boolean;
}

/** As in the `bucket` label of `gatehouse_login_throttled_total` and in the event `sign_in_throttled`. */
export type BucketName = 'user' | 'address' | 'known_good';

/** The bucket that turned an attempt away. */
export interface Throttled {
  readonly bucket: BucketName;
  readonly waitMs: number;
}

/** A failure counted ahead of its outcome: a success empties what counted it, else one of the two is called. */
export interface CountedAttempt {
  /** Nobody knows what it was; taken back where it was counted, wherever the next one would belong by then. */
  takeBack(): void;
  /** It was one: the buckets that it made full. */
  stands(): readonly BucketName[];
}

/** A source stays known good for a user for a day after a success there. */
const KNOWN_GOOD_MS = 24 * 3_600_000;
const KNOWN_GOOD_CAPACITY = 100_000;

/**
 * Limits password guesses without locking anybody out (N-15): from an address where a user succeeded in the last day,
 * only failures from that address for that user count, so a stranger cannot keep the owner out.
 */
export class LoginThrottle {
  readonly #byUser: FailureBuckets;
  readonly #byAddress: FailureBuckets;
  readonly #byPair: FailureBuckets;
  readonly #knownGood = new Map<string, number>();
  readonly #windowMs: number;
  readonly #clock: Clock;

  constructor(options: ThrottleOptions, clock: Clock) {
    this.#byUser = new FailureBuckets(options.user, clock);
    this.#byAddress = new FailureBuckets(options.address, clock);
    this.#byPair = new FailureBuckets(options.user, clock);
    this.#windowMs = options.user.windowMs;
    this.#clock = clock;
  }

  /** The full bucket that applies, if one does. */
  check(attempter: Attempter): Throttled | undefined {
    if (this.#isKnownGood(attempter)) return full('known_good', this.#byPair.waitMs(pair(attempter)));
    const byUser = full('user', this.#userWaitMs(attempter));
    const byAddress = full('address', this.#byAddress.waitMs(attempter.source));
    return byUser && byAddress ? (byUser.waitMs >= byAddress.waitMs ? byUser : byAddress) : (byUser ?? byAddress);
  }

  /** Counts a failure where it belongs, ahead of its outcome. */
  failed(attempter: Attempter): CountedAttempt {
    const counted: readonly (readonly [BucketName, CountedFailure])[] = this.#isKnownGood(attempter)
      ? [['known_good', this.#byPair.add(pair(attempter))]]
      : [
          ['user', this.#byUser.add(attempter.user)],
          ['address', this.#byAddress.add(attempter.source)],
        ];
    return {
      takeBack: () => {
        for (const [, failure] of counted) failure.takeBack();
      },
      stands: () => counted.filter(([, failure]) => failure.stands()).map(([bucket]) => bucket),
    };
  }

  /** Empties the buckets that applied and makes the pair known good. */
  succeeded(attempter: Attempter): void {
    if (!this.#isKnownGood(attempter)) {
      this.#byUser.empty(attempter.user);
      this.#byAddress.empty(attempter.source);
    }
    this.#byPair.empty(pair(attempter));
    this.#knownGood.delete(pair(attempter));
    this.#knownGood.set(pair(attempter), this.#clock.monotonic() + KNOWN_GOOD_MS);
    const [oldest = ''] = this.#knownGood.size > KNOWN_GOOD_CAPACITY ? this.#knownGood.keys() : [];
    this.#knownGood.delete(oldest);
  }

  /** Nobody here knows when a bucket filled elsewhere: at worst, its whole window is still to come. */
  #userWaitMs({ user, isLimited }: Attempter): number {
    return this.#byUser.waitMs(user) || (isLimited ? this.#windowMs : 0);
  }

  #isKnownGood(attempter: Attempter): boolean {
    const until = this.#knownGood.get(pair(attempter));
    return until !== undefined && until > this.#clock.monotonic();
  }
}

/** One key for a user, by whichever name; another for each text that names nobody, long ones shortened. */
export function bucketKey(user: User | undefined, typed: string): string {
  if (user) return `user:${user.name}`;
  return `text:${typed.length <= 64 ? typed : createHash('sha256').update(typed).digest('base64url')}`;
}

const pair = (attempter: Attempter): string => `${attempter.source}\n${attempter.user}`;

const full = (bucket: BucketName, waitMs: number): Throttled | undefined =>
  waitMs > 0 ? { bucket, waitMs } : undefined;
