import { execFileSync } from 'node:child_process';
import { constants, openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SimulatedCluster } from '../../dev/cluster/cluster.ts';
import { populate } from '../../dev/cluster/population/population.ts';
import { startSimulatedLogStore } from '../../dev/log-store/log-store.ts';
import { BufferedOutput } from '../../src/observability/buffered-output.ts';
import {
  CLIENT,
  NODES,
  node,
  passwordOf,
  type Service,
  startCluster,
  startService,
} from '../integration/service/stand.ts';
import { Browser } from '../support/browser.ts';
import { hashOf, quickBcrypt } from '../support/passwords.ts';
import { selfSigned } from '../support/self-signed.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { clock } from './clock.ts';
import { FOLLOWING_CONFIG, FOLLOWING_ROLE, prepareFollowing } from './following.ts';
import { startHalfAStore } from './half-a-store.ts';
import { codeFor, redeem, WEB } from './web-client.ts';

/** A Gatehouse that is scraped before its fault comes, as in life. */
interface Stand {
  readonly port: number;
  readonly scheme?: 'https';
  /** Brings the fault about; what goes on repeats until the signal aborts. */
  break(signal: AbortSignal): Promise<unknown>;
}

export interface Fault {
  /** Also the name of its job. */
  readonly name: string;
  /** The alerts that this fault must fire. */
  readonly fires: readonly string[];
  /** Alerts that may follow from it. */
  readonly mayFire?: readonly string[];
  start(): Promise<Stand>;
}

type ServiceChange = Parameters<typeof startService>[1];

/** As in a cluster, where sessions are not in memory unless somebody wants it. */
const serve = (cluster: SimulatedCluster, change: ServiceChange = {}): Promise<Service> =>
  startService(cluster, { ...change, config: { sessions: { store: 'kubernetes' }, ...change.config } });

async function start(
  change: ServiceChange = {},
  options: Parameters<typeof startCluster>[0] = {},
): Promise<{ readonly cluster: SimulatedCluster; readonly service: Service; readonly port: number }> {
  const cluster = await startCluster({ clock, ...options });
  const service = await serve(cluster, { clock, ...change });
  return { cluster, service, port: service.gatehouse.metricsPort };
}

/** Until the signal aborts, with this pause. A call may fail: the fault is the point. */
async function repeat(signal: AbortSignal, pauseMs: number, act: (turn: number) => Promise<unknown>): Promise<void> {
  for (let turn = 0; !signal.aborted; turn++) {
    await act(turn).catch(() => {});
    await clock.sleep(pauseMs, signal);
  }
}

const secretOf = (name: string): string => `default/${name}`;
const KEYS = { when: ({ path }: { readonly path: string }) => path === '/openid/v1/jwks' };

/** A User object as KubeSphere 3.4 leaves one, the hash in it. */
const person = (name: string, email: string, password?: string) => ({
  kind: 'User',
  apiVersion: 'iam.gatehouse.io/v1alpha2',
  metadata: { name },
  spec: { email, ...(password && { password }) },
  status: { state: 'Active' },
});

const GATEWAY = { gateway: { enabled: true } };
const CLUSTER_NODE = '/api/v1/nodes/node-a';
const PODS = '/kapis/resources.gatehouse.io/v1alpha3/pods';
const LOGS = '/kapis/tenant.gatehouse.io/v1alpha2/logs';

