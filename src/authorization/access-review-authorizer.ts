import type { Registry } from 'prom-client';
import { durationText } from '../data-age.ts';
import type { Logger } from '../observability/logger.ts';
import { BoundedMap } from '../runtime/bounded-map.ts';
import { type Clock, withTimeLimit } from '../runtime/clock.ts';
import { orKnown } from '../runtime/known-answer.ts';
import { TooManyCalls } from '../runtime/limits/bounded-calls.ts';
import { isOfTheQuestion } from '../runtime/limits/circuit-breaker.ts';
import { SharedCalls } from '../runtime/limits/shared-calls.ts';
import type { Random } from '../runtime/random.ts';
import { type StatusError, serviceUnavailable, tooManyRequests } from '../status-error.ts';
import type { AccessReviewer, Decision, ForgetfulAuthorizer, RequestAttributes, Subject } from './authorizer.ts';
import { type Answered, createDecisionKeys, DecisionCache, type DecisionKey } from './decision-cache.ts';
import { decisionCounter, reviewMetrics } from './metrics.ts';
import type { RenewableAnswers, Room } from './question-renewal.ts';
import type { RecentQuestion, RecentQuestions } from './recent-questions.ts';

export interface AccessReviewOptions {
  /** How long an answer is used without a new review. Default 10,000 ms. */
  readonly lifetimeMs?: number;
  /** If an answer older than this is used, a new review begins in the background. Default 5,000 ms. */
  readonly refreshAfterMs?: number;
  /** How long an answer holds while the cluster gives no new one: `authorization.maxStaleness`. Default 600,000 ms. */
  readonly maxStaleMs?: number;
  /** A review that takes longer has failed. Default 3,000 ms. */
  readonly timeoutMs?: number;
  /** How many answers are remembered. Default 10,000. */
  readonly maxEntries?: number;
  /** How many answers of one subject are remembered. Default 1,000. */
  readonly maxEntriesOfOne?: number;
  /** How many reviews may be in flight; fewer while those of several subjects are slow. Default 64. */
  readonly maxInFlight?: number;
  /** How many may be in flight at first, until answers show that the cluster can take more. Default 32. */
  readonly firstInFlight?: number;
  /** How many reviews of one subject may be in flight; fewer while they fail or are slow. Default 16. */
  readonly maxInFlightOfOne?: number;
  /** Like `firstInFlight`, for one subject. Default 8. */
  readonly firstInFlightOfOne?: number;
  /** How many reviews may wait for their turn. Further ones are refused. Default 192. */
  readonly maxWaiting?: number;
  /** How many reviews of one subject may wait. Default 48. */
  readonly maxWaitingOfOne?: number;
}

export interface AccessReviewParts {
  readonly reviewer: AccessReviewer;
  readonly clock: Clock;
  readonly random: Random;
  readonly registry: Registry;
  readonly logger: Logger;
  /** Records the questions whose answers we renew in the background, to be ready for an outage. Absent: none. */
  readonly recent?: RecentQuestions | undefined;
}

/** An authorizer by access reviews whose answers can be renewed before a caller asks. */
export type AccessReviewAuthorizer = ForgetfulAuthorizer & RenewableAnswers;

const DEFAULTS = {
  lifetimeMs: 10_000,
  // If the cluster hangs, the review in the background fails 3 s later. Callers would have to wait for it 2 s after that.
  refreshAfterMs: 5_000,
  maxStaleMs: 600_000,
  timeoutMs: 3_000,
  maxEntries: 10_000,
  // Enough for the nodes of a large cluster by name. It takes ten such subjects to push out the answers of others.
  maxEntriesOfOne: 1_000,
  maxInFlight: 64,
  // One subject may have a quarter, also of the queue. With 40 ms for a review that is 400 new questions a second, and
  // the others always find three seats of four free.
  maxInFlightOfOne: 16,
  // A cluster that takes only 20 a second is 1.6 s behind when this many begin at once. With 64 it would be more than
  // our timeout.
  firstInFlight: 32,
  firstInFlightOfOne: 8,
  // Together with those in flight, half of the 512 requests that may be under way. The others can be answered from
  // memory meanwhile.
  maxWaiting: 192,
  maxWaitingOfOne: 48,
};

