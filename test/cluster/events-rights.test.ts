import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { type CannedStore, foundBody, startCannedStore } from '../support/logs/canned-store.ts';
import { eventually } from './eventually.ts';
import { type Gatehouse, startGatehouse } from './gatehouse.ts';
import { NAMESPACE } from './installation.ts';

const TENANT = '/kapis/tenant.gatehouse.io/v1alpha2';
const NAMES = ['a', 'b', 'c'];
const GROUP = 'tenant.gatehouse.io';

/** Where each caller may list events, and audit events: `everywhere`, or in these namespaces. */
const CALLERS: Readonly<Record<string, { readonly events: Where; readonly audit: Where }>> = {
  wanda: { events: 'everywhere', audit: 'everywhere' },
  anna: { events: ['a'], audit: ['b'] },
  bob: { events: ['a', 'b'], audit: [] },
  aud: { events: [], audit: ['a', 'c'] },
  nobody: { events: [], audit: [] },
};

type Where = 'everywhere' | readonly string[];

const OPERATIONS = ['query', 'statistics', 'histogram'] as const;

/** The API server does not serve this group, so that kubectl cannot make the roles by their verbs and resources. */
const ROLES = ['events', 'auditevents'].map((resource) => ({
  ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: `ours-${resource}` } },
  rules: [{ apiGroups: [GROUP], resources: [resource], verbs: ['list'] }],
}));

/** An event of a namespace, which says so, and one of a node, which is in no namespace. */
const eventIn = (namespace: string) => ({
  ...{
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: `said-in-${namespace || 'none'}`, namespace: namespace || 'default' },
  },
  involvedObject: {
    kind: namespace ? 'Pod' : 'Node',
    name: 'x',
    uid: `uid-${namespace}`,
    ...(namespace ? { namespace } : {}),
  },
  ...{ type: 'Normal', reason: 'Said', message: `in ${namespace}`, reportingComponent: 'test' },
  lastTimestamp: new Date(Date.now() + 60_000).toISOString().replace(/\.\d+Z$/, 'Z'),
});

let cluster: ControlPlane;
let store: CannedStore;
let gatehouse: Gatehouse;
const tokens = new Map<string, string>();

beforeAll(async () => {
  [cluster, store] = await Promise.all([startControlPlane(), startCannedStore(() => ({ body: foundBody([], 0) }))]);
  for (const name of NAMES) await cluster.kubectl(['create', 'namespace', name]);
  for (const object of [...ROLES, ...[...NAMES, ''].map(eventIn)])
    await cluster.kubectl(['apply', '-f', '-'], JSON.stringify(object));
  await cluster.kubectl(['create', 'clusterrole', 'list-events', '--verb=list', '--resource=events']);
  // What the chart gives with `events.live`.
  await cluster.kubectl(['create', 'clusterrole', 'follow-events', '--verb=get,list,watch', '--resource=events']);
  const account = ['--clusterrole=follow-events', `--serviceaccount=${NAMESPACE}:gatehouse`];
  await cluster.kubectl(['create', 'clusterrolebinding', 'follow-events', ...account]);
  for (const [name, { events, audit }] of Object.entries(CALLERS)) {
    await bind(name, 'ours-events', 'everywhere');
    await bind(name, 'list-events', events);
    await bind(name, 'ours-auditevents', audit);
  }
  const people = Object.fromEntries([...Object.keys(CALLERS), 'stranger'].map((name) => [name, []]));
  gatehouse = await startGatehouse(cluster, people, {
    config: { events: { live: true }, auditing: { host: store.url } },
  });
  for (const name of Object.keys(people)) tokens.set(name, await gatehouse.signIn(name));
  await eventually(
    () => ask('aud', 'auditing/events?objectref_namespace_filter=c'),
    () => JSON.stringify(store.asked.map(({ body }) => body)).includes('"c"'), // RBAC learns of a binding a moment later
  );
});
afterAll(async () => {
  await gatehouse?.stop();
  await store?.stop();
  await cluster?.stop();
});

async function bind(user: string, role: string, where: Where): Promise<void> {
  const by = [`--clusterrole=${role}`, `--user=${user}`];
  if (where === 'everywhere') await cluster.kubectl(['create', 'clusterrolebinding', `${role}-${user}`, ...by]);
  else
    for (const one of where)
      await cluster.kubectl(['create', 'rolebinding', `${role}-${user}`, `--namespace=${one}`, ...by]);
}

const ask = (caller: string, path: string) => gatehouse.get(`${TENANT}/${path}`, tokens.get(caller) ?? '');

/** What the answer of an operation says of how many events there are. */
const totalOf = (body: unknown): number => {
  const { query, statistics, histogram } = body as Record<string, { total: number; events: number }>;
  return query?.total ?? statistics?.events ?? histogram?.total ?? Number.NaN;
};

describe.each(Object.entries(CALLERS))('%s', (caller, { events, audit }) => {
  const readable = events === 'everywhere' ? NAMES : events;

  test.each(OPERATIONS)(
    'E-01 finds the live events of the namespaces that the cluster lets list: %s',
    async (operation) => {
      const path = `events?operation=${operation}&reason_filter=Said&interval=1h`;
      const { status, body } = await ask(caller, path);
      expect([status, totalOf(body)]).toEqual([200, readable.length + (events === 'everywhere' ? 1 : 0)]);
      for (const name of NAMES) {
        const { body: one } = await ask(caller, `${path}&involved_object_namespace_filter=${name}`);
        expect([name, totalOf(one)]).toEqual([name, readable.includes(name) ? 1 : 0]);
      }
    },
  );

  test.each(OPERATIONS)(
    'AU-01 AU-02 is shown audit records of the namespaces with the right only: %s',
    async (operation) => {
      const before = store.asked.length;
      const { status } = await ask(caller, `auditing/events?operation=${operation}`);
      expect(status).toBe(audit.length === 0 ? 403 : 200);
      const asked = store.asked.slice(before).map(({ body }) => JSON.stringify(body['query']));
      if (audit === 'everywhere') return expect(asked).toEqual([expect.not.stringContaining('ObjectRef.Namespace')]);
      if (audit.length === 0) return expect(asked).toEqual([]);
      const named = NAMES.filter((name) => asked[0]?.includes(`"ObjectRef.Namespace.keyword":"${name}"`));
      expect([asked.length, named]).toEqual([1, audit]);
    },
  );
});

test('E-02 somebody without the right to the path is refused, with rights in namespaces or without', async () => {
  await bind('stranger', 'list-events', ['a']);
  expect((await ask('stranger', 'events')).status).toBe(403);
});
