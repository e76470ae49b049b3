import { describe, expect, test } from 'vitest';
import type { SimulatedCluster } from '../../../dev/cluster/cluster.ts';
import { startDriven } from './driven.ts';
import { type Service, startCluster } from './stand.ts';

const ACCOUNT = 'system:serviceaccount:gatehouse-system:gatehouse';
const TOKEN = 'of-our-account';
const LIST_WATCH = ['list', 'watch'];

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

const rule = (resource: string, verbs: readonly string[], group = ''): Rule => ({
  apiGroups: [group],
  resources: [resource],
  verbs,
});

/** What the chart grants, kind by kind. */
const RIGHTS: Readonly<Record<string, Rule>> = {
  nodes: rule('nodes', LIST_WATCH),
  pods: rule('pods', LIST_WATCH),
  namespaces: rule('namespaces', LIST_WATCH),
  secrets: rule('secrets', ['create', 'get', 'watch', 'update', ...LIST_WATCH]),
  reviews: rule('subjectaccessreviews', ['create'], 'authorization.k8s.io'),
};

/** Gatehouse with the rights of the chart and these changes of them, in front of a new cluster. */
async function startWith(
  changed: Readonly<Record<string, Rule | undefined>>,
  config = {},
  reviewsFail?: Parameters<SimulatedCluster['faults']['until']>[1],
) {
  const identity = { username: ACCOUNT, groups: ['system:authenticated'] };
  const cluster = await startCluster({ isNew: true, tokens: { [TOKEN]: identity } });
  const rules = Object.values({ ...RIGHTS, ...changed }).filter((one) => one !== undefined);
  cluster.objects.create('clusterroles', { metadata: { name: 'ours' }, rules });
  cluster.objects.create('clusterrolebindings', {
    metadata: { name: 'ours' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'ours' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: ACCOUNT }],
  });
  const repair = reviewsFail ? cluster.faults.until({ kind: 'subjectaccessreviews' }, reviewsFail) : () => undefined;
  return { cluster, repair, ...(await startDriven({ kubeconfig: () => cluster.kubeconfig(TOKEN) }, { config })) };
}

const grantAll = (cluster: SimulatedCluster): unknown =>
  cluster.objects.patch('clusterroles', 'ours', { rules: Object.values(RIGHTS) });

/** The message of each check of `/readyz` that fails, by its name. */
async function failing(service: Service): Promise<Record<string, string>> {
  const { body } = await service.call('/readyz?verbose');
  const causes: { field: string; message: string }[] = body?.details.causes ?? [];
  return Object.fromEntries(causes.map(({ field, message }) => [field, message]));
}

const cannot = (what: string, where = 'at the cluster scope'): string => `User "${ACCOUNT}" cannot ${what} ${where}`;
const NAMESPACE = 'in the namespace "default"';
const FIRST_ADMINISTRATOR = { users: { firstAdministrator: { name: 'admin' } } };