/** A webhook that hangs for one or two users is no outage for the others. */
const LEAST_FAILED_FLOWS = 3;
/** While callers take more than this share of the reviews in flight, few answers are renewed in the background. */
const QUIET_SHARE = 1 / 8;
/** For how many users the last `forget` is remembered. A review that began before it must not bring back an old answer. */
const MOST_FORGOTTEN = 1_000;

const WORDS = {
  fail: 'access reviews fail; known answers hold for a while',
  recover: 'access reviews are answered again',
  overload: 'a caller asks for more access reviews than its share: requests without a known answer get 429',
  full: 'all places for access reviews are taken: requests without a known answer get 429',
};

const ANSWERS = {
  cache: { true: { allowed: true, source: 'cache' }, false: { allowed: false, source: 'cache' } },
  review: { true: { allowed: true, source: 'review' }, false: { allowed: false, source: 'review' } },
  stale: { true: { allowed: true, source: 'stale' }, false: { allowed: false, source: 'stale' } },
} as const satisfies Record<string, Record<'true' | 'false', Decision>>;

const decisionOf = (source: keyof typeof ANSWERS, allowed: boolean): Decision => ANSWERS[source][`${allowed}`];

/** A caller's question. */
interface Asked {
  readonly subject: Subject;
  readonly attributes: RequestAttributes;
}

/**
 * Asks the cluster by SubjectAccessReview and remembers the answer for seconds; errors are never remembered.
 *
 * It renews an answer in use before the answer expires, so that no caller with a known answer waits for a review. While
 * reviews fail, all questions share one pause: a caller with a known answer gets it at once, and one without is refused at
 * once. An old answer holds only if the cluster gives no decision: it is silent, fails, or refuses us. If we have too many
 * reviews in flight ourselves, no old answer holds; the caller gets a 429. Each subject has a share of the reviews, so
 * that the 429 goes to the subject who asks too much.
 */
export function createAccessReviewAuthorizer(
  options: AccessReviewOptions,
  parts: AccessReviewParts,
): AccessReviewAuthorizer {
  return new ReviewingAuthorizer({ ...DEFAULTS, ...options }, parts);
}

class ReviewingAuthorizer implements AccessReviewAuthorizer {
  readonly #options: typeof DEFAULTS;
  readonly #parts: AccessReviewParts;
  readonly #cache: DecisionCache;
  readonly #keyOf = createDecisionKeys();
  readonly #reviews: SharedCalls<boolean>;
  /** Answers whose refresh is still under way. It began before they expired. */
  readonly #refreshing = new WeakSet<Answered>();
  readonly #forgottenAt = new BoundedMap<number>(MOST_FORGOTTEN);
  readonly #count: ReturnType<typeof decisionCounter>;
  readonly #observe: (seconds: number) => void;

  constructor(options: typeof DEFAULTS, parts: AccessReviewParts) {
    const { registry } = parts;
    this.#options = options;
    this.#parts = parts;
    this.#cache = new DecisionCache(options);
    this.#reviews = new SharedCalls({ ...options, leastFailedFlows: LEAST_FAILED_FLOWS, words: WORDS }, parts);
    this.#count = decisionCounter(registry);
    this.#observe = reviewMetrics(registry, { entries: () => this.#cache.size, load: () => this.#reviews.load });
  }

