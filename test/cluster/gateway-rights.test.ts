import { type Dispatcher, request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { apiDispatcher } from '../support/control-plane/api-dispatcher.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { eventually } from './eventually.ts';
import { install, installGateway, NAMESPACE } from './installation.ts';

type Headers = Readonly<Record<string, string | string[]>>;

const AUTHENTICATED = 'system:authenticated';

/** Whom `deploy/gateway` names, as the gateway states it. */
const ADMIN: Headers = {
  'impersonate-user': 'admin',
  'impersonate-group': ['gatehouse-admins', AUTHENTICATED],
  'impersonate-extra-gatehouse.io%2fsession': 's-1',
};

let cluster: ControlPlane;
let pool: Dispatcher;
let token: string;
beforeAll(async () => {
  cluster = await startControlPlane();
  pool = await apiDispatcher(cluster.caFile);
  token = await install(cluster, 'memory');
  await installGateway(cluster);
  await eventually(
    () => ask('/api', ADMIN),
    ({ status }) => status === 200,
  );
});
afterAll(async () => {
  await pool?.destroy();
  await cluster?.stop();
});

/** A GET with the token of our service account, in its own name or in another's. */
async function ask(path: string, as: Headers) {
  const headers = { authorization: `Bearer ${token}`, ...as };
  const { statusCode: status, body } = await request(cluster.url + path, { dispatcher: pool, headers });
  return { status, text: await body.text() };
}

describe('our own account, with the rights of deploy/gateway', () => {
  test('8.1 acts as a named user with the named groups and the session, and has what that user has', async () => {
    const forbidden = await ask('/api/v1/secrets', ADMIN);
    expect([forbidden.status, forbidden.text]).toEqual([403, expect.stringContaining('User \\"admin\\" cannot list')]);
    await cluster.kubectl(['create', 'clusterrole', 'pod-readers', '--verb=list', '--resource=pods']);
    const to = ['--clusterrole=pod-readers', '--group=gatehouse-admins'];
    await cluster.kubectl(['create', 'clusterrolebinding', 'pod-readers', ...to]);
    await eventually(
      () => ask('/api/v1/pods', ADMIN),
      ({ status }) => status === 200,
    );
  });

  test.each<[string, Headers]>([
    ['another user', { 'impersonate-user': 'bob' }],
    ['another group', { 'impersonate-group': ['gatehouse-admins', 'developers', AUTHENTICATED] }],
    ['administrators of the cluster', { 'impersonate-group': ['system:masters', AUTHENTICATED] }],
    ['nobody', { 'impersonate-user': 'system:anonymous', 'impersonate-group': [] }],
    ['a service account', { 'impersonate-user': `system:serviceaccount:${NAMESPACE}:gatehouse` }],
    ['a node', { 'impersonate-user': 'system:node:node-a', 'impersonate-group': ['system:nodes', AUTHENTICATED] }],
    ['a uid', { 'impersonate-uid': 'u-1' }],
    ['another extra', { 'impersonate-extra-scopes': 'all' }],
    ['the session of another platform', { 'impersonate-extra-kubesphere.io%2fsession': 's-1' }],
  ])('8.1 does not act as, or with, %s', async (_, change) => {
    const { status, text } = await ask('/api', { ...ADMIN, ...change });
    expect([status, text]).toEqual([403, expect.stringContaining('cannot impersonate resource')]);
  });

  test('8.1 has no more in its own name', async () => {
    for (const path of [
      '/api/v1/secrets',
      '/api/v1/events',
      '/api/v1/namespaces/default/pods/p1/log',
      '/apis/certificates.k8s.io/v1/certificatesigningrequests/c1/approval',
    ])
      expect((await ask(path, {})).status).toBe(403);
  });
});
