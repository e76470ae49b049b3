import { doesCount, type HealthCheck } from '../http/health.ts';
import type { Freshness } from '../kubernetes/reflector/store.ts';
import { aborted } from '../runtime/abort.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Part } from './run-group.ts';

/** I8: a reflector with no attempt and no byte for this long is stuck, and only a restart helps. */
const STUCK_MS = 300_000;

export interface MirrorCheckOptions {
  readonly maxStalenessMs: number;
  /** Set for a kind that we may go without: what the cluster does not let us do. */
  readonly missingRight?: () => string | undefined;
}

/**
 * The checks of a mirrored kind: first sync, and age. Age is shown but does not count: a replica that has synced stays
 * ready and answers what it may, because whatever makes the data of one replica old makes that of all replicas old
 * (decision 14). While the cluster refuses us a kind that we may go without, its checks are excused; while such a kind
 * is merely not there yet, they count like any other.
 */
export function mirrorChecks(
  name: string,
  freshness: Freshness,
  { maxStalenessMs, missingRight = () => undefined }: MirrorCheckOptions,
): HealthCheck[] {
  const isExcused = (): boolean => missingRight() !== undefined;
  return [
    {
      name: `${name}-synced`,
      endpoints: ['readyz'],
      isExcused,
      check: () => (freshness.hasSynced() ? undefined : (missingRight() ?? 'the first list is not complete')),
    },
    {
      name: `${name}-fresh`,
      endpoints: ['readyz'],
      counts: false,
      isExcused,
      check: () => {
        // Before the first sync no data can be old; the check above fails then.
        const old = freshness.hasSynced() && freshness.stalenessMs() > maxStalenessMs;
        return old ? `no proof of being current for ${Math.round(freshness.stalenessMs() / 1000)} s` : undefined;
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
