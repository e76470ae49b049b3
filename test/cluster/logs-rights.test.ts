import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type SimulatedLogStore, startSimulatedLogStore } from '../../dev/log-store/log-store.ts';
import type { LogDocument } from '../../dev/log-store/stored-record.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { endNamespace } from './end-namespace.ts';
import { eventually } from './eventually.ts';
import { type Gatehouse, startGatehouse } from './gatehouse.ts';

const LOGS = '/kapis/tenant.gatehouse.io/v1alpha2/logs';
const HOUR_MS = 3_600_000;
const TIMES = { before: Date.now() - 24 * HOUR_MS, after: Date.now() + 24 * HOUR_MS };

/** `again` was deleted and made anew, `gone` is deleted. Each has a record from before the test and one of tomorrow. */
const NAMES = ['a', 'b', 'c', 'again', 'gone'];
const RECORDS = NAMES.flatMap((name) =>
  Object.entries(TIMES).map(
    ([when, at]): LogDocument => ({
      log: `${name} ${when}`,
      time: new Date(at).toISOString(),
      kubernetes: { namespace_name: name, pod_name: `pod-${name}`, container_name: 'c', docker_id: `${name} ${when}` },
    }),
  ),
);

/** Records of namespaces that a reader of them may see, and all that there are of them. */
const since = (...names: string[]): string[] => names.map((name) => `${name} after`);
const all = (...names: string[]): string[] => names.flatMap((name) => [`${name} after`, `${name} before`]);

/** What each caller may do: `everywhere`, or in these namespaces. Whoever is not named may not even ask. */
const CALLERS: Readonly<Record<string, 'everywhere' | readonly string[]>> = {
  wanda: 'everywhere',
  anna: ['a'],
  bob: ['a', 'b'],
  again: ['again'],
  nobody: [],
  late: ['a', 'b'],
};

interface Row {
  readonly caller: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly seen: readonly string[];
}
const row = (caller: string, parameters: Row['parameters'], seen: readonly string[]): Row => ({
  caller,
  parameters,
  seen,
});

const ROWS: readonly Row[] = [
  row('wanda', {}, all(...NAMES)),
  row('wanda', { namespaces: 'a,again' }, all('a', 'again')),
  row('wanda', { namespaces: 'gone' }, []),
  row('wanda', { namespace_query: 'A' }, all('a', 'again')),
  row('anna', {}, since('a')),
  row('anna', { namespaces: 'a' }, since('a')),
  row('anna', { namespaces: 'a,b,c,gone,again' }, since('a')),
  row('anna', { namespaces: 'b' }, []),
  row('anna', { namespaces: 'kube-system' }, []),
  row('anna', { namespace_query: 'a,b,c' }, since('a')),
  row('anna', { pods: 'pod-a,pod-b,pod-again' }, since('a')),
  row('anna', { log_query: 'b,c,gone' }, []),
  row('bob', {}, since('a', 'b')),
  row('bob', { namespaces: 'b,c' }, since('b')),
  row('bob', { namespaces: 'a,b', namespace_query: 'b' }, since('b')),
  row('again', {}, since('again')),
  row('again', { namespaces: 'gone' }, []),
  row('nobody', {}, []),
  row('nobody', { namespaces: 'a' }, []),
];

/** The API server does not serve this group, so that kubectl cannot make the role by its verbs and resources. */
const MAY_ASK = JSON.stringify({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: 'ask' },
  rules: [{ apiGroups: ['tenant.gatehouse.io'], resources: ['logs'], verbs: ['list'] }],
});

let cluster: ControlPlane;
let store: SimulatedLogStore;
let gatehouse: Gatehouse;
const tokens = new Map<string, string>();

