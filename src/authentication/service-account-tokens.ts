import type { Counter } from 'prom-client';
import type { CompactJws } from '../oauth/tokens/compact-jws.ts';
import type { TokenFault, Verification } from '../oauth/tokens/identity.ts';
import type { Logger } from '../observability/logger.ts';
import type { Clock } from '../runtime/clock.ts';
import { orKnown } from '../runtime/known-answer.ts';
import { TooManyCalls } from '../runtime/limits/bounded-calls.ts';
import { createTextDigest, type Random } from '../runtime/random.ts';
import { type StatusError, serviceUnavailable, tooManyRequests } from '../status-error.ts';
import { type ReviewedToken, ReviewedTokens } from './reviewed-tokens.ts';
import { ReviewThrottle, type TokenQuestion, TokenQuestions, type TokenReviewer } from './token-questions.ts';

/**
 * The verdict on a signature, without a question to the cluster about the token. `unproven`: we could never read the keys.
 * `unavailable`: the key is unknown, and we cannot read the keys again now. `overloaded`: too many tokens are waiting
 * already, for the keys or for a slow verification.
 */
export type SignatureVerdict = 'good' | 'bad' | 'unproven' | 'unavailable' | 'overloaded';

/** Checks signatures with the cluster's own keys. */
interface SignatureCheck {
  check(jws: CompactJws, source: string): SignatureVerdict | Promise<SignatureVerdict>;
}

export interface ServiceAccountTokenParts {
  readonly reviewer: TokenReviewer;
  readonly keys: SignatureCheck;
  readonly clock: Clock;
  readonly random: Random;
  /** Counts bearers, by result. */
  readonly verifications: Counter<'result'>;
  readonly logger: Logger;
}

/**
 * How long an answer is used without a new review. kube-apiserver itself remembers a good token for the same time
 * (`TokenSuccessCacheTTL`), so the token of a deleted pod or service account is refused within 20 s. One review in 10 s for
 * each caller is next to nothing.
 */
const LIFETIME_MS = 10_000;
/**
 * How long a good token stays good while the cluster gives no answer: enough for a restart of the API server, not for
 * an outage.
 */
const MAX_STALE_MS = 60_000;
const KNOWN = {
  fail: 'token reviews fail; known answers hold for a minute',
  recover: 'token reviews are answered again',
};
const UNKNOWN = {
  fail: 'reviews of unknown tokens fail',
  recover: 'reviews of unknown tokens are answered again',
};
/**
 * How many reviews in a second may end without a good answer. No honest caller is refused again and again, and 50 are no
 * load for the API server. One service account may cause ten, for example when some of its pods were just deleted.
 */
const REFUSALS = { inAll: 50, ofOne: 10 };
/** Tokens that are refused for overload within this time of each other are logged as one event. */
const EPISODE_MS = 10_000;

const INVALID = { fault: 'invalid' } as const;

/**
 * Authenticates callers in the cluster by their projected service account tokens
 * (https://kubernetes.io/docs/concepts/storage/projected-volumes/).
 */
export class ServiceAccountTokens {
  readonly #audience: string;
  readonly #parts: ServiceAccountTokenParts;
  readonly #digest: (text: string) => string;
  readonly #reviewed = new ReviewedTokens();
  /**
   * Reviews of tokens that are known to be good are separate from all other reviews. So the tokens that anybody can send
   * take no seats from the known ones, and do not pause their reviews.
   */
  readonly #questions: { readonly known: TokenQuestions; readonly unknown: TokenQuestions };
  readonly #throttle: ReviewThrottle;
  #turnedAwayAt = Number.NEGATIVE_INFINITY;

