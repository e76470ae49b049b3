import type { Clock } from './clock.ts';
import type { HealthCheck } from './http/health.ts';
import type { Freshness } from './kubernetes/freshness.ts';
import { MAX_STALENESS_MS } from './max-staleness.ts';
import type { Part } from './run-group.ts';

/** I8: a reflector with no attempt and no byte for this long is stuck, and only a restart helps. */
const STUCK_MS = 300_000;

/** The checks that a mirrored kind brings: first sync, and age. */
export function mirrorChecks(name: string, freshness: Freshness): HealthCheck[] {
  return [
    {
      name: `${name}-synced`,
      endpoints: ['readyz'],
      check: () => (freshness.hasSynced() ? undefined : 'the first list is not complete'),
    },
    {
      name: `${name}-fresh`,
      endpoints: ['readyz'],
      check: () => {
        // Before the first sync there is nothing to be old; the check above fails for that.
        const old = freshness.hasSynced() && freshness.stalenessMs() > MAX_STALENESS_MS;
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

/** Often enough that nobody notices, seldom enough to cost nothing; only until the first time. */
const POLL_MS = 10;

/** Announces, once, that every readiness check holds; then waits for the end. */
export function announceReady(
  checks: readonly HealthCheck[],
  clock: Clock,
  announce: () => void | Promise<void>,
): Part {
  const ready = (): boolean =>
    checks.every((check) => !check.endpoints.includes('readyz') || check.check() === undefined);
  return {
    name: 'readiness',
    async run(signal) {
      while (!signal.aborted && !ready()) await clock.sleep(POLL_MS, signal);
      if (!signal.aborted) await announce();
      await ended(signal);
    },
  };
}

const ended = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
