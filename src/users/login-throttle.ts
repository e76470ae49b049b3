import { createHash } from 'node:crypto';
import type { Clock } from '../runtime/clock.ts';
import { type BucketOptions, FailureBuckets } from '../runtime/failure-bucket.ts';
import { KnownGood } from '../runtime/known-good.ts';

export interface ThrottleOptions {
  /** Failures per user, known or not; a known-good pair has a bucket of its own with the same limit. */
  readonly user: BucketOptions;
  /** Failures per source address. */
  readonly address: BucketOptions;
}

/** Who tries, as the buckets know them. */
export interface Attempter {
  /** The name of the user whom the typed text names, by name or by e-mail; `undefined` when it names nobody. */
  readonly user: string | undefined;
  readonly typed: string;
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

/** A failure counted ahead of its outcome: either `takeBack` or `stands` is called. */
export interface CountedAttempt {
  /** False: other spellings have used up this user's tries. The attempt costs a dummy compare and is refused. */
  readonly mayMatch: boolean;
  /** It was no failure, or nobody knows; taken back where it was counted, wherever the next one would belong by then. */
  takeBack(): void;
  /** It was one: the buckets that it made full. */
  stands(): readonly BucketName[];
}

/**
 * Limits password guesses without locking anybody out (N-15): from an address where a user succeeded in the last day,
 * by the same spelling, only failures from that address for that user count, so a stranger cannot keep the owner out. By
 * another spelling the owner is a stranger too: else the answer would tell that both are one person.
 *
 * What is answered depends on the typed text and on the address, never on whose text it is: a 429 tells nobody that a name
 * is known, or that a name and an e-mail belong to one person. What is compared depends on the user too, whose spellings
 * share one bucket: when it is full and that of the text is not, the attempt gets a dummy compare and the answer of a wrong
 * password, and counts only where it would count for a text that names nobody.
 */
export class LoginThrottle {
  readonly #byText: FailureBuckets;
  readonly #byUser: FailureBuckets;
  readonly #byAddress: FailureBuckets;
  readonly #byPair: FailureBuckets;
  readonly #byPairText: FailureBuckets;
  readonly #goodPairs: KnownGood;
  readonly #goodTexts: KnownGood;
  readonly #windowMs: number;

  constructor(options: ThrottleOptions, clock: Clock) {
    this.#byText = new FailureBuckets(options.user, clock);
    this.#byUser = new FailureBuckets(options.user, clock);
    this.#byAddress = new FailureBuckets(options.address, clock);
    this.#byPair = new FailureBuckets(options.user, clock);
    this.#byPairText = new FailureBuckets(options.user, clock);
    this.#goodPairs = new KnownGood(clock);
    this.#goodTexts = new KnownGood(clock);
    this.#windowMs = options.user.windowMs;
  }

  /** The full bucket that applies, if one does. */
  check(attempter: Attempter): Throttled | undefined {
    const keys = toKeys(attempter);
    if (this.#goodTexts.has(keys.pairText)) return full('known_good', this.#byPairText.waitMs(keys.pairText));
    // Nobody here knows when a bucket filled elsewhere: at worst, its whole window is still to come.
    const statedMs = attempter.isLimited && !this.#goodPairs.has(keys.pair) ? this.#windowMs : 0;
    const byText = full('user', this.#byText.waitMs(keys.text) || statedMs);
    const byAddress = full('address', this.#byAddress.waitMs(attempter.source));
    return byText && byAddress ? (byText.waitMs >= byAddress.waitMs ? byText : byAddress) : (byText ?? byAddress);
  }

  /** Counts a failure where it belongs, ahead of its outcome. */
  failed(attempter: Attempter): CountedAttempt {
    const tries = this.#tries(attempter);
    const mayMatch = tries?.buckets.waitMs(tries.key) === 0;
    const counted = [...this.#answered(attempter), ...(tries && mayMatch ? [tries] : [])].map(
      ({ buckets, key, toldAs }) => ({ failure: buckets.add(key), toldAs }),
    );
    return {
      mayMatch,
      takeBack: () => {
        for (const { failure } of counted) failure.takeBack();
      },
      stands: () => counted.flatMap(({ failure, toldAs }) => (toldAs && failure.stands() ? [toldAs] : [])),
    };
  }

  /**
   * Empties the buckets that applied and makes the pair known good. The buckets of the user's other spellings stay: two
   * that open at one moment would belong together. At a known good address nothing else is emptied: whoever has a password
   * of his own could otherwise go on guessing from there for ever.
   */
  succeeded(attempter: Attempter): void {
    const keys = toKeys(attempter);
    if (attempter.user !== undefined && !this.#goodPairs.has(keys.pair)) {
      this.#byUser.empty(attempter.user);
      this.#byText.empty(keys.text);
      this.#byAddress.empty(attempter.source);
    }
    this.#byPair.empty(keys.pair);
    this.#byPairText.empty(keys.pairText);
    this.#goodPairs.add(keys.pair);
    this.#goodTexts.add(keys.pairText);
  }

  /** The bucket that limits compares with the stored hash. One for all spellings, so it alone is told of. */
  #tries({ user, ...attempter }: Attempter): Counting | undefined {
    if (user === undefined) return undefined;
    const { pair } = toKeys({ user, ...attempter });
    return this.#goodPairs.has(pair)
      ? { buckets: this.#byPair, key: pair, toldAs: 'known_good' }
      : { buckets: this.#byUser, key: user, toldAs: 'user' };
  }

  /** The buckets that the answer depends on. Those of a text are told of when it has no user to tell of. */
  #answered(attempter: Attempter): readonly Counting[] {
    const { text, pairText } = toKeys(attempter);
    if (this.#goodTexts.has(pairText)) return [{ buckets: this.#byPairText, key: pairText }];
    return [
      { buckets: this.#byText, key: text, ...(attempter.user === undefined ? { toldAs: 'user' } : {}) },
      { buckets: this.#byAddress, key: attempter.source, toldAs: 'address' },
    ];
  }
}

interface Counting {
  readonly buckets: FailureBuckets;
  readonly key: string;
  /** How the event names it; absent when it is not told of. */
  readonly toldAs?: BucketName;
}

interface Keys {
  readonly text: string;
  /** User and source. */
  readonly pair: string;
  /** User and source, by this spelling. */
  readonly pairText: string;
}

/** Names and addresses have no line break, so no key reads as another. Nobody's pair is never known good. */
function toKeys({ user = '', typed, source }: Attempter): Keys {
  const text = typed.length <= 64 ? typed : createHash('sha256').update(typed).digest('base64url');
  const pair = `${source}\n${user}`;
  return { text, pair, pairText: `${pair}\n${text}` };
}

const full = (bucket: BucketName, waitMs: number): Throttled | undefined =>
  waitMs > 0 ? { bucket, waitMs } : undefined;
