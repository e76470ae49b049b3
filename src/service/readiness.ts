import type { AccessReviewer } from '../authorization/authorizer.ts';
import { doesCount, type HealthCheck } from '../http/health.ts';
import { ClusterError } from '../kubernetes/client/api-client.ts';
import type { Freshness } from '../kubernetes/reflector/store.ts';
import { missingRightIn } from '../kubernetes/status.ts';
import type { Logger } from '../observability/logger.ts';
import { aborted } from '../runtime/abort.ts';
import { Backoff } from '../runtime/backoff.ts';
import { type Clock, withTimeLimit } from '../runtime/clock.ts';
import { LastingFailure } from '../runtime/lasting-failure.ts';
import type { Random } from '../runtime/random.ts';
import type { Part } from './run-group.ts';

/** I8: a reflector with no attempt and no byte for this long is stuck, and only a restart helps. */
const STUCK_MS = 300_000;

export interface MirrorCheckOptions {
  readonly maxStalenessMs: number;
  /** True: we may be ready without it while the cluster refuses us the right to it. Default: false. */
  readonly isOptional?: boolean;
}

/** What the checks ask of a mirror. */
export type Mirror = Freshness & {
  /** The right that we lack, as a sentence: who may not do what. */
  missingRight(): string | undefined;
};

/**
 * The checks of a mirrored kind: first sync, and age. Age is shown but does not count: a replica that has synced stays
 * ready and answers what it may, because an outage that makes the data of one replica old makes that of all replicas old
 * (decision 14). While the cluster refuses us a kind that we may go without, its checks are excused; while such a kind
 * is merely not there yet, they count like any other.
 */
export function mirrorChecks(
  name: string,
  mirror: Mirror,
  { maxStalenessMs, isOptional = false }: MirrorCheckOptions,
): HealthCheck[] {
  const { missingRight } = mirror;
  const isExcused = (): boolean => isOptional && missingRight() !== undefined;
  return [
    {
      name: `${name}-synced`,
      endpoints: ['readyz'],
      isExcused,
      missingRight,
      check: () => (mirror.hasSynced() ? undefined : 'the first list is not complete'),
    },
    {
      name: `${name}-fresh`,
      endpoints: ['readyz'],
      counts: false,
      isExcused,
      missingRight,
      check: () => {
        // Before the first sync no data can be old; the check above fails then.
        const old = mirror.hasSynced() && mirror.stalenessMs() > maxStalenessMs;
        return old ? `no proof of being current for ${Math.round(mirror.stalenessMs() / 1000)} s` : undefined;
      },
    },
  ];
}

/** Fails `/livez` when a reflector has stopped trying. */
export function reflectorsCheck(reflectors: Readonly<Record<string, Freshness>>): HealthCheck {
  return {
    name: 'reflectors',
    endpoints: ['livez'],
    check: () => {
      const stuck = Object.entries(reflectors).filter(([, freshness]) => freshness.idleMs() > STUCK_MS);
      return stuck.length > 0
        ? `no attempt and no byte for 5 minutes: ${stuck.map(([name]) => name).join(', ')}`
        : undefined;
    },
  };
}

/** Whether anybody may read the health of the API server: cheap for any authorizer, and the answer does not matter. */
const HARMLESS = {
  subject: { name: 'system:anonymous', uid: '', groups: ['system:unauthenticated'] },
  attributes: { nonResource: { path: '/readyz', verb: 'get' } },
} as const;
/** A caller's review has the same time limit. */
const REVIEW_LIMIT_MS = 3_000;

export interface FirstReviewParts {
  readonly reviewer: AccessReviewer;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/**
 * Proves that the cluster answers our access reviews: without that, each list would be a 503. One review is asked for at
 * the start and, with pauses up to 30 s, until one is answered. From then on the check holds for ever, as the check of a
 * mirror does: later failures concern all replicas, and callers with known answers are still served.
 */
export function createFirstReview(parts: FirstReviewParts): { readonly part: Part; readonly check: HealthCheck } {
  const { reviewer, clock, random, logger } = parts;
  const backoff = new Backoff(clock, random);
  const failure = new LastingFailure(clock, logger);
  const state = { isAnswered: false, missingRight: undefined as string | undefined };
  const ask = (signal: AbortSignal): Promise<boolean> =>
    withTimeLimit(clock, { ms: REVIEW_LIMIT_MS, signals: [signal] }, (limited) =>
      reviewer.review(HARMLESS.subject, HARMLESS.attributes, limited),
    );
  return {
    part: {
      name: 'first access review',
      async run(signal) {
        while (!signal.aborted && !state.isAnswered) {
          try {
            await ask(signal);
            state.isAnswered = true;
            failure.over({}, 'access reviews are answered now');
          } catch (error) {
            if (signal.aborted) return;
            // Any other failure says nothing about the right.
            if (error instanceof ClusterError) state.missingRight = missingRightIn(error.status) ?? state.missingRight;
            failure.failed({ err: error }, 'no access review is answered yet', state.missingRight);
            await clock.sleep(backoff.failed(), signal);
          }
        }
        await aborted(signal);
      },
    },
    check: {
      name: 'access-reviews',
      endpoints: ['readyz'],
      missingRight: () => state.missingRight,
      check: () => (state.isAnswered ? undefined : 'no access review is answered yet'),
    },
  };
}

/** Short enough that nobody notices, and long enough to cost nothing; only used until the first time. */
const POLL_MS = 10;

/** Announces once that every readiness check that counts holds, then waits for the end. */
export function announceReady(
  checks: readonly HealthCheck[],
  clock: Clock,
  announce: () => void | Promise<void>,
): Part {
  const ready = (): boolean =>
    checks.every((check) => !check.endpoints.includes('readyz') || !doesCount(check) || check.check() === undefined);
  return {
    name: 'readiness',
    async run(signal) {
      while (!signal.aborted && !ready()) await clock.sleep(POLL_MS, signal);
      if (!signal.aborted) await announce();
      await aborted(signal);
    },
  };
}
