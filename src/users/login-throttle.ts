import { createHash } from 'node:crypto';
import type { Clock } from '../runtime/clock.ts';
import { type BucketOptions, FailureBuckets } from '../runtime/failure-bucket.ts';
import { KnownGood } from '../runtime/known-good.ts';
import { foldedEmail } from './email-index.ts';
import type { Spellings } from './sign-in.ts';

export interface ThrottleOptions {
  /** Failures per user, known or not; a known-good pair has a bucket of its own with the same limit. */
  readonly user: BucketOptions;
  /** Failures per source address. */
  readonly address: BucketOptions;
}

/** Who tries to sign in, as far as the buckets need it. */
export interface Attempter {
  /** The user that the typed text names, by name or by e-mail; `undefined` when it names nobody. */
  readonly user: string | undefined;
  readonly typed: string;
  readonly source: string;
  /**
   * Whose word it is that this user is limited: an operator's, which everybody is told; or that of a replica where the
   * bucket of the user filled, which counts here as if it had filled here.
   */
  readonly limitedBy: 'operator' | 'replica' | undefined;
}

/** The values of the `bucket` label of `gatehouse_login_throttled_total` and in the event `sign_in_throttled`. */
export type BucketName = 'user' | 'address' | 'known_good';

/** The bucket that turned an attempt away. */
export interface Throttled {
  readonly bucket: BucketName;
  readonly waitMs: number;
}

/** A failure counted before its outcome is known. Either `takeBack` or `stands` is called. */
export interface CountedAttempt {
  /**
   * False when other spellings, or attempts at other replicas, have used up this user's attempts. The attempt then costs
   * a dummy compare and is refused.
   */
  readonly mayMatch: boolean;
  /**
   * It was no failure, or nobody knows. It is taken back where it was counted, even if the next one would be counted
   * elsewhere.
   */
  takeBack(): void;
  /** It was a failure. Returns the buckets that it filled. */
  stands(): readonly BucketName[];
}

/**
 * Limits password guesses without locking anybody out (N-15). At an address where a user succeeded in the last day with
 * the same spelling, only failures of that user from that address count, so a stranger cannot keep the owner out. With
 * another spelling the owner counts as a stranger, too: otherwise the answer would reveal that both spellings are one
 * person.
 *
 * The answer depends on the typed text and the address, never on the user behind the text: a 429 does not reveal that a
 * name is known, or that a name and an e-mail belong to one person. Whether the stored hash is compared also depends on
 * the user, whose spellings share one bucket. If that bucket is full, here or on another replica, and the bucket of the
 * text is not, the attempt gets a dummy compare and the answer of a wrong password, and counts only where it would count
 * for a text that names nobody. Only the word of an operator in the users file is told to everybody.
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
    // When the operator's word ends, nobody knows: at worst, a whole window is still to come.
    const isStated = attempter.limitedBy === 'operator' && !this.#goodPairs.has(keys.pair);
    const statedMs = isStated ? this.#windowMs : 0;
    const byText = full('user', this.#byText.waitMs(keys.text) || statedMs);
    const byAddress = full('address', this.#byAddress.waitMs(attempter.source));
    return byText && byAddress ? (byText.waitMs >= byAddress.waitMs ? byText : byAddress) : (byText ?? byAddress);
  }

  /** Counts a failure in its buckets, before its outcome is known. */
  failed(attempter: Attempter): CountedAttempt {
    const tries = this.#tries(attempter);
    const mayMatch = tries?.buckets.waitMs(tries.key) === 0 && !this.#isFullElsewhere(attempter);
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
   * Empties the buckets that applied and makes the pair known good. The buckets of the user's other spellings stay as
   * they are: if two of them opened at the same moment, that would reveal that they belong together. At an address that
   * is known good already, nothing else is emptied: otherwise a user who has a password of their own could go on guessing
   * from there for ever.
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

  /** Empties every bucket of a user, for all addresses and spellings. The buckets of addresses stay. */
  unlock({ name, email }: Spellings): void {
    this.#byUser.empty(name);
    for (const text of [name, email]) if (text) this.#byText.empty(textKey(text));
    this.#byPair.emptyWhere((key) => key.endsWith(`\n${name}`));
    this.#byPairText.emptyWhere((key) => key.includes(`\n${name}\n`));
  }

  /**
   * The user succeeded at this address `ageMs` ago, as a login record says. It does not say by which spelling, so both
   * count.
   */
  known({ name, email }: Spellings, source: string, ageMs: number): void {
    for (const typed of [name, email]) {
      if (!typed) continue;
      const keys = toKeys({ user: name, typed, source });
      this.#goodPairs.add(keys.pair, ageMs);
      this.#goodTexts.add(keys.pairText, ageMs);
    }
  }

  #isFullElsewhere(attempter: Attempter): boolean {
    return attempter.limitedBy === 'replica' && !this.#goodPairs.has(toKeys(attempter).pair);
  }

  /** The bucket that limits compares with the stored hash. All spellings share it, so only this one is reported. */
  #tries({ user, ...attempter }: Attempter): Counting | undefined {
    if (user === undefined) return undefined;
    const { pair } = toKeys({ user, ...attempter });
    return this.#goodPairs.has(pair)
      ? { buckets: this.#byPair, key: pair, toldAs: 'known_good' }
      : { buckets: this.#byUser, key: user, toldAs: 'user' };
  }

  /** The buckets that the answer depends on. Those of a text are reported only when the text names no user. */
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
  /** Its name in the event; absent when it is not reported. */
  readonly toldAs?: BucketName;
}

interface Keys {
  readonly text: string;
  /** User and source. */
  readonly pair: string;
  /** User and source, by this spelling. */
  readonly pairText: string;
}

/** The case of an address counts no more than at the sign-in: else each of its spellings would have five tries of its own. */
function textKey(typed: string): string {
  const text = typed.includes('@') ? foldedEmail(typed) : typed;
  return text.length <= 64 ? text : createHash('sha256').update(text).digest('base64url');
}

/** Names and addresses have no line break, so no key reads as another. A pair without a user is never known good. */
function toKeys({ user = '', typed, source }: Pick<Attempter, 'user' | 'typed' | 'source'>): Keys {
  const text = textKey(typed);
  const pair = `${source}\n${user}`;
  return { text, pair, pairText: `${pair}\n${text}` };
}

const full = (bucket: BucketName, waitMs: number): Throttled | undefined =>
  waitMs > 0 ? { bucket, waitMs } : undefined;
