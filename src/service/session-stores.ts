import type { Cluster } from '../kubernetes/cluster.ts';
import { registerSessionStore } from '../oauth/metrics.ts';
import { createClusterSessions } from '../oauth/sessions/cluster-sessions.ts';
import { createMemorySessions } from '../oauth/sessions/memory-sessions.ts';
import type { SessionStore } from '../oauth/sessions/sessions.ts';
import { NO_UPKEEP, type Shared, type Upkeep } from './family.ts';
import { mirrorChecks } from './readiness.ts';

export type SessionStoreKind = 'memory' | 'kubernetes';

/** The configured kind, else the default for where we run. */
export const sessionStoreKind = (
  wanted: SessionStoreKind | undefined,
  { inCluster }: Pick<Cluster, 'inCluster'>,
): SessionStoreKind => wanted ?? (inCluster ? 'kubernetes' : 'memory');

export interface SessionOptions {
  /** Part of the names and labels of the records. */
  readonly platform: string;
  /**
   * `memory`: the sessions of one replica, until it ends. `kubernetes`: one Secret per user who refreshed or ended a
   * session, shared by all replicas. Default: `kubernetes` in a cluster, `memory` elsewhere.
   */
  readonly store: SessionStoreKind | undefined;
  /** Records older than this are not used for judging tokens. */
  readonly maxStalenessMs: number;
}

export interface SessionParts extends Shared {
  readonly cluster: Pick<Cluster, 'inCluster' | 'mirrorSecrets'>;
}

/** The name of the records in metrics and readiness checks. */
const NAME = 'sessions';

/** Where sessions are recorded, and what keeps the records current. */
export function createSessions(
  { platform, store: wanted, maxStalenessMs }: SessionOptions,
  { cluster, clock, random, logger, registry, events }: SessionParts,
): { readonly store: SessionStore; readonly upkeep: Upkeep } {
  const kind = sessionStoreKind(wanted, cluster);
  registerSessionStore(registry, kind);
  if (kind === 'memory') return { store: createMemorySessions({ clock, random }), upkeep: NO_UPKEEP };
  const labels = { 'app.kubernetes.io/part-of': platform, 'app.kubernetes.io/component': NAME };
  const { records, reflector } = cluster.mirrorSecrets(NAME, labels, { exposeLag: true });
  const options = { namePrefix: `${platform}-sessions-`, maxStalenessMs };
  const store = createClusterSessions(options, { records, clock, random, logger, events });
  return {
    store,
    upkeep: {
      parts: [
        { name: `reflector of ${NAME}`, run: (signal) => reflector.run(signal) },
        { name: 'session records', run: (signal) => store.run(signal) },
      ],
      checks: mirrorChecks(NAME, reflector, { maxStalenessMs }),
      reflectors: { [NAME]: reflector },
      ages: { lists: {}, revocation: { [NAME]: records.proof } },
    },
  };
}
