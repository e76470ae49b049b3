import type { Counter } from 'prom-client';
import type { Clock } from '../clock.ts';
import type { Identity, Verification } from '../oauth/identity.ts';
import { createTextDigest } from '../oauth/text-digest.ts';
import type { Logger } from '../observability/logger.ts';
import { PacedCalls } from '../paced-calls.ts';
import type { Random } from '../random.ts';
import { type StatusError, serviceUnavailable } from '../status-error.ts';
import { RefusalBudget } from './refusal-budget.ts';
import { type ReviewedToken, ReviewedTokens } from './reviewed-tokens.ts';
import { claimsFault, expiresAtOf } from './service-account-claims.ts';

/** What of the cluster is asked. */
export interface TokenReviewer {
  /**
   * The service account that a token for `audience` stands for, `undefined` when there is none. Rejects when there is no answer,
   * with an `Error & CallFault`.
   */
  review(token: string, audience: string, signal: AbortSignal): Promise<ServiceAccount | undefined>;
}

interface ServiceAccount {
  readonly username: string;
  readonly uid: string;
  readonly groups: readonly string[];
}

export interface ServiceAccountTokenParts {
  readonly reviewer: TokenReviewer;
  readonly clock: Clock;
  readonly random: Random;
  /** Of bearers, by result. */
  readonly verifications: Counter<'result'>;
  readonly logger: Logger;
}

type Claims = Readonly<Record<string, unknown>>;

/**
 * As long as kube-apiserver itself remembers a good token (`TokenSuccessCacheTTL`): the token of a deleted pod or service
 * account is refused within the two, 20 s. One review in 10 s for each caller is next to nothing.
 */
const LIFETIME_MS = 10_000;
/** How long a good token is good while the cluster gives no answer: a restart of the API server, not an outage. */
const MAX_STALE_MS = 60_000;
/**
 * The pause is short beside the minute in which known answers hold, so that they are renewed before they are over. A cluster that
 * says how long it wants not to be asked (`Retry-After`) is obeyed all the same.
 */
const REVIEWS = { maxInFlight: 16, maxWaiting: 64, timeoutMs: 3_000, longestPauseMs: 5_000 };
const KNOWN = {
  fail: 'token reviews fail; known answers hold for a minute',
  recover: 'token reviews are answered again',
};
const UNKNOWN = {
  fail: 'reviews of unknown tokens fail',
  recover: 'reviews of unknown tokens are answered again',
};
/** Reviews without a good end. No honest caller is refused again and again; the API server feels nothing of 50 in a second. */
const REFUSALS_PER_SECOND = 50;

const INVALID = { fault: 'invalid' } as const;

/** Callers in the cluster, by their projected service account tokens (https://kubernetes.io/docs/concepts/storage/projected-volumes/). */
export class ServiceAccountTokens {
  readonly #audience: string;
  readonly #parts: ServiceAccountTokenParts;
  readonly #digest: (text: string) => string;
  readonly #reviewed = new ReviewedTokens();
  /** Of tokens that are known to be good, and of all others: what anybody can send takes no slot of the known, nor pauses them. */
  readonly #reviews: { readonly known: PacedCalls<Verification>; readonly unknown: PacedCalls<Verification> };
  readonly #budget: RefusalBudget;

  constructor(audience: string, parts: ServiceAccountTokenParts) {
    this.#audience = audience;
    this.#parts = parts;
    this.#digest = createTextDigest(parts.random);
    this.#reviews = {
      known: new PacedCalls({ ...REVIEWS, words: KNOWN }, parts),
      unknown: new PacedCalls({ ...REVIEWS, words: UNKNOWN }, parts),
    };
    this.#budget = new RefusalBudget(REFUSALS_PER_SECOND, parts.clock);
  }

  /** What the cluster said of this token a moment ago; `undefined` when it has to be asked. */
  known(text: string): Verification | undefined {
    const token = this.#reviewed.get(this.#digest(text));
    return token && this.#isWithin(LIFETIME_MS, token) ? this.#remembered(token) : undefined;
  }

  /**
   * Refuses at once what the claims rule out, then asks the cluster. Throws or rejects with a 503 `StatusError` when it
   * gives no answer and none is known: never "good", and never "bad" either.
   */
  verify(text: string, claims: Claims): Verification | Promise<Verification> {
    const fault = claimsFault(claims, { audience: this.#audience, nowMs: this.#parts.clock.now() });
    if (fault) return this.#counted({ fault });
    const digest = this.#digest(text);
    const last = this.#reviewed.get(digest);
    const good = last?.identity && this.#isWithin(MAX_STALE_MS, last) ? last : undefined;
    // What is known to be good is asked for again whatever others send.
    if (!good && this.#budget.isSpent) throw serviceUnavailable(UNAVAILABLE, 1);
    const reviews = good ? this.#reviews.known : this.#reviews.unknown;
    const review = reviews.once(digest, () => this.#review(reviews, digest, { text, expiresAt: expiresAtOf(claims) }));
    // Nobody with an answer waits for a cluster that fails: the probe goes on behind that answer.
    if (good && reviews.isPaused) return this.#remembered(good);
    if (!review) throw unavailable();
    return review.then(
      (verification) => this.#counted(verification),
      (cause) => {
        if (good && this.#isWithin(MAX_STALE_MS, good)) return this.#remembered(good);
        throw unavailable(cause);
      },
    );
  }

  #isWithin = (ms: number, { at, expiresAt }: ReviewedToken): boolean =>
    this.#parts.clock.monotonic() - at < ms && this.#parts.clock.now() < expiresAt;

  #remembered = ({ identity }: ReviewedToken): Verification =>
    this.#counted(identity ? { identity, cached: true } : INVALID);

  #counted(verification: Verification): Verification {
    this.#parts.verifications.inc({
      result: 'fault' in verification ? verification.fault : verification.cached ? 'cached' : 'ok',
    });
    return verification;
  }

  async #review(
    reviews: PacedCalls<Verification>,
    digest: string,
    { text, expiresAt }: { text: string; expiresAt: number },
  ): Promise<Verification> {
    const { reviewer, clock } = this.#parts;
    const at = clock.monotonic();
    try {
      const account = await reviews.run((signal) => reviewer.review(text, this.#audience, signal));
      const identity = account && toIdentity(account);
      if (!identity) this.#budget.spend();
      this.#reviewed.set(digest, { ...(identity && { identity }), at, expiresAt });
      return identity ? { identity, cached: false } : INVALID;
    } catch (error) {
      this.#budget.spend();
      throw error;
    }
  }
}

/** Name, uid and groups as the cluster says; it names `system:authenticated` itself, but need not. */
const toIdentity = ({ username, uid, groups }: ServiceAccount): Identity => ({
  name: username,
  uid,
  groups: groups.includes('system:authenticated') ? groups : [...groups, 'system:authenticated'],
});

const UNAVAILABLE = 'service account tokens cannot be checked now';

const unavailable = (cause?: unknown): StatusError => serviceUnavailable(UNAVAILABLE, 5, cause);
