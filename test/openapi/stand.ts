import { startSimulatedLogStore } from '../../dev/log-store/log-store.ts';
import { describedOperations, type Operation } from '../contract/description.ts';
import { IAM, role } from '../integration/accounts/read-stand.ts';
import { startStandIn } from '../integration/console/stand-in-prometheus.ts';
import { node, type Service, startCluster, startService } from '../integration/service/stand.ts';
import { atEnd } from '../support/at-end.ts';
import { hurriedClock } from '../support/hurried-clock.ts';
import { foundBody, startCannedStore } from '../support/logs/canned-store.ts';
import { logRecords } from '../support/logs/log-records.ts';
import { hashOf } from '../support/passwords.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import type { Findings } from './schemathesis.ts';

/** The least time of a watch is a second of this clock. So are a few seconds the limits of calls to the cluster: not more. */
const TIMES = 3;

const PASSWORD = 'Made-up-1';

/** The back ends of a Service of the system: none. */
const systemSlice = {
  metadata: {
    ...{ name: 'kube-dns-1', namespace: 'kube-system' },
    labels: {
      'kubernetes.io/service-name': 'kube-dns',
      'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
    },
  },
  endpoints: [],
};

/**
 * A Gatehouse on the simulated cluster, with stores of logs and audit records and a Prometheus, the last two of which find nothing. Ada may do everything, Joe nothing; both are in the users file, where no request changes
 * them. Alice and Ivy are objects, and Ivy has to set a first password. The client and what exists are those of the
 * description's examples. `more`: settings besides.
 */
export async function startDescribed(more: object = {}): Promise<Service['gatehouse']> {
  const cluster = await startCluster();
  cluster.objects.create('nodes', node('worker-1', { zone: 'a' }));
  cluster.objects.create('clusterroles', role('platform-regular'));
  const ofKinds = { apiVersion: 'v1', spec: {} };
  cluster.objects.create('persistentvolumes', { ...ofKinds, kind: 'PersistentVolume', metadata: { name: 'volume-1' } });
  const deployment = { ...ofKinds, apiVersion: 'apps/v1', kind: 'Deployment' };
  cluster.objects.create('deployments', { ...deployment, metadata: { name: 'web', namespace: 'shop' } });
  const labels = { 'gatehouse.io/workspace': 'shop' };
  cluster.objects.create('namespaces', { metadata: { name: 'shop-web', labels }, status: { phase: 'Active' } });
  cluster.objects.create('endpointslices', systemSlice);
  const passwordHash = await hashOf(PASSWORD);
  const users = [
    { name: 'ada', groups: ['admins'], passwordHash },
    { name: 'joe', groups: [], passwordHash },
  ];
  const callerTokenFile = temporaryFolder().write('caller', 'made-up-caller');
  const clients = [
    { name: 'console', secret: 'made-up-secret' },
    { name: 'web', public: true, redirectURIs: ['https://app.example.com/callback'] },
    { name: 'tv', public: true, grantTypes: ['urn:ietf:params:oauth:grant-type:device_code', 'refresh_token'] },
  ];
  // A caller with so many wrong credentials would soon be told to wait.
  const throttles = ['authenticate', 'address', 'client'].map((of) => [`${of}RateLimiterMaxTries`, 1_000_000]);
  const authentication = {
    ...Object.fromEntries(throttles),
    tokenReview: { callerTokenFile },
    oauthOptions: { clients },
  };
  const logs = await startSimulatedLogStore();
  atEnd(() => logs.stop());
  logs.add(logRecords());
  const nothing = foundBody([], 0, { aggregations: { counted0: { value: 0 }, buckets: { buckets: [] } } });
  const records = await startCannedStore(() => ({ body: nothing }));
  atEnd(() => records.stop());
  const prometheus = await startStandIn();
  const service = await startService(cluster, {
    clock: hurriedClock(TIMES),
    users: JSON.stringify({ users }),
    config: {
      accounts: { enabled: true },
      tenant: { defaultWorkspace: 'home' },
      logging: { host: logs.url },
      events: { live: true },
      auditing: { host: records.url },
      monitoring: { prometheus: prometheus.url },
      authentication,
      ...more,
    },
  });
  await makeUsers(service);
  return service.gatehouse;
}

async function makeUsers(service: Service): Promise<void> {
  const form = { grant_type: 'password', client_id: 'console', client_secret: 'made-up-secret', password: PASSWORD };
  const { body } = await service.call('/oauth/token', { form: { ...form, username: 'ada' } });
  for (const name of ['alice', 'ivy']) {
    const answer = await fetch(`${service.gatehouse.origin}${IAM}/users`, {
      method: 'POST',
      headers: { authorization: `Bearer ${body.access_token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        metadata: { name, annotations: { 'iam.gatehouse.io/uninitialized': 'true' } },
        spec: { email: `${name}@example.com`, password: PASSWORD },
      }),
    });
    if (answer.status !== 200) throw new Error(`${name} was not made: ${answer.status} ${await answer.text()}`);
  }
}

/** Schemathesis does not call the operation that it has the description from. */
export const DESCRIPTIONS = ['/openapi/platform.json', '/openapi/platform.yaml'] as const;

/** Their forms come from pages of ours, so nobody can make one up. */
export const PAGE_FORMS = ['sign-in', 'new-password', 'consent', 'sign-out', 'device', 'device-decision'].map(
  (form) => `POST /oauth/${form}`,
);

/** Wants the cookie of the page's session, which no caller here has. */
export const PAGE_SESSION = 'POST /ui/session';

/** The described operations of the API port that fulfil a condition, without the one of this path. */
export const operationsWhere = (isMeant: (operation: Operation, name: string) => boolean, except = ''): string[] =>
  [...describedOperations()]
    .filter(([name, operation]) => !name.endsWith(' /metrics') && name !== `GET ${except}` && isMeant(operation, name))
    .map(([name]) => name);

/** The operations of these that were never answered with the status. */
export const neverAnswered = (status: number, operations: readonly string[], { statuses }: Findings): string[] =>
  operations.filter((operation) => !statuses.get(operation)?.has(status));