export const FAULTS: readonly Fault[] = [
  {
    name: 'stopped',
    fires: ['GatehouseAbsent', 'GatehouseDown'],
    start: async () => {
      const { service, port } = await start();
      return { port, break: () => service.gatehouse.stop() };
    },
  },
  {
    name: 'watches-forbidden',
    fires: ['GatehouseWatchesRefused', 'GatehouseRightMissing', 'GatehouseDataStale'],
    mayFire: ['GatehouseCheckFails'],
    start: async () => {
      const { cluster, port } = await start();
      return {
        port,
        break: async () => {
          for (const verb of ['list', 'watch'] as const) cluster.faults.until({ kind: 'nodes', verb }, { status: 403 });
          await cluster.restart();
        },
      };
    },
  },
  {
    name: 'first-administrator-forbidden',
    fires: ['GatehouseCheckFails', 'GatehouseWritesRefused'],
    mayFire: ['GatehouseDataStale'],
    start: async () => {
      const cluster = await startCluster({ clock });
      cluster.faults.until({ kind: 'secrets', verb: 'create' }, { status: 403 });
      const config = { users: { firstAdministrator: { name: 'admin' } } };
      const service = await serve(cluster, { clock, config, untilReady: false });
      return { port: service.gatehouse.metricsPort, break: async () => {} };
    },
  },
  {
    name: 'memory',
    fires: ['GatehouseMemoryHigh'],
    start: async () => {
      // The limit of a container that is a little larger than what this process has in use.
      const { port } = await start({ memoryLimit: () => Math.round(process.memoryUsage.rss() / 0.95) });
      return { port, break: async () => {} };
    },
  },
  {
    name: 'log-unread',
    fires: ['GatehouseLogLinesLost'],
    start: async () => {
      const pipe = join(temporaryFolder().folder, 'pipe');
      execFileSync('mkfifo', [pipe]);
      const output = new BufferedOutput(openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK), () => {});
      const { service, port } = await start({ output });
      return {
        port,
        break: async (signal) => {
          // 12 MiB of lines are kept while nobody reads. After these, Gatehouse's own have no place.
          for (let line = 0; line < 16; line++) output.write(`${'x'.repeat(2 ** 20)}\n`);
          await repeat(signal, 3_000, () => service.list('nonsense'));
        },
      };
    },
  },
  {
    name: 'event-lost',
    fires: ['GatehouseMissedChanges'],
    start: async () => {
      const { cluster, port } = await start();
      return {
        port,
        break: async () => {
          // The next watch brings nothing of this node; the self-check finds it.
          cluster.faults.next({ kind: 'nodes', verb: 'watch' }, { stream: { drop: 1 } });
          await cluster.restart();
          await clock.sleep(45_000); // the check that follows a reconnect has found nothing yet
          cluster.objects.create('nodes', node('node-lost'));
        },
      };
    },
  },
  {
    name: 'etcd-restored',
    fires: ['GatehouseClusterRestored'],
    mayFire: ['GatehouseMissedChanges'],
    start: async () => {
      const { cluster, port } = await start();
      return {
        port,
        break: async () => {
          const older = cluster.objects.resourceVersion;
          for (let turn = 0; turn < 20; turn++)
            cluster.objects.patch('nodes', 'node-a', { metadata: { labels: { turn: `${turn}` } } });
          await clock.sleep(15_000);
          cluster.restore(older);
        },
      };
    },
  },
  {
    name: 'kind-too-large',
    fires: ['GatehouseKindRefusedForMemory'],
    // Of the few requests of this service, one is a 503.
    mayFire: ['GatehouseServerErrors'],
    start: async () => {
      const cluster = await startCluster({ clock });
      // By fields alone, three times what kinds.memory has room for.
      const now = Date.now();
      populate(cluster.objects, { nodes: 50, podsPerNode: 60, seed: 1, platform: 'gatehouse', now });
      const service = await serve(cluster, { clock, config: { kinds: { memory: '1M' } } });
      const { access_token: token } = await service.signIn('ada');
      return { port: service.gatehouse.metricsPort, break: () => service.call(PODS, { token }) };
    },
  },
  {
    name: 'keys-deleted',
    fires: ['GatehouseSigningKeysLost'],
    start: async () => {
      const { cluster, port } = await start();
      return { port, break: async () => cluster.objects.remove('secrets', secretOf('gatehouse-signing-keys')) };
    },
  },
  {
    name: 'rotation-forbidden',
    fires: ['GatehouseKeyRotationOverdue', 'GatehouseWritesRefused'],
    start: async () => {
      const cluster = await startCluster({ clock, keySinceMs: Date.now() - 40 * 86_400_000 });
      cluster.faults.until({ kind: 'secrets', verb: 'update' }, { status: 403 });
      const service = await serve(cluster, { clock });
      return { port: service.gatehouse.metricsPort, break: async () => {} };
    },
  },
  {
    name: 'sessions-in-memory',
    fires: ['GatehouseSessionsInMemory'],
    start: async () => {
      const { port } = await start({ config: { sessions: { store: 'memory' } } });
      return { port, break: async () => {} };
    },
  },
  {
    name: 'session-record-broken',
    fires: ['GatehouseSessionRecordUnreadable'],
    start: async () => {
      const { cluster, service, port } = await start();
      const { refresh_token } = await service.signIn('ada');
      await service.refresh(refresh_token);
      return {
        port,
        break: async () => {
          const record = cluster.objects.list('secrets').find(({ metadata }) => metadata.name.includes('-sessions-'));
          const data = { 'record.json': Buffer.from('{"format":7}').toString('base64') };
          cluster.objects.patch('secrets', secretOf(record?.metadata.name ?? ''), { data });
        },
      };
    },
  },
  {
    name: 'refresh-token-stolen',
    fires: ['GatehouseRefreshTokenReused'],
    start: async () => {
      const { service, port } = await start({
        config: { authentication: { oauthOptions: { refreshReplayWindow: '0s' } } },
      });
      return {
        port,
        break: async () => {
          const { refresh_token } = await service.signIn('ada');
          await service.refresh(refresh_token);
          await sleep(1_500);
          await service.refresh(refresh_token);
        },
      };
    },
  },
  {
    name: 'code-stolen',
    fires: ['GatehouseCodeReused'],
    start: async () => {
      const { service, port } = await start({ config: { authentication: { oauthOptions: { clients: [WEB] } } } });
      return {
        port,
        break: async () => {
          const code = await codeFor(service, new Browser());
          await redeem(service, code);
          await redeem(service, code);
        },
      };
    },
  },
  {
    name: 'client-secret-wrong',
    fires: ['GatehouseClientsRefused'],
    start: async () => {
      const { service, port } = await start();
      const form = { grant_type: 'password', ...CLIENT, client_secret: 'wrong' };
      return {
        port,
        break: () => Promise.all(Array.from({ length: 30 }, () => service.call('/oauth/token', { form }))),
      };
    },
  },
  {
    name: 'users-file-broken',
    fires: ['GatehouseUsersFileInvalid'],
    start: async () => {
      const { service, port } = await start();
      return { port, break: async () => service.gatehouse.writeUsers('users: [{ name: ada }]') };
    },
  },
  {
    name: 'users-in-conflict',
    fires: ['GatehouseUsersInConflict'],
    start: async () => {
      const { cluster, port } = await start({ config: { accounts: { enabled: true } } });
      return {
        port,
        break: async () => {
          for (const name of ['eve', 'mallory']) cluster.objects.create('users', person(name, 'one@example.com'));
        },
      };
    },
  },
  {
    name: 'role-of-the-gateway-missing',
    fires: ['GatehouseGatewayUsersKeptOut'],
    start: async () => {
      const { cluster, port } = await start({ config: FOLLOWING_CONFIG });
      prepareFollowing(cluster);
      return { port, break: async () => void cluster.objects.remove('clusterroles', FOLLOWING_ROLE) };
    },
  },
  {
    name: 'login-records-forbidden',
    fires: ['GatehouseLoginRecordsDropped', 'GatehouseWritesRefused'],
    start: async () => {
      const { cluster, service, port } = await start({ config: { accounts: { enabled: true } } });
      const password = passwordOf('joe');
      cluster.objects.create('users', person('eve', '', await hashOf(password)));
      return {
        port,
        break: async () => {
          cluster.faults.until({ kind: 'loginrecords', verb: 'create' }, { status: 403 });
          await service.signInAnswer('eve', password);
        },
      };
    },
  },
  {
    name: 'member-of-masters',
    fires: ['GatehouseReservedIdentity'],
    start: async () => {
      const { cluster, service, port } = await start({ config: { ...GATEWAY, accounts: { enabled: true } } });
      const password = passwordOf('joe');
      const eve = person('eve', '', await hashOf(password));
      cluster.objects.create('users', { ...eve, spec: { ...eve.spec, groups: ['system:masters'] } });
      return {
        port,
        break: async () => {
          const { body } = await service.signInAnswer('eve', password);
          await service.call(CLUSTER_NODE, { token: body.access_token });
        },
      };
    },
  },
  {
    name: 'user-not-named',
    fires: ['GatehouseMayNotActAsUser'],
    start: async () => {
      const { cluster, service, port } = await start({ config: GATEWAY });
      const { access_token: token } = await service.signIn('ada');
      const account = 'system:serviceaccount:default:gatehouse';
      const message = `users "ada" is forbidden: User "${account}" cannot impersonate resource "users" in API group "" at the cluster scope`;
      return {
        port,
        break: () => {
          cluster.faults.until({ kind: 'nodes', verb: 'get' }, { status: 403, message });
          return service.call(CLUSTER_NODE, { token });
        },
      };
    },
  },
  {
    name: 'gateway-unanswered',
    fires: ['GatehouseGatewayFails'],
    start: async () => {
      const { cluster, service, port } = await start({ config: GATEWAY });
      const { access_token: token } = await service.signIn('ada');
      return {
        port,
        break: (signal) => {
          cluster.faults.until({ kind: 'nodes', verb: 'get' }, { connection: 'reset' });
          return repeat(signal, 15_000, () => service.call(CLUSTER_NODE, { token }));
        },
      };
    },
  },
  {
    name: 'log-store-away',
    fires: ['GatehouseLogStoreFails'],
    start: async () => {
      const store = await startSimulatedLogStore();
      const { service, port } = await start({ config: { logging: { host: store.url } } });
      const { access_token: token } = await service.signIn('ada');
      await store.stop();
      return { port, break: (signal) => repeat(signal, 15_000, () => service.call(LOGS, { token })) };
    },
  },
  {
    name: 'log-store-stops',
    fires: ['GatehouseLogExportsCut'],
    start: async () => {
      const logging = { host: await startHalfAStore(), version: 'opensearchv2' };
      const { service, port } = await start({ config: { logging } });
      const { access_token: token } = await service.signIn('ada');
      return { port, break: () => service.call(`${LOGS}?operation=export`, { token }).catch(() => {}) };
    },
  },
  {
    name: 'certificate',
    fires: ['GatehouseTLSFilesInvalid', 'GatehouseCertificateExpiresSoon', 'GatehouseCertificateExpires'],
    start: async () => {
      const { write } = temporaryFolder();
      const { cert, key } = selfSigned('localhost', { notAfter: new Date(Date.now() + 86_400_000) });
      const tls = { certFile: write('tls.crt', cert), keyFile: write('tls.key', key) };
      const { port } = await start({ config: { server: { tls } } });
      return { port, scheme: 'https', break: async () => write('tls.crt', 'nothing') };
    },
  },
  {
    name: 'cluster-away',
    fires: ['GatehouseDataStale', 'GatehouseWatchesRefused', 'GatehouseRevocationDataStale', 'GatehouseServerErrors'],
    mayFire: ['GatehouseCheckFails', 'GatehouseAccessReviewsFail'],
    start: async () => {
      const { cluster, service, port } = await start();
      const { access_token: token } = await service.signIn('ada');
      return {
        port,
        break: async (signal) => {
          await cluster.stop();
          await repeat(signal, 6_000, () => service.list(token));
        },
      };
    },
  },
  {
    name: 'reviews-fail',
    fires: ['GatehouseAccessReviewsFail', 'GatehouseServerErrors'],
    start: async () => {
      const { cluster, service, port } = await start();
      const { access_token: token } = await service.signIn('ada');
      return {
        port,
        break: async (signal) => {
          cluster.faults.until({ kind: 'subjectaccessreviews' }, { status: 500 });
          await repeat(signal, 3_000, (turn) => service.call(`${NODES}/node-${turn}`, { token }));
        },
      };
    },
  },
  {
    name: 'one-asks-too-much',
    fires: ['GatehouseAccessReviewsOverloaded'],
    start: async () => {
      const { cluster, service, port } = await start();
      const { access_token: token } = await service.signIn('ada');
      return {
        port,
        break: (signal) => {
          cluster.faults.until({ kind: 'subjectaccessreviews' }, { stream: { bytesPerSecond: 5_000 } });
          return repeat(signal, 30_000, (turn) =>
            Promise.all(
              Array.from({ length: 100 }, (_, call) => service.call(`${NODES}/node-${turn}-${call}`, { token })),
            ),
          );
        },
      };
    },
  },
  {
    name: 'slow-session-watch',
    fires: ['GatehouseSignOutsLate'],
    start: async () => {
      const cluster = await startCluster({ clock });
      // 8 s for a record of 640 bytes. It grows with each sign-in, up to some 2,200 bytes: the watch never falls behind the next.
      const isRecords = ({ url }: { readonly url: string }): boolean => url.includes('sessions');
      cluster.faults.until({ kind: 'secrets', verb: 'watch', when: isRecords }, { stream: { bytesPerSecond: 80 } });
      const service = await serve(cluster, { clock });
      return {
        port: service.gatehouse.metricsPort,
        break: (signal) =>
          repeat(signal, 60_000, async () => {
            const { access_token: token } = await service.signIn('joe');
            await service.call('/oauth/logout', { token });
          }),
      };
    },
  },
  {
    name: 'cluster-keys-unread',
    fires: ['GatehouseServiceAccountKeysMissing', 'GatehouseServiceAccountTokensOverloaded'],
    start: async () => {
      const cluster = await startCluster({ clock });
      cluster.objects.create('serviceaccounts', { metadata: { name: 'robot', namespace: 'default' } });
      cluster.faults.until(KEYS, { status: 403 });
      const serviceAccountTokens = { enabled: true, audience: 'gatehouse' };
      const service = await serve(cluster, { clock, config: { authentication: { serviceAccountTokens } } });
      const [header, payload] = cluster.serviceAccountToken('default', 'robot', ['gatehouse']).split('.');
      const madeUp = (turn: number, call: number): string =>
        `${header}.${payload}.${Buffer.from(`${turn} ${call}`).toString('base64url')}`;
      return {
        port: service.gatehouse.metricsPort,
        break: (signal) =>
          repeat(signal, 30_000, (turn) =>
            Promise.all(Array.from({ length: 120 }, (_, call) => service.list(madeUp(turn, call)))),
          ),
      };
    },
  },
  {
    name: 'passwords-guessed',
    fires: ['GatehouseSignInFailuresMany', 'GatehousePasswordGuessing', 'GatehouseSignInsThrottled'],
    mayFire: ['GatehouseSignInsRejected'],
    start: async () => {
      const { service, port } = await start({
        config: { authentication: { addressRateLimiterMaxTries: 1_000, passwordGate: { queue: 200 } } },
      });
      return {
        port,
        break: (signal) =>
          repeat(signal, 30_000, (turn) =>
            Promise.all(Array.from({ length: 120 }, (_, call) => service.signInAnswer(`name-${call % 10}`, `${turn}`))),
          ),
      };
    },
  },
  {
    name: 'too-many-sign-ins',
    fires: ['GatehouseSignInsRejected'],
    start: async () => {
      // A compare of passwords that takes 0.3 s, as on a machine without CPU to spare.
      const compare = async (): Promise<boolean> => {
        await clock.sleep(9_000);
        return true;
      };
      const { service, port } = await start({ bcrypt: { ...quickBcrypt, compare } });
      return {
        port,
        break: (signal) =>
          repeat(signal, 30_000, () =>
            Promise.all(Array.from({ length: 30 }, () => service.signInAnswer('ada', passwordOf('ada')))),
          ),
      };
    },
  },
];

/** Faults that fire only after an hour. */
export const LASTING_FAULTS: readonly Fault[] = [
  {
    name: 'hashes-unfit',
    fires: ['GatehousePasswordHashesUnfit'],
    start: async () => {
      const passwordHash = (await hashOf(passwordOf('ada'))).replace(/\$10\$/, '$11$');
      const { port } = await start({ users: JSON.stringify({ users: [{ name: 'ada', passwordHash }] }) });
      return { port, break: async () => {} };
    },
  },
];
