import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Decision } from './authorizer.ts';

/** A review in the same network takes a millisecond; at 3 s it is given up. */
const REVIEW_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 3];

const DECISIONS = 'gatehouse_authorization_decisions_total';

/**
 * `gatehouse_authorization_decisions_total`, for either mode. If there is no decision: `error` if the cluster gave no
 * answer, `overload` if we did not ask it because too many reviews were open.
 */
export function decisionCounter(registry: Registry): (decision: Decision | 'error' | 'overload') => void {
  // With AlwaysAllow and accounts both modes count, because a grant of roles and groups needs access reviews in any mode.
  const known = registry.getSingleMetric(DECISIONS) as Counter<'decision' | 'source'> | undefined;
  const counter =
    known ??
    new Counter({
      name: DECISIONS,
      help: 'Authorization decisions, by outcome and by where the answer came from.',
      labelNames: ['decision', 'source'],
      registers: [registry],
    });
  // Every request has a decision, and to look up a pair of labels costs as much as the decision. So they are bound once.
  const bound = (decision: 'allow' | 'deny'): Record<Decision['source'], { inc(by?: number): void }> => ({
    cache: counter.labels(decision, 'cache'),
    review: counter.labels(decision, 'review'),
    stale: counter.labels(decision, 'stale'),
    always_allow: counter.labels(decision, 'always_allow'),
  });
  const allow = bound('allow');
  const deny = bound('deny');
  // Each series starts at 0: Prometheus sees no increase of a series that begins at 1.
  for (const series of [...Object.values(allow), ...Object.values(deny)]) series.inc(0);
  for (const source of ['review', 'overload']) counter.inc({ decision: 'error', source }, 0);
  return (decision) => {
    if (decision === 'error') counter.inc({ decision, source: 'review' });
    else if (decision === 'overload') counter.inc({ decision: 'error', source: 'overload' });
    else (decision.allowed ? allow : deny)[decision.source].inc();
  };
}

export interface ReviewsToShow {
  /** Answers that are remembered. */
  entries(): number;
  load(): { readonly inFlight: number; readonly waiting: number };
}

/**
 * Returns a function that records how many seconds a review took. The numbers of remembered, open and waiting reviews
 * are read when metrics are collected.
 */
export function reviewMetrics(registry: Registry, { entries, load }: ReviewsToShow): (seconds: number) => void {
  const registers = [registry];
  const duration = new Histogram({
    name: 'gatehouse_authorization_review_duration_seconds',
    help: 'Seconds that a SubjectAccessReview took, answered or not.',
    buckets: REVIEW_BUCKETS,
    registers,
  });
  new Gauge({
    name: 'gatehouse_authorization_cache_entries',
    help: 'Answers in the decision cache.',
    registers,
    collect() {
      this.set(entries());
    },
  });
  new Gauge({
    name: 'gatehouse_authorization_reviews',
    help: 'Access reviews: in flight, and waiting for their turn.',
    labelNames: ['state'],
    registers,
    collect() {
      const { inFlight, waiting } = load();
      this.set({ state: 'in_flight' }, inFlight);
      this.set({ state: 'waiting' }, waiting);
    },
  });
  return (seconds) => duration.observe(seconds);
}

const BACKGROUND_OUTCOMES = ['allowed', 'denied', 'failed'] as const;
export type BackgroundOutcome = (typeof BACKGROUND_OUTCOMES)[number];

/**
 * Exposes how many questions are kept ready for an outage. Returns a function that counts the reviews for that.
 * `own`: callers of this replica asked them; `shared`: they came only from other replicas.
 */
export function recentQuestionMetrics(
  registry: Registry,
  counts: () => { readonly own: number; readonly shared: number },
): (outcome: BackgroundOutcome) => void {
  const registers = [registry];
  new Gauge({
    name: 'gatehouse_authorization_recent_questions',
    help: 'Questions of the last ten minutes whose answers are kept young: asked here, and told by other replicas only.',
    labelNames: ['origin'],
    registers,
    collect() {
      const { own, shared } = counts();
      this.set({ origin: 'own' }, own);
      this.set({ origin: 'shared' }, shared);
    },
  });
  const reviews = new Counter({
    name: 'gatehouse_authorization_background_reviews_total',
    help: 'Access reviews that no caller waited for, by outcome.',
    labelNames: ['outcome'],
    registers,
  });
  for (const outcome of BACKGROUND_OUTCOMES) reviews.inc({ outcome }, 0);
  return (outcome) => reviews.inc({ outcome });
}
