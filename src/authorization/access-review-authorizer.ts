import type { Registry } from 'prom-client';
import type { Clock } from '../clock.ts';
import { MAX_STALENESS_MS } from '../max-staleness.ts';
import type { Logger } from '../observability/logger.ts';
import { PacedCalls } from '../paced-calls.ts';
import type { Random } from '../random.ts';
import { type StatusError, serviceUnavailable } from '../status-error.ts';
import type { AccessReviewer, Authorizer, Decision, RequestAttributes, Subject } from './authorizer.ts';
import { type Answered, createDecisionKeys, DecisionCache } from './decision-cache.ts';
import { decisionCounter, reviewMetrics } from './metrics.ts';

export interface AccessReviewOptions {
  /** For how long an answer is taken without asking again. Default 10,000 ms. */
  readonly lifetimeMs?: number;
  /** For how long an answer holds when the cluster gives no new one. Default: MAX_STALE, 720,000 ms. */
  readonly maxStaleMs?: number;
  /** A review that takes longer, its wait for a slot included, has failed. Default 3,000 ms. */
  readonly timeoutMs?: number;
  /** Default 10,000. */
  readonly maxEntries?: number;
  /** Reviews in flight at a time. Default 64. */
  readonly maxInFlight?: number;
  /** Reviews that wait for their turn; one more is not begun. Default 192. */
  readonly maxWaiting?: number;
}

export interface AccessReviewParts {
  readonly reviewer: AccessReviewer;
  readonly clock: Clock;
  readonly random: Random;
  readonly registry: Registry;
  readonly logger: Logger;
}

const DEFAULTS = {
  lifetimeMs: 10_000,
  maxStaleMs: MAX_STALENESS_MS,
  timeoutMs: 3_000,
  maxEntries: 10_000,
  maxInFlight: 64,
  // With those in flight half of the 512 requests that may be under way: the others can be answered from memory meanwhile.
  maxWaiting: 192,
};

const WORDS = {
  fail: 'access reviews fail; known answers hold for a while',
  recover: 'access reviews are answered again',
};

const ANSWERS = {
  cache: { true: { allowed: true, source: 'cache' }, false: { allowed: false, source: 'cache' } },
  review: { true: { allowed: true, source: 'review' }, false: { allowed: false, source: 'review' } },
  stale: { true: { allowed: true, source: 'stale' }, false: { allowed: false, source: 'stale' } },
} as const satisfies Record<string, Record<'true' | 'false', Decision>>;

const decisionOf = (source: keyof typeof ANSWERS, allowed: boolean): Decision => ANSWERS[source][`${allowed}`];

/**
 * Asks the cluster by SubjectAccessReview and remembers the answer for seconds; errors are never remembered. While reviews
 * fail, all questions share one pause: a known answer is given at once, for the want of one the caller is refused at once.
 */
export function createAccessReviewAuthorizer(options: AccessReviewOptions, parts: AccessReviewParts): Authorizer {
  return new AccessReviewAuthorizer({ ...DEFAULTS, ...options }, parts);
}

class AccessReviewAuthorizer implements Authorizer {
  readonly #options: typeof DEFAULTS;
  readonly #parts: AccessReviewParts;
  readonly #cache: DecisionCache;
  readonly #keyOf = createDecisionKeys();
  readonly #reviews: PacedCalls<boolean>;
  readonly #count: (decision: Decision | 'error') => void;
  readonly #observe: (seconds: number) => void;

  constructor(options: typeof DEFAULTS, parts: AccessReviewParts) {
    const { registry } = parts;
    this.#options = options;
    this.#parts = parts;
    this.#cache = new DecisionCache(options.maxEntries);
    this.#reviews = new PacedCalls({ ...options, words: WORDS }, parts);
    this.#count = decisionCounter(registry);
    this.#observe = reviewMetrics(registry, () => this.#cache.size);
  }

  authorize(subject: Subject, attributes: RequestAttributes): Decision | Promise<Decision> {
    const key = this.#keyOf(subject, attributes);
    const known = this.#cache.get(key);
    if (known && this.#age(known) < this.#options.lifetimeMs) return this.#decide('cache', known.allowed);
    const review = this.#reviews.once(key, () => this.#review(key, subject, attributes));
    // Nobody with an answer waits for a cluster that fails: the probe goes on behind that answer.
    if (this.#reviews.isPaused && known && this.#holds(known)) return this.#decide('stale', known.allowed);
    if (!review) return Promise.reject(this.#refused(undefined));
    return review.then(
      (allowed) => this.#decide('review', allowed),
      (cause) => this.#withoutReview(known, cause),
    );
  }

  #decide(source: keyof typeof ANSWERS, allowed: boolean): Decision {
    const decision = decisionOf(source, allowed);
    this.#count(decision);
    return decision;
  }

  #withoutReview(known: Answered | undefined, cause: unknown): Decision {
    if (known && this.#holds(known)) return this.#decide('stale', known.allowed);
    throw this.#refused(cause);
  }

  #refused(cause: unknown): StatusError {
    this.#count('error');
    return serviceUnavailable('authorization is not available', 5, cause);
  }

  #age = (answer: Answered): number => this.#parts.clock.monotonic() - answer.at;

  #holds = (answer: Answered): boolean => this.#age(answer) <= this.#options.maxStaleMs;

  async #review(key: string, subject: Subject, attributes: RequestAttributes): Promise<boolean> {
    const { clock, reviewer } = this.#parts;
    const began = clock.monotonic();
    try {
      const allowed = await this.#reviews.run((signal) => reviewer.review(subject, attributes, signal));
      this.#cache.set(key, { allowed, at: clock.monotonic() });
      return allowed;
    } finally {
      this.#observe((clock.monotonic() - began) / 1000);
    }
  }
}
