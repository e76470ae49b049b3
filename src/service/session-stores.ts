import type { Config } from '../config/config.ts';
import type { HealthCheck } from '../http/health.ts';
import type { Cluster } from '../kubernetes/cluster.ts';
import type { Freshness } from '../kubernetes/reflector/freshness.ts';
import { createClusterSessions } from '../oauth/sessions/cluster-sessions.ts';
import { createMemorySessions } from '../oauth/sessions/memory-sessions.ts';
import type { SessionStore } from '../oauth/sessions/sessions.ts';
import type { Logger } from '../observability/logger.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import type { SecurityEvents } from '../security-events.ts';
import { mirrorChecks } from './readiness.ts';
import type { Part } from './run-group.ts';

export interface SessionStoreParts {
  readonly cluster: Pick<Cluster, 'mirrorSecrets'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly events: SecurityEvents;
}

/** Where sessions are recorded, the parts that keep the records current, and their checks. */
export interface Sessions {
  readonly store: SessionStore;
  readonly parts: readonly Part[];
  readonly checks: readonly HealthCheck[];
  readonly reflectors: Readonly<Record<string, Freshness>>;
  /** How old the records are, by their name. */
  readonly stalenessMs: Readonly<Record<string, () => number>>;
}

/** The name of the records in metrics and readiness checks. */
const NAME = 'sessions';

/**
 * `memory`: the sessions of one replica. `kubernetes`: one Secret per user who refreshed or ended a session, shared by
 * all replicas.
 */
export function createSessions(
  {
    platform,
    sessions,
    authorization,
  }: Pick<Config, 'platform' | 'sessions'> & {
    readonly authorization: Pick<Config['authorization'], 'maxStaleness'>;
  },
  parts: SessionStoreParts,
): Sessions {
  if (sessions.store === 'memory') {
    return { store: createMemorySessions(parts), parts: [], checks: [], reflectors: {}, stalenessMs: {} };
  }
  const labels = { 'app.kubernetes.io/part-of': platform, 'app.kubernetes.io/component': NAME };
  const { records, reflector } = parts.cluster.mirrorSecrets(NAME, labels);
  const maxStalenessMs = authorization.maxStaleness;
  const options = { namePrefix: `${platform}-sessions-`, maxStalenessMs };
  const store = createClusterSessions(options, { ...parts, records });
  return {
    store,
    parts: [
      { name: `reflector of ${NAME}`, run: (signal) => reflector.run(signal) },
      { name: 'session records', run: (signal) => store.run(signal) },
    ],
    checks: mirrorChecks(NAME, reflector, maxStalenessMs),
    reflectors: { [NAME]: reflector },
    stalenessMs: { [NAME]: () => records.stalenessMs() },
  };
}
