import type { Identity, Verification } from '../oauth/tokens/identity.ts';
import type { Logger } from '../observability/logger.ts';
import type { Clock } from '../runtime/clock.ts';
import { SharedCalls } from '../runtime/limits/shared-calls.ts';
import type { Random } from '../runtime/random.ts';
import type { ReviewedTokens } from './reviewed-tokens.ts';

/** Asks the cluster about tokens. */
export interface TokenReviewer {
  /**
   * The service account of a token for `audience`; `undefined` when there is none. Rejects when there is no answer,
   * with an `Error & CallFault`.
   */
  review(token: string, audience: string, signal: AbortSignal): Promise<ServiceAccount | undefined>;
}

interface ServiceAccount {
  readonly username: string;
  readonly uid: string;
  readonly groups: readonly string[];
}

/** A token about which we ask the cluster. */
export interface TokenQuestion {
  readonly digest: string;
  readonly text: string;
  /** When the token expires by its own claims, in milliseconds. */
  readonly expiresAt: number;
  /**
   * The service account, if the signature proves it. Service accounts share the reviews fairly. `undefined`: not proven.
   */
  readonly subject: string | undefined;
}

export interface QuestionParts {
  readonly reviewer: TokenReviewer;
  readonly audience: string;
  /** Remembers each answer. */
  readonly reviewed: ReviewedTokens;
  /** Counts the questions without a good answer. */
  readonly throttle: ReviewThrottle;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/**
 * The pause is short compared to the minute in which known answers hold, so that they are renewed in time. A longer
 * `Retry-After` of the cluster is obeyed all the same.
 */
const REVIEWS = { maxInFlight: 16, maxWaiting: 64, timeoutMs: 3_000, longestBackoffMs: 5_000 };
/** The flow of all tokens whose signature cannot be checked. No service account has this name. */
const ANYBODY = 'anybody';

/**
 * The only place that starts token reviews: a limited number at a time, and paused while they fail. Service accounts
 * take turns. None of them has a fixed share: a DaemonSet has a pod for each node, and they all start at once.
 */
export class TokenQuestions {
  readonly #parts: QuestionParts;
  readonly #calls: SharedCalls<Verification>;

  /** Logs `words` when the reviews begin to fail, and when the cluster answers them again. */
  constructor(words: { readonly fail: string; readonly recover: string }, parts: QuestionParts) {
    this.#parts = parts;
    this.#calls = new SharedCalls({ ...REVIEWS, words }, parts);
  }

  /** Whether the cluster is failing for this question. If so, a caller with a known answer should not wait for a new one. */
  isPausedFor({ subject }: TokenQuestion): boolean {
    return this.#calls.isPausedFor(subject ?? ANYBODY);
  }

  /** Makes one review for all callers that ask about a token at the same time. Rejects as `SharedCalls.ask` does. */
  ask = (question: TokenQuestion): Promise<Verification> =>
    this.#calls.ask({ key: question.digest, flow: question.subject ?? ANYBODY }, (signal) =>
      this.#review(question, signal),
    );

  async #review(question: TokenQuestion, signal: AbortSignal): Promise<Verification> {
    const { clock, reviewed } = this.#parts;
    const at = clock.monotonic();
    const account = await this.#call(question, signal);
    const identity = account && toIdentity(account);
    reviewed.set(question.digest, { ...(identity && { identity }), at, expiresAt: question.expiresAt });
    return identity ? { identity, cached: false } : { fault: 'invalid' };
  }

  /** A question that is never sent costs the cluster nothing, so it is not counted. */
  async #call({ text, subject }: TokenQuestion, signal: AbortSignal): Promise<ServiceAccount | undefined> {
    const { reviewer, audience, throttle } = this.#parts;
    try {
      const account = await reviewer.review(text, audience, signal);
      if (!account) throttle.add(subject);
      return account;
    } catch (error) {
      throttle.add(subject);
      throw error;
    }
  }
}

/** The cluster usually includes `system:authenticated` in the groups, but need not. */
const toIdentity = ({ username, uid, groups }: ServiceAccount): Identity => ({
  name: username,
  uid,
  groups: groups.includes('system:authenticated') ? groups : [...groups, 'system:authenticated'],
});

const WINDOW_MS = 1_000;

export interface ReviewThrottleLimits {
  /** In a second, for all subjects together. */
  readonly inAll: number;
  /** In a second, for one subject. */
  readonly ofOne: number;
}

/**
 * Limits the reviews in a second that end without a good answer. Each subject has a share of its own. When the
 * limit of all is reached, a subject that had no such review yet may still ask once. So the load by subjects with a proven identity
 * grows with their number, and only the cluster can create them. Questions without a proven subject stop when the whole
 * limit of all is reached.
 */
export class ReviewThrottle {
  readonly #limits: ReviewThrottleLimits;
  readonly #clock: Clock;
  readonly #countOf = new Map<string, number>();
  #began = Number.NEGATIVE_INFINITY;
  #count = 0;

  constructor(limits: ReviewThrottleLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** `subject`: the proven subject of the question, if there is one. */
  isFull(subject: string | undefined): boolean {
    if (this.#clock.monotonic() - this.#began >= WINDOW_MS) return false;
    const isAllFull = this.#count >= this.#limits.inAll;
    if (subject === undefined) return isAllFull;
    const own = this.#countOf.get(subject) ?? 0;
    return own >= this.#limits.ofOne || (isAllFull && own > 0);
  }

  add(subject: string | undefined): void {
    const now = this.#clock.monotonic();
    if (now - this.#began >= WINDOW_MS) {
      this.#began = now;
      this.#count = 0;
      this.#countOf.clear();
    }
    this.#count++;
    if (subject !== undefined) this.#countOf.set(subject, (this.#countOf.get(subject) ?? 0) + 1);
  }
}
