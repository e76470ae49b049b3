import { type Dispatcher, request } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { apiDispatcher } from '../support/control-plane/api-dispatcher.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { eventually } from './eventually.ts';
import { install, installAccounts, NAMESPACE } from './installation.ts';

const BINDINGS = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings';
const ROLES = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
const LEASES = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases`;

/** Who gives roles by default: the first administrator, with the group of administrators. */
const ADMIN = { name: 'admin', groups: ['gatehouse-admins'] };

let cluster: ControlPlane;
let pool: Dispatcher;
let token: string;
beforeAll(async () => {
  cluster = await startControlPlane();
  pool = await apiDispatcher(cluster.caFile);
  token = await install(cluster, 'memory');
  await installAccounts(cluster);
  await eventually(
    () => ask('GET', BINDINGS),
    (status) => status === 200,
  );
});
afterAll(async () => {
  await pool?.destroy();
  await cluster?.stop();
});

/** The status of one request with the token of our service account, in its own name or in another's. */
async function ask(
  method: Dispatcher.HttpMethod,
  path: string,
  body?: object,
  as?: { readonly name: string; readonly groups: readonly string[] },
): Promise<number> {
  const answer = await request(cluster.url + path, {
    dispatcher: pool,
    method,
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
      ...(as && { 'impersonate-user': as.name, 'impersonate-group': [...as.groups] }),
    },
    body: body ? JSON.stringify(body) : null,
  });
  await answer.body.dump();
  return answer.statusCode;
}

const binding = (name: string, role: string): object => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name, labels: { 'iam.gatehouse.io/user-ref': 'bob' } },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
  subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'bob' }],
});

test('AC-19 our own account gives no role, and takes bindings away', async () => {
  expect(await ask('POST', BINDINGS, binding('bob-platform-regular', 'platform-regular'))).toBe(403);
  expect(await ask('POST', BINDINGS, binding('bob-cluster-admin', 'cluster-admin'))).toBe(403);
  await cluster.kubectl(['create', '-f', '-'], JSON.stringify(binding('bob-users-manager', 'users-manager')));
  expect(await ask('PATCH', `${BINDINGS}/bob-users-manager`, { subjects: [] })).toBe(403);
  expect(await ask('DELETE', `${BINDINGS}/bob-users-manager`)).toBe(200);
});

test('our own account changes no role', async () => {
  const rules = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }];
  expect(await ask('PATCH', `${ROLES}/platform-regular`, { rules })).toBe(403);
  expect(await ask('PATCH', `${ROLES}/${NAMESPACE}:gatehouse`, { rules })).toBe(403);
  const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'more' }, rules };
  expect(await ask('POST', ROLES, role)).toBe(403);
});

test.each(['platform-regular', 'users-manager', 'platform-admin'])(
  'in the name of the first administrator it gives %s, and takes it',
  async (role) => {
    expect(await ask('POST', BINDINGS, binding(`bob-${role}`, role), ADMIN)).toBe(201);
    expect(await ask('DELETE', `${BINDINGS}/bob-${role}`, undefined, ADMIN)).toBe(200);
  },
);

test.each(['cluster-admin', 'system:node', 'system:kube-scheduler', `${NAMESPACE}:gatehouse`])(
  'AC-19 in the name of the first administrator it does not give %s',
  async (role) => expect(await ask('POST', BINDINGS, binding('bob-more', role), ADMIN)).toBe(403),
);

test.each([
  ['another user', { name: 'mallory', groups: ADMIN.groups }],
  ['the first administrator in a further group', { name: 'admin', groups: [...ADMIN.groups, 'developers'] }],
  ['system:masters', { name: 'admin', groups: ['system:masters'] }],
  ['another service account', { name: 'system:serviceaccount:kube-system:default', groups: [] }],
])('it does not act as %s', async (_, as) => {
  expect(await ask('POST', `${BINDINGS}?dryRun=All`, binding('bob-x', 'platform-regular'), as)).toBe(403);
});

test('it writes Secrets and its Lease in its own namespace only', async () => {
  const lease = (name: string): object => ({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name },
    spec: { holderIdentity: 'one' },
  });
  expect(await ask('POST', LEASES, lease('gatehouse-accounts'))).toBe(201);
  expect(await ask('PATCH', `${LEASES}/gatehouse-accounts`, { spec: { holderIdentity: 'two' } })).toBe(200);
  expect(await ask('PATCH', `${LEASES}/another`, { spec: { holderIdentity: 'two' } })).toBe(403);
  expect(await ask('DELETE', `${LEASES}/gatehouse-accounts`)).toBe(403);
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'of-somebody' } };
  expect(await ask('POST', `/api/v1/namespaces/${NAMESPACE}/secrets`, secret)).toBe(201);
  expect(await ask('POST', '/api/v1/namespaces/default/secrets', secret)).toBe(403);
  expect(await ask('GET', '/api/v1/secrets')).toBe(403);
});