beforeAll(async () => {
  [cluster, store] = await Promise.all([startControlPlane(), startSimulatedLogStore()]);
  store.add(RECORDS);
  for (const name of NAMES) await cluster.kubectl(['create', 'namespace', name]);
  for (const name of ['again', 'gone']) await endNamespace(cluster, name);
  await cluster.kubectl(['create', 'namespace', 'again']);
  await cluster.kubectl(['apply', '-f', '-'], MAY_ASK);
  await cluster.kubectl(['create', 'clusterrole', 'read', '--verb=get', '--resource=pods/log']);
  for (const [name, where] of Object.entries(CALLERS)) {
    await cluster.kubectl(['create', 'clusterrolebinding', `ask-${name}`, '--clusterrole=ask', `--user=${name}`]);
    const read = ['--clusterrole=read', `--user=${name}`];
    if (where === 'everywhere') await cluster.kubectl(['create', 'clusterrolebinding', `read-${name}`, ...read]);
    else for (const one of where) await cluster.kubectl(['create', 'rolebinding', name, `--namespace=${one}`, ...read]);
  }
  gatehouse = await startGatehouse(cluster, people(), { config: { logging: { host: store.url } } });
  for (const name of [...Object.keys(CALLERS), 'stranger']) tokens.set(name, await gatehouse.signIn(name));
  await eventually(
    () => gatehouse.get(`${LOGS}?namespaces=b`, tokens.get('bob') ?? ''),
    ({ status, body }) => status === 200 && totalOf(body) === 1, // RBAC learns of a binding a moment later
  );
});
afterAll(async () => {
  await gatehouse?.stop();
  await store?.stop();
  await cluster?.stop();
});

const people = () => Object.fromEntries([...Object.keys(CALLERS), 'stranger'].map((name) => [name, []]));
const totalOf = (body: unknown): number => (body as { query: { total: number } }).query.total;

async function ask(server: Gatehouse, token: string, parameters: Readonly<Record<string, string>>) {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`${server.url}${LOGS}?${new URLSearchParams(parameters)}`, { headers });
  const text = await answer.text();
  return { status: answer.status, text };
}

describe.each(ROWS)('L-04 L-05 $caller, who asks with $parameters,', ({ caller, parameters, seen }) => {
  const token = (): string => tokens.get(caller) ?? '';
  const json = async (operation: string) => {
    const { status, text } = await ask(gatehouse, token(), { ...parameters, operation, interval: '1d', size: '100' });
    expect(status).toBe(200);
    return JSON.parse(text);
  };

  test('finds what the rights allow', async () => {
    const { query } = await json('query');
    expect(query.records.map(({ log }: { log: string }) => log).sort()).toEqual([...seen].sort());
    expect(query.total).toBe(seen.length);
  });

  test('counts, sums up and exports the same', async () => {
    const { statistics } = await json('statistics');
    const { histogram } = await json('histogram');
    const { text } = await ask(gatehouse, token(), { ...parameters, operation: 'export' });
    expect(statistics).toEqual({ containers: seen.length, logs: seen.length });
    expect(text.split('\n').slice(0, -1).sort()).toEqual([...seen].sort());
    // The open end of a histogram lies an hour ahead.
    expect(histogram.total).toBe(seen.filter((log) => log.endsWith('before')).length);
  });
});

test('L-04 whoever may not ask is 403, whatever is asked for', async () => {
  const before = store.requests.length;
  for (const operation of ['query', 'statistics', 'histogram', 'export'])
    expect((await ask(gatehouse, tokens.get('stranger') ?? '', { operation })).status).toBe(403);
  expect(store.requests.length).toBe(before);
});

test('L-04 a decision that cannot be had is 503, never a smaller answer; known ones hold, whole', async () => {
  const [bob, late] = [tokens.get('bob') ?? '', tokens.get('late') ?? ''];
  const known = await ask(gatehouse, bob, {});
  expect((await ask(gatehouse, late, { namespaces: 'a' })).status).toBe(200); // that on `b` is not asked yet
  const resume = cluster.freezeApiServer();
  try {
    const before = store.requests.length;
    for (const operation of ['query', 'statistics', 'histogram', 'export'])
      expect([operation, (await ask(gatehouse, late, { operation })).status]).toEqual([operation, 503]);
    expect(store.requests.length).toBe(before);
    expect(await ask(gatehouse, bob, {})).toEqual(known);
  } finally {
    resume();
  }
  await eventually(
    () => ask(gatehouse, late, {}),
    ({ status, text }) => status === 200 && totalOf(JSON.parse(text)) === 2,
  );
});
