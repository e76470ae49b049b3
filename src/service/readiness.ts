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

/** A reflector that has sent no request and got no byte for this long is stuck, and only a restart helps (I8, docs/chaos.md). */
const STUCK_MS = 300_000;

export interface MirrorCheckOptions {
  readonly maxStalenessMs: number;
  /** True: we are ready even while the cluster refuses us the right to mirror the kind. Default: false. */
  readonly isOptional?: boolean;
}

/** What the checks need of a mirror. */
export type Mirror = Freshness & {
  /** The right that we lack, as a sentence: who may not do what. */
  missingRight(): string | undefined;
};

/**
 * The checks of a mirrored kind: first sync, and age. Age is shown but does not count. A replica that has synced stays ready, because
 * in an outage the data of all replicas gets old (decision 14). The checks of an optional kind are excused while the cluster refuses
 * us the right to mirror it. They count while it has only not synced yet.
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

/** The first review: may an anonymous user read the health of the API server? Any authorizer decides it cheaply; we ignore the decision. */
const HARMLESS = {
  subject: { name: 'system:anonymous', uid: '', groups: ['system:unauthenticated'] },
  attributes: { nonResource: { path: '/readyz', verb: 'get' } },
} as const;
/** The time limit of the first review, which is also that of a caller's review. */
const REVIEW_LIMIT_MS = 3_000;

export interface FirstReviewParts {
  readonly reviewer: AccessReviewer;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/**
 * Proves that the cluster answers our access reviews; without them every list would be a 503. The part sends a review at the start,
 * and again with pauses of up to 30 s, until one is answered. After that the check never fails, like the first sync of a mirror:
 * later failures concern all replicas, and callers with remembered decisions are still served.
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

/** The interval of the checks until we are ready: too short for anybody to notice, and long enough to cost nothing. */
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