  authorize(subject: Subject, attributes: RequestAttributes): Decision | Promise<Decision> {
    const question = this.#keyOf(subject, attributes);
    const known = this.#cache.get(question.key);
    const age = known ? this.#age(known) : Number.POSITIVE_INFINITY;
    if (known && age < this.#options.refreshAfterMs) {
      this.#note(known.allowed, question, subject, attributes);
      return this.#decide('cache', known.allowed);
    }
    const asked = { subject, attributes };
    if (known && this.#isGood(known, age)) {
      this.#refresh(known, question, asked);
      this.#note(known.allowed, question, subject, attributes);
      return this.#decide('cache', known.allowed);
    }
    const review = this.#ask(question, asked);
    const decide = (source: 'review' | 'stale', allowed: boolean): Decision => {
      this.#note(allowed, question, subject, attributes);
      return this.#decide(source, allowed);
    };
    return orKnown(review, this.#reviews.isPausedFor(question.flow), {
      answered: (allowed) => decide('review', allowed),
      known: (cause) => (this.#holds(known, cause) ? decide('stale', known.allowed) : undefined),
      failed: (cause) => (cause instanceof TooManyCalls ? this.#overloaded() : this.#unavailable(known, cause)),
    });
  }

  forget(user: string): void {
    this.#cache.forget(user);
    this.#parts.recent?.forget(user);
    this.#forgottenAt.set(user, this.#parts.clock.monotonic());
  }

  ageOf({ id }: RecentQuestion): number {
    const known = this.#cache.get(id.key);
    return known ? this.#age(known) : Number.POSITIVE_INFINITY;
  }

  room(): Room {
    const { inFlight, waiting } = this.#reviews.load;
    if (this.#reviews.isPaused) return 'none';
    return waiting === 0 && inFlight <= this.#options.maxInFlight * QUIET_SHARE ? 'enough' : 'little';
  }

  /** Takes no seat from callers' reviews. Its failure does not pause them. */
  async renew({ id, subject, attributes }: RecentQuestion, signal: AbortSignal): Promise<boolean> {
    const { clock, reviewer } = this.#parts;
    const began = clock.monotonic();
    const limits = { ms: this.#options.timeoutMs, signals: [signal] };
    const allowed = await withTimeLimit(clock, limits, (limited) => reviewer.review(subject, attributes, limited));
    this.#learn(id, subject.name, { allowed, at: began });
    return this.#cache.get(id.key)?.allowed ?? allowed;
  }

  /** Records an allowed question, so that its answer is renewed. Removes a denied one. */
  #note(allowed: boolean, question: DecisionKey, subject: Subject, attributes: RequestAttributes): void {
    if (allowed) this.#parts.recent?.allowed(question, subject, attributes);
    else this.#parts.recent?.denied(question);
  }

  /** Remembers an answer, unless it is older than the known one or than the last `forget` of this user. */
  #learn(question: DecisionKey, user: string, answer: Answered): void {
    const known = this.#cache.get(question.key);
    if (known && known.at > answer.at) return;
    if (answer.at <= (this.#forgottenAt.get(user) ?? Number.NEGATIVE_INFINITY)) return;
    this.#cache.set(question, answer);
  }

  /** Whether an answer may be used: until it expires and, if its refresh began before, until that ends (`timeoutMs`). */
  #isGood(known: Answered, age: number): boolean {
    const { lifetimeMs, timeoutMs } = this.#options;
    return age < lifetimeMs || (age < lifetimeMs + timeoutMs && this.#refreshing.has(known));
  }

  #refresh(known: Answered, question: DecisionKey, asked: Asked): void {
    if (this.#refreshing.has(known)) return;
    this.#refreshing.add(known);
    this.#ask(question, asked)
      .catch(() => undefined)
      .finally(() => this.#refreshing.delete(known));
  }

  #decide(source: keyof typeof ANSWERS, allowed: boolean): Decision {
    const decision = decisionOf(source, allowed);
    this.#count(decision);
    return decision;
  }

  /** Whether an old answer still holds. It does not if the cluster refuses the question itself, because that is an answer. */
  #holds(known: Answered | undefined, cause: unknown): known is Answered {
    return known !== undefined && this.#age(known) <= this.#options.maxStaleMs && !isOfTheQuestion(cause);
  }

  #overloaded(): StatusError {
    this.#count('overload');
    return tooManyRequests('Too many access reviews at once, please try again later.');
  }

  #unavailable(known: Answered | undefined, cause: unknown): StatusError {
    this.#count('error');
    const { maxStaleMs } = this.#options;
    const why = known ? `: the last decision is older than ${durationText(maxStaleMs)}` : '';
    return serviceUnavailable(`authorization is not available${why}`, 5, cause);
  }

  #age = (answer: Answered): number => this.#parts.clock.monotonic() - answer.at;

  #ask(question: DecisionKey, { subject, attributes }: Asked): Promise<boolean> {
    const { clock, reviewer } = this.#parts;
    return this.#reviews.ask(question, async (signal) => {
      const began = clock.monotonic();
      try {
        const allowed = await reviewer.review(subject, attributes, signal);
        // The age counts from the request, because we do not know when exactly the cluster decided.
        this.#learn(question, subject.name, { allowed, at: began });
        return allowed;
      } finally {
        this.#observe((clock.monotonic() - began) / 1000);
      }
    });
  }
}
