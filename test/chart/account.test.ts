import type { V1SelfSubjectAccessReview } from '@kubernetes/client-node';
import { type Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../cluster/eventually.ts';
import { apiDispatcher } from '../support/control-plane/api-dispatcher.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { CHART, helm, NAMESPACE } from './helm.ts';

const OWN = `/api/v1/namespaces/${NAMESPACE}`;
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const review = {
  apiVersion: 'authorization.k8s.io/v1',
  kind: 'SubjectAccessReview',
  spec: { user: 'joe', nonResourceAttributes: { path: '/', verb: 'get' } },
};
const secret = (name: string): object => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name },
  stringData: { a: 'b' },
});
/** Ends a watch at once: only whether it is let in counts. */
const WATCH = 'watch=true&timeoutSeconds=1';
const named = (name: string): string => `${OWN}/secrets?${WATCH}&fieldSelector=metadata.name=${name}`;

let cluster: ControlPlane;
let dispatcher: Agent;
let token: string;
let kubeconfig: string;

beforeAll(async () => {
  cluster = await startControlPlane();
  dispatcher = await apiDispatcher(cluster.caFile);
  kubeconfig = await cluster.kubeconfigFile();
  await helm(['--kubeconfig', kubeconfig, 'install', 'gatehouse', CHART, '-n', NAMESPACE, '--create-namespace']);
  token = await cluster.serviceAccountToken(NAMESPACE, 'gatehouse');
  // RBAC learns of bindings a moment later: of that for the cluster and of that for the namespace.
  for (const path of ['/api/v1/nodes', `${OWN}/secrets/gatehouse-signing-keys`])
    await eventually(
      () => ask('GET', path),
      (status) => status !== 403,
    );
});
afterAll(async () => {
  await dispatcher?.close();
  await cluster?.stop();
});