  constructor(audience: string, parts: ServiceAccountTokenParts) {
    this.#audience = audience;
    this.#parts = parts;
    this.#digest = createTextDigest(parts.random);
    this.#throttle = new ReviewThrottle(REFUSALS, parts.clock);
    const { reviewer, clock, random, logger } = parts;
    const asked = { reviewer, audience, reviewed: this.#reviewed, throttle: this.#throttle, clock, random, logger };
    this.#questions = { known: new TokenQuestions(KNOWN, asked), unknown: new TokenQuestions(UNKNOWN, asked) };
  }

  /** The cluster's recent answer about this token; `undefined` if we have to ask the cluster. */
  known(text: string): Verification | undefined {
    const token = this.#reviewed.get(this.#digest(text));
    return token && this.#isWithin(LIFETIME_MS, token) ? this.#remembered(token) : undefined;
  }

  /**
   * Refuses a token at once if its claims or its signature rule it out; otherwise asks the cluster. Throws or rejects with
   * a `StatusError` if there is no answer: 503 if the cluster gives none and none is known, 429 if too many questions are
   * open already. Such a token is judged neither good nor bad. `source`: the address that the token comes from.
   */
  verify(text: string, jws: CompactJws, source: string): Verification | Promise<Verification> {
    const { claims } = jws;
    const fault = claimsFault(claims, { audience: this.#audience, nowMs: this.#parts.clock.now() });
    if (fault) return this.#counted({ fault });
    const subject = claims['sub'] as string;
    const question = { digest: this.#digest(text), text, expiresAt: expiresAtOf(claims), subject };
    const last = this.#reviewed.get(question.digest);
    // A token known to be good has a good signature, so its review is repeated even while others send many bad tokens.
    if (last?.identity && this.#isWithin(MAX_STALE_MS, last)) return this.#askAgain(question, last);
    const signature = this.#parts.keys.check(jws, source);
    return signature instanceof Promise
      ? signature.then((verdict) => this.#judge(verdict, question))
      : this.#judge(signature, question);
  }

  #judge(signature: SignatureVerdict, question: TokenQuestion): Verification | Promise<Verification> {
    switch (signature) {
      case 'good':
        return this.#askFirst(question);
      case 'unproven':
        return this.#askFirst({ ...question, subject: undefined });
      case 'bad':
        return this.#counted(INVALID);
      case 'overloaded':
        throw this.#overloaded(undefined);
      case 'unavailable':
        throw unavailable();
      default:
        return signature satisfies never;
    }
  }

  #askFirst(question: TokenQuestion): Promise<Verification> {
    const { unknown } = this.#questions;
    // The throttle has no effect while the cluster fails. Then we ask only one question at a time, and the subject is not to
    // blame for the counted failures.
    if (!unknown.isPausedFor(question) && this.#throttle.isFull(question.subject))
      throw this.#overloaded(question.subject);
    return unknown.ask(question).then(this.#counted, (cause) => {
      throw this.#failed(question, cause);
    });
  }

  /** The earlier positive answer holds only if the cluster gives no new one. */
  #askAgain(question: TokenQuestion, good: ReviewedToken): Verification | Promise<Verification> {
    const { known } = this.#questions;
    const review = known.ask(question);
    return orKnown(review, known.isPausedFor(question), {
      answered: this.#counted,
      known: () => (this.#isWithin(MAX_STALE_MS, good) ? this.#remembered(good) : undefined),
      failed: (cause) => this.#failed(question, cause),
    });
  }

  #isWithin = (ms: number, { at, expiresAt }: ReviewedToken): boolean =>
    this.#parts.clock.monotonic() - at < ms && this.#parts.clock.now() < expiresAt;

  #remembered = ({ identity }: ReviewedToken): Verification =>
    this.#counted(identity ? { identity, cached: true } : INVALID);

  #counted = (verification: Verification): Verification => {
    this.#parts.verifications.inc({
      result: 'fault' in verification ? verification.fault : verification.cached ? 'cached' : 'ok',
    });
    return verification;
  };

  #failed({ subject }: TokenQuestion, cause: unknown): StatusError {
    return cause instanceof TooManyCalls ? this.#overloaded(subject, cause) : unavailable(cause);
  }

  /** Counts each refusal for overload, and logs the first of an episode. */
  #overloaded(subject: string | undefined, cause?: unknown): StatusError {
    const { clock, logger, verifications } = this.#parts;
    verifications.inc({ result: 'overloaded' });
    const now = clock.monotonic();
    if (now - this.#turnedAwayAt >= EPISODE_MS)
      logger.warn({ serviceAccount: subject }, 'service account tokens are refused: too many are new at once');
    this.#turnedAwayAt = now;
    return tooManyRequests(BUSY, 1, cause);
  }
}

const BUSY = 'too many service account tokens are being checked, please try again later';

const unavailable = (cause?: unknown): StatusError =>
  serviceUnavailable('service account tokens cannot be checked now', 5, cause);

type RawClaims = Readonly<Record<string, unknown>>;

/** Exactly four parts. We leave the check of the last two, namespace and name, to the cluster. */
const SUBJECT = /^system:serviceaccount:[^:]+:[^:]+$/;

/**
 * Finds a fault in the unverified claims of a token that is enough to refuse it without a review: it is not a service
 * account's, was not issued for us, has expired, or never expires (like the old tokens in Secrets, which name no audience
 * either). Allows no clock skew, because the kubelet replaces a projected token when 80 % of its lifetime is over.
 */
function claimsFault(
  claims: RawClaims,
  expected: { readonly audience: string; readonly nowMs: number },
): TokenFault | undefined {
  const { sub, aud, exp } = claims;
  const isForUs = Array.isArray(aud) ? aud.includes(expected.audience) : aud === expected.audience;
  if (typeof sub !== 'string' || !SUBJECT.test(sub) || !isForUs || !Number.isSafeInteger(exp)) return 'invalid';
  return expiresAtOf(claims) <= expected.nowMs ? 'expired' : undefined;
}

/** Milliseconds since 1970. `exp` must be a number. */
const expiresAtOf = ({ exp }: RawClaims): number => (exp as number) * 1000;
