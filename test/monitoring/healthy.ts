import type { SimulatedCluster } from '../../dev/cluster/cluster.ts';
import { keepChanging, populate } from '../../dev/cluster/population/population.ts';
import { startSimulatedLogStore } from '../../dev/log-store/log-store.ts';
import { systemRandom } from '../../src/runtime/random.ts';
import { CLIENT, CONFIDENTIAL, NODES, type Service, startCluster, startService } from '../integration/service/stand.ts';
import { atEnd } from '../support/at-end.ts';
import { Browser } from '../support/browser.ts';
import { logRecords } from '../support/logs/log-records.ts';
import { selfSigned } from '../support/self-signed.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { Watcher } from '../support/watcher.ts';
import { clock } from './clock.ts';
import { FOLLOWING_CONFIG, prepareFollowing } from './following.ts';
import { codeFor, redeem, WEB } from './web-client.ts';

/** Replicas without a fault: two with a load, and one that serves over TLS. */
export interface HealthyReplicas {
  readonly ports: readonly number[];
  /** The metrics port of the one with TLS. */
  readonly tlsPort: number;
  /** How many requests were answered as they should be. */
  readonly answers: { good: number };
  /** Until the signal aborts. */
  use(signal: AbortSignal): Promise<void>;
}

const PODS = '/kapis/resources.gatehouse.io/v1alpha3/pods?limit=10';
const LOGS = '/kapis/tenant.gatehouse.io/v1alpha2/logs?log_query=error';
const PAUSE_MS = 9_000;

const CONFIG = {
  ...FOLLOWING_CONFIG,
  sessions: { store: 'kubernetes' },
  // Prometheus itself scrapes after the hour, when minutes of this clock pass in seconds: pods are still in memory then.
  kinds: { idle: '240h' },
  authentication: {
    oauthOptions: { clients: [...CONFIDENTIAL.oauthOptions.clients, WEB] },
    serviceAccountTokens: { enabled: true, audience: 'gatehouse' },
  },
};

export async function startHealthyReplicas(memoryLimit: () => number): Promise<HealthyReplicas> {
  const cluster = await startCluster({ clock });
  populate(cluster.objects, { nodes: 50, podsPerNode: 10, seed: 1, platform: 'gatehouse', now: Date.now() });
  cluster.objects.create('serviceaccounts', { metadata: { name: 'robot', namespace: 'default' } });
  prepareFollowing(cluster);
  const logStore = await startSimulatedLogStore();
  atEnd(() => logStore.stop());
  logStore.add(logRecords());
  const config = { ...CONFIG, logging: { host: logStore.url } };
  const replicas = [
    await startService(cluster, { clock, config, memoryLimit }),
    await startService(cluster, { clock, config, memoryLimit }),
  ];
  const { write } = temporaryFolder();
  const { cert, key } = selfSigned('localhost');
  const tls = { certFile: write('tls.crt', cert), keyFile: write('tls.key', key) };
  const overTls = await startService(cluster, { clock, config: { ...CONFIG, server: { tls } }, memoryLimit });
  const changes = { everyMs: 30_000, clock, random: systemRandom };
  const answers = { good: 0 };
  return {
    answers,
    ports: replicas.map(({ gatehouse }) => gatehouse.metricsPort),
    tlsPort: overTls.gatehouse.metricsPort,
    use: async (signal) => {
      const loads = replicas.map((replica) => useReplica(replica, { cluster, answers }, signal));
      await Promise.all([keepChanging(cluster.objects, changes, signal), ...loads]);
    },
  };
}

interface Load extends Pick<HealthyReplicas, 'answers'> {
  readonly cluster: SimulatedCluster;
}

/** What people and programs do all day. Rejects when an answer is not as it should be. */
async function useReplica(service: Service, { cluster, answers: count }: Load, signal: AbortSignal): Promise<void> {
  const robot = cluster.serviceAccountToken('default', 'robot', ['gatehouse']);
  const { access_token: lasting } = await service.signIn('ada');
  const watch = await Watcher.open(`${service.gatehouse.origin}${NODES}?watch=true`, {
    authorization: `Bearer ${lasting}`,
  });
  const browser = new Browser();
  for (let turn = 0; !signal.aborted; turn++) {
    const pair = await service.signIn('ada');
    const token = pair.access_token;
    const answers = [
      await service.list(token),
      await service.list(token, '?limit=10'),
      await service.call(`${NODES}/node-a`, { token }),
      await service.call(PODS, { token }),
      await service.call('/api/v1/nodes/node-a', { token }),
      await service.call(LOGS, { token }),
      await service.call('/oauth/introspect', { form: { ...CLIENT, token } }),
      await service.refresh(pair.refresh_token),
      await service.call('/oauth/logout', { token }),
      await redeem(service, await codeFor(service, browser)),
    ];
    const wrong = answers.find(({ status }) => status >= 400);
    if (wrong) throw new Error(`a request failed: ${wrong.status} ${wrong.text}`);
    count.good += answers.length;
    await service.call(`${NODES}?limit=1`, { token: robot }); // 403: it may not list
    if (turn % 50 === 0) await service.signInAnswer('joe', 'mistyped');
    await clock.sleep(PAUSE_MS, signal);
  }
  watch.close();
}