describe('a replica that lacks a right', () => {
  test.each<[string, Record<string, Rule | undefined>, string, string, object?]>([
    ['watch nodes', { nodes: undefined }, 'nodes-synced', cannot('watch resource "nodes" in API group ""')],
    ['watch pods', { pods: rule('pods', ['list']) }, 'pods-synced', cannot('watch resource "pods" in API group ""')],
    [
      'create access reviews',
      { reviews: undefined },
      'access-reviews',
      cannot('create resource "subjectaccessreviews" in API group "authorization.k8s.io"'),
    ],
    [
      'watch the signing keys',
      { secrets: rule('secrets', ['create', 'get', 'update']) },
      'signing-key',
      cannot('watch resource "secrets" in API group ""', NAMESPACE),
    ],
    [
      'create the signing keys',
      { secrets: rule('secrets', ['get', 'watch', 'update']) },
      'signing-key',
      cannot('create resource "secrets" in API group ""', NAMESPACE),
    ],
    [
      'get the first administrator',
      { secrets: rule('secrets', ['create', 'watch', 'update']) },
      'first-administrator',
      cannot('get resource "secrets" in API group ""', NAMESPACE),
      FIRST_ADMINISTRATOR,
    ],
    [
      'watch the sessions',
      { secrets: rule('secrets', ['create', 'get', 'list', 'update']) },
      'sessions-synced',
      cannot('watch resource "secrets" in API group ""', NAMESPACE),
      { sessions: { store: 'kubernetes' } },
    ],
  ])(
    'to %s says so in /readyz and in the log, and is ready when it has it',
    async (_, changed, check, right, config) => {
      const { cluster, clock, service } = await startWith(changed, config);
      await clock.until(
        () => failing(service),
        (checks) => checks[check] === `failed: ${right}`,
      );
      expect((await service.call(`/readyz/${check}`)).status).toBe(503);
      const reasons = service.logged('a health check fails').filter((line) => line['check'] === check);
      expect(reasons.at(-1)?.['reason']).toMatch(new RegExp(`: ${right.replaceAll('"', '\\"')}$`));
      grantAll(cluster);
      await clock.until(service.readiness, (status) => status === 200);
      expect((await service.call('/readyz?verbose')).text).not.toContain('[-]');
    },
  );

  test('to namespaces is ready and still says so', async () => {
    const { clock, service } = await startWith({ namespaces: undefined });
    await clock.until(service.readiness, (status) => status === 200);
    const right = cannot('watch resource "namespaces" in API group ""');
    await clock.until(
      async () => (await service.call('/readyz?verbose')).text,
      (text) => text.includes(`[-]namespaces-synced failed: ${right} (does not count)`),
    );
  });

  test('is told in the log every five minutes, with the address of the API server', async () => {
    const { cluster, clock, service } = await startWith({ pods: undefined });
    await clock.spend(16 * 60_000);
    const lines = service.logged('a list failed').filter(({ resource }) => resource === 'pods');
    const warned = lines.filter(({ level }) => level === 'warn' || level === 40);
    expect(warned.length).toBeGreaterThanOrEqual(3);
    expect(warned.length).toBeLessThanOrEqual(4);
    const apiServer = new URL(/server: (\S+)/.exec(cluster.kubeconfig())![1]!).origin;
    for (const line of warned)
      expect(line).toMatchObject({ apiServer, detail: expect.stringContaining('cannot watch') });
    expect(warned.at(-1)?.['seconds']).toBeGreaterThanOrEqual(600);
  });
});

describe('access reviews', () => {
  const reviews = 'subjectaccessreviews';

  test('are asked for once at start, and never again once one was answered', async () => {
    const { cluster, clock, service } = await startWith({});
    await clock.until(service.readiness, (status) => status === 200);
    await clock.spend(10 * 60_000);
    expect(cluster.evidence.count('create', reviews)).toBe(1);
  });

  test('that fail later do not make a ready replica unready', async () => {
    const { cluster, clock, service } = await startWith({});
    await clock.until(service.readiness, (status) => status === 200);
    cluster.faults.until({ kind: reviews }, { connection: 'reset' });
    await service.call('/kapis/resources.gatehouse.io/v1alpha3/nodes', {
      token: (await service.signIn('ada')).access_token,
    });
    await clock.spend(5 * 60_000);
    expect(await service.readiness()).toBe(200);
  });

  test('that get no answer are asked for with pauses, and keep the replica unready until one does', async () => {
    const { cluster, clock, service, repair } = await startWith({}, {}, { connection: 'silence' });
    // A key is made in the time of the processor, which the clock here does not wait for.
    await clock.until(
      () => failing(service),
      (checks) => !('signing-key' in checks),
    );
    const before = cluster.evidence.count('create', reviews);
    await clock.spend(5 * 60_000);
    expect(await failing(service)).toEqual({ 'access-reviews': 'failed: reason withheld' });
    // 3 s for each and the pauses of the back-off between them.
    const asked = cluster.evidence.count('create', reviews) - before;
    expect(asked).toBeGreaterThanOrEqual(8);
    expect(asked).toBeLessThanOrEqual(15);
    repair();
    await clock.until(service.readiness, (status) => status === 200);
  });

  test('that are refused for want of the right name it also while they fail otherwise', async () => {
    const { cluster, clock, service } = await startWith({ reviews: undefined });
    const named = (checks: Record<string, string>) => checks['access-reviews']?.includes('cannot create') ?? false;
    await clock.until(() => failing(service), named);
    const asked = cluster.evidence.count('create', reviews);
    cluster.faults.until({ kind: reviews }, { status: 500 });
    await clock.until(
      async () => cluster.evidence.count('create', reviews),
      (count) => count >= asked + 2,
    );
    expect(await failing(service)).toSatisfy(named);
  });

  test('are not asked for in mode AlwaysAllow', async () => {
    const { cluster, clock, service } = await startWith(
      { reviews: undefined },
      { authorization: { mode: 'AlwaysAllow' } },
    );
    await clock.until(service.readiness, (status) => status === 200);
    expect(cluster.evidence.count('create', reviews)).toBe(0);
    expect((await service.call('/readyz/access-reviews')).status).toBe(404);
  });
});