/** The status of a request under the account of the chart. */
async function ask(method: string, path: string, body?: object): Promise<number> {
  const answer = await request(`${cluster.url}${path}`, {
    dispatcher,
    method: method as 'GET',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  await answer.body.dump();
  return answer.statusCode;
}

describe('the chart’s service account on a real API server', () => {
  test.each([
    ['list nodes', 'GET', '/api/v1/nodes', undefined, 200],
    ['watch nodes', 'GET', `/api/v1/nodes?${WATCH}`, undefined, 200],
    ['list namespaces', 'GET', '/api/v1/namespaces', undefined, 200],
    ['watch namespaces', 'GET', `/api/v1/namespaces?${WATCH}`, undefined, 200],
    ['list pods', 'GET', '/api/v1/pods', undefined, 200],
    ['watch pods', 'GET', `/api/v1/pods?${WATCH}`, undefined, 200],
    ['ask for an access review', 'POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', review, 201],
    ['read the server’s version', 'GET', '/version', undefined, 200],
    ['create its signing keys', 'POST', `${OWN}/secrets`, secret('gatehouse-signing-keys'), 201],
    ['read its signing keys', 'GET', `${OWN}/secrets/gatehouse-signing-keys`, undefined, 200],
    ['watch its signing keys', 'GET', named('gatehouse-signing-keys'), undefined, 200],
    ['update its signing keys', 'PUT', `${OWN}/secrets/gatehouse-signing-keys`, secret('gatehouse-signing-keys'), 200],
    ['watch the first administrator', 'GET', named('gatehouse-first-administrator'), undefined, 200],
    [
      'read the first administrator that is not there yet',
      'GET',
      `${OWN}/secrets/gatehouse-first-administrator`,
      undefined,
      404,
    ],
    // Of sessions in Secrets nobody knows the names: so all Secrets of the namespace.
    ['list the Secrets of its namespace', 'GET', `${OWN}/secrets`, undefined, 200],
    ['watch the Secrets of its namespace', 'GET', `${OWN}/secrets?${WATCH}`, undefined, 200],
  ])('8.1 may %s', async (_, method, path, body, status) => {
    expect(await ask(method, path, body)).toBe(status);
  });

  test.each([
    ['list Secrets of all namespaces', 'GET', '/api/v1/secrets'],
    ['read a Secret of that name elsewhere', 'GET', '/api/v1/namespaces/default/secrets/gatehouse-signing-keys'],
    ['create a Secret elsewhere', 'POST', '/api/v1/namespaces/default/secrets', secret('x')],
    ['list events', 'GET', '/api/v1/events'],
    ['change a ConfigMap', 'PUT', `${OWN}/configmaps/c1`, {}],
    ['read the logs of a pod', 'GET', '/api/v1/namespaces/default/pods/p1/log'],
    ['get one node', 'GET', '/api/v1/nodes/n1'],
    ['get nodes/proxy', 'GET', '/api/v1/nodes/n1/proxy/metrics'],
    ['delete a node', 'DELETE', '/api/v1/nodes/n1'],
    ['delete a pod', 'DELETE', '/api/v1/namespaces/default/pods/p1'],
    ['create a pod', 'POST', '/api/v1/namespaces/default/pods', {}],
    ['execute in a pod', 'POST', '/api/v1/namespaces/default/pods/p1/exec?command=id'],
    ['execute in a pod by a websocket', 'GET', '/api/v1/namespaces/default/pods/p1/exec?command=id'],
    ['make tokens', 'POST', `${OWN}/serviceaccounts/gatehouse/token`, {}],
    ['create a ClusterRoleBinding', 'POST', `${RBAC}/clusterrolebindings`, {}],
    ['change its own Role', 'PUT', `${RBAC}/namespaces/${NAMESPACE}/roles/gatehouse`, {}],
  ])('8.1 may not %s', async (_, method, path, body: object | undefined = undefined) => {
    expect(await ask(method, path, body)).toBe(403);
  });

  /** What the API server serves, and which of `verbs` the account may do there, over all namespaces. */
  async function mayDo(resource: string, verbs: readonly string[]): Promise<string[]> {
    const [name = '', ...group] = resource.split('.');
    const allowed = await Promise.all(
      verbs.map(async (verb) => {
        const resourceAttributes = { resource: name, group: group.join('.'), verb };
        const answer = await request(`${cluster.url}/apis/authorization.k8s.io/v1/selfsubjectaccessreviews`, {
          ...{ dispatcher, method: 'POST' },
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          body: JSON.stringify({ spec: { resourceAttributes } }),
        });
        return ((await answer.body.json()) as V1SelfSubjectAccessReview).status?.allowed ? verb : '';
      }),
    );
    return allowed.filter(Boolean);
  }

  test('8.1 may read every kind of Kubernetes but Secrets and events, and change none of them', async () => {
    const served = await cluster.kubectl(['api-resources', '--verbs=list,watch', '--output=name']);
    const kinds = served.trim().split('\n');
    expect(kinds.length).toBeGreaterThan(40);
    const may: Record<string, string[]> = {};
    for (const kind of kinds)
      may[kind] = await mayDo(kind, ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete']);
    const read = ['get', 'list', 'watch'];
    expect(may).toEqual({
      ...Object.fromEntries(kinds.map((kind) => [kind, read])),
      ...{ nodes: ['list', 'watch'], namespaces: ['list', 'watch'] },
      ...{ secrets: [], events: [], 'events.events.k8s.io': [] },
    });
  });

  test('8.1 may not impersonate', async () => {
    const answer = await request(`${cluster.url}/api/v1/nodes`, {
      dispatcher,
      headers: { authorization: `Bearer ${token}`, 'impersonate-user': 'joe' },
    });
    await answer.body.dump();
    expect(answer.statusCode).toBe(403);
  });
});

describe('the chart’s service account with sessions in memory', () => {
  beforeAll(async () => {
    const memory = ['--set', 'sessions.store=memory', '--set', 'allow.forgetEndedSessions=true'];
    await helm(['--kubeconfig', kubeconfig, 'upgrade', 'gatehouse', CHART, '-n', NAMESPACE, ...memory]);
    await eventually(
      () => ask('GET', `${OWN}/secrets`),
      (status) => status === 403,
    );
  });

  test.each([
    ['read its signing keys', 'GET', `${OWN}/secrets/gatehouse-signing-keys`],
    ['watch the first administrator', 'GET', named('gatehouse-first-administrator')],
  ])('8.1 may %s', async (_, method, path) => {
    expect(await ask(method, path)).toBe(200);
  });

  test.each([
    ['list Secrets', 'GET', `${OWN}/secrets`],
    ['watch all Secrets of its namespace', 'GET', `${OWN}/secrets?${WATCH}`],
    ['read another Secret', 'GET', `${OWN}/secrets/sh.helm.release.v1.gatehouse.v1`],
    ['delete its signing keys', 'DELETE', `${OWN}/secrets/gatehouse-signing-keys`],
  ])('8.1 may not %s', async (_, method, path) => {
    expect(await ask(method, path)).toBe(403);
  });
});
