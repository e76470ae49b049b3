import { createHash } from 'node:crypto';
import type { Clock } from '../runtime/clock.ts';
import { KnownGood } from '../runtime/known-good.ts';
import { FailureThrottle, type ThrottleLimit } from '../runtime/limits/failure-throttle.ts';
import { foldedEmail } from './email-index.ts';
import type { Spellings } from './sign-in.ts';

export interface LoginThrottleOptions {
  /** The limit on failures per user, known or not; a known-good pair of user and address has its own bucket with the same limit. */
  readonly user: ThrottleLimit;
  /** The limit on failures per source address. */
  readonly address: ThrottleLimit;
}

/** What the buckets need to know about a sign-in attempt. */
export interface Attempter {
  /** The user that the typed text names, by name or by e-mail; `undefined` when it names nobody. */
  readonly user: string | undefined;
  readonly typed: string;
  readonly source: string;
  /**
   * Who has limited this user: an operator in the users file, which the answer shows to everybody; or a replica where the
   * bucket of the user is full, which counts as if that bucket were full here.
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
   * Removes the failure again, because the attempt succeeded or its outcome is unknown. It is removed from the buckets where it
   * was counted, even if the next failure would be counted elsewhere.
   */
  takeBack(): void;
  /** Confirms the failure. Returns the buckets that it filled. */
  stands(): readonly BucketName[];
}

/**
 * Limits password guesses without locking anybody out (N-15). At an address where a user signed in during the last day with
 * the same spelling (name or e-mail), only failures of that user from that address count, so a stranger cannot keep the owner
 * out. With the other spelling the owner counts as a stranger, too: otherwise the answer would reveal that both spellings belong
 * to one person.
 *
 * The answer depends on the typed text and the address, never on the user behind the text: a 429 does not reveal that a
 * name is known, or that a name and an e-mail belong to one person. Whether the stored hash is compared also depends on
 * the user, whose spellings share one bucket. If that bucket is full, here or on another replica, and the bucket of the
 * text is not, the attempt gets a dummy compare and the answer of a wrong password, and counts only where it would count
 * for a text that names nobody. Only a limit that an operator sets in the users file is visible in the answer.
 */
export class LoginThrottle {
  readonly #byText: FailureThrottle;
  readonly #byUser: FailureThrottle;
  readonly #byAddress: FailureThrottle;
  readonly #byPair: FailureThrottle;
  readonly #byPairText: FailureThrottle;
  readonly #goodPairs: KnownGood;
  readonly #goodTexts: KnownGood;
  readonly #windowMs: number;

  constructor(options: LoginThrottleOptions, clock: Clock) {
    this.#byText = new FailureThrottle(options.user, clock);
    this.#byUser = new FailureThrottle(options.user, clock);
    this.#byAddress = new FailureThrottle(options.address, clock);
    this.#byPair = new FailureThrottle(options.user, clock);
    this.#byPairText = new FailureThrottle(options.user, clock);
    this.#goodPairs = new KnownGood(clock);
    this.#goodTexts = new KnownGood(clock);
    this.#windowMs = options.user.windowMs;
  }

  /** The full bucket that applies, if one does. */
  check(attempter: Attempter): Throttled | undefined {
    const keys = toKeys(attempter);
    if (this.#goodTexts.has(keys.pairText)) return full('known_good', this.#byPairText.waitMs(keys.pairText));
    // It is unknown when an operator's limit ends, so the answer gives the longest wait: a whole window.
    const isStated = attempter.limitedBy === 'operator' && !this.#goodPairs.has(keys.pair);
    const statedMs = isStated ? this.#windowMs : 0;
    const byText = full('user', this.#byText.waitMs(keys.text) || statedMs);
    const byAddress = full('address', this.#byAddress.waitMs(attempter.source));
    return byText && byAddress ? (byText.waitMs >= byAddress.waitMs ? byText : byAddress) : (byText ?? byAddress);
  }

  /** Counts the attempt as a failure in its buckets, before its outcome is known. */
  failed(attempter: Attempter): CountedAttempt {
    const tries = this.#tries(attempter);
    const mayMatch = tries?.throttle.waitMs(tries.key) === 0 && !this.#isFullElsewhere(attempter);
    const counted = [...this.#answered(attempter), ...(tries && mayMatch ? [tries] : [])].map(
      ({ throttle, key, reportedAs }) => ({ failure: throttle.add(key), reportedAs }),
    );
    return {
      mayMatch,
      takeBack: () => {
        for (const { failure } of counted) failure.takeBack();
      },
      stands: () => counted.flatMap(({ failure, reportedAs }) => (reportedAs && failure.stands() ? [reportedAs] : [])),
    };
  }

  /**
   * Empties the buckets that applied and makes the pair of user and address known good. The bucket of the user's other spelling
   * stays as it is: if both became free at the same moment, that would reveal that they belong together. At an address that is
   * known good already, only the pair's own buckets are emptied: otherwise users could sign in with their own password again and
   * again, and go on guessing other passwords from there for ever.
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
   * Makes the pair known good, because a login record says that the user signed in from this address `ageMs` ago. The record
   * does not say whether the user typed the name or the e-mail address, so both become known good.
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

  /** The bucket that limits compares with the stored hash. Both spellings share it, so it is the one that is reported. */
  #tries({ user, ...attempter }: Attempter): Counting | undefined {
    if (user === undefined) return undefined;
    const { pair } = toKeys({ user, ...attempter });
    return this.#goodPairs.has(pair)
      ? { throttle: this.#byPair, key: pair, reportedAs: 'known_good' }
      : { throttle: this.#byUser, key: user, reportedAs: 'user' };
  }

  /** The buckets that the answer depends on. The bucket of a text is reported only when the text names no user. */
  #answered(attempter: Attempter): readonly Counting[] {
    const { text, pairText } = toKeys(attempter);
    if (this.#goodTexts.has(pairText)) return [{ throttle: this.#byPairText, key: pairText }];
    return [
      { throttle: this.#byText, key: text, ...(attempter.user === undefined ? { reportedAs: 'user' } : {}) },
      { throttle: this.#byAddress, key: attempter.source, reportedAs: 'address' },
    ];
  }
}

interface Counting {
  readonly throttle: FailureThrottle;
  readonly key: string;
  /** The bucket's name in the event; absent when it is not reported. */
  readonly reportedAs?: BucketName;
}

interface Keys {
  readonly text: string;
  /** User and source address. */
  readonly pair: string;
  /** User, source address and this spelling. */
  readonly pairText: string;
}

/** Ignores the case of an e-mail, as the sign-in does: otherwise each way to write it would have five attempts of its own. */
function textKey(typed: string): string {
  const text = typed.includes('@') ? foldedEmail(typed) : typed;
  return text.length <= 64 ? text : createHash('sha256').update(text).digest('base64url');
}

/** Names and addresses have no line break, so two keys are never equal by accident. A pair without a user is never known good. */
function toKeys({ user = '', typed, source }: Pick<Attempter, 'user' | 'typed' | 'source'>): Keys {
  const text = textKey(typed);
  const pair = `${source}\n${user}`;
  return { text, pair, pairText: `${pair}\n${text}` };
}

const full = (bucket: BucketName, waitMs: number): Throttled | undefined =>
  waitMs > 0 ? { bucket, waitMs } : undefined;
