import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { SimulatedCluster } from '../../../dev/cluster/cluster.ts';
import { type SimulatedLogStore, startSimulatedLogStore } from '../../../dev/log-store/log-store.ts';
import type { LogDocument } from '../../../dev/log-store/stored-record.ts';
import { atEnd } from '../../support/at-end.ts';
import { RawConnection } from '../gateway/raw-connection.ts';
import {
  LOGS,
  type LogsUnderTest,
  letJoeRead,
  namespace,
  signInJoe,
  startClusterWithRights,
  startLogs,
  startOwnClusterWithRights,
  startOwnLogs,
} from './logs-under-test.ts';

/** A message, named after its namespace and day. */
const record = (name: string, day: string): LogDocument => ({
  log: `${name} ${day}`,
  time: `${day}T12:00:00.000Z`,
  kubernetes: { namespace_name: name, pod_name: `pod-${name}`, container_name: 'c', docker_id: `${name}-${day}` },
});

const DAYS = ['2026-03-01', '2026-03-08'];
/** The second of the two days is after the birth of `young` and `b`, the first before. */
const BORN = '2026-03-07T00:00:00Z';
const NAMES = ['a', 'b', 'c', 'young', 'gone'];

async function startStore(): Promise<SimulatedLogStore> {
  const store = await startSimulatedLogStore();
  store.add(NAMES.flatMap((name) => DAYS.map((day) => record(name, day))));
  return store;
}

const messages = (names: readonly string[], days = DAYS) =>
  names.flatMap((name) => days.map((day) => `${name} ${day}`));

describe('who sees which records', () => {
  let cluster: SimulatedCluster;
  let store: SimulatedLogStore;
  let logs: LogsUnderTest;
  let joe: string;
  beforeAll(async () => {
    [cluster, store] = await Promise.all([startClusterWithRights(), startStore()]);
    for (const name of ['a', 'c']) cluster.objects.create('namespaces', namespace(name));
    for (const name of ['b', 'young']) cluster.objects.create('namespaces', namespace(name, BORN));
    letJoeRead(cluster, ['a', 'b']);
    logs = await startLogs({ logging: { host: store.url }, cluster });
    joe = await signInJoe(logs);
  });
  afterAll(async () => {
    await logs?.stop();
    await store?.stop();
    await cluster?.stop();
  });
  afterEach(() => expect.poll(() => store.openScrolls()).toBe(0));

  /** What each operation tells of which records there are. */
  async function seen(token: string, parameters: Readonly<Record<string, string>>) {
    const common = { sort: 'asc', size: '100', ...parameters };
    const { body } = await logs.ask(common, { token });
    const { statistics } = (await logs.ask({ ...common, operation: 'statistics' }, { token })).body;
    const { histogram } = (await logs.ask({ ...common, operation: 'histogram', interval: '1y' }, { token })).body;
    const { text } = await logs.ask({ ...common, operation: 'export' }, { token });
    const texts: string[] = body.query.records.map(({ log }: { log: string }) => log);
    const numbers = [body.query.total, statistics.logs, statistics.containers, histogram.total];
    expect(numbers).toEqual(Array(4).fill(texts.length));
    expect(text.split('\n').slice(0, -1).sort()).toEqual([...texts].sort());
    return texts.sort();
  }

  test('L-04 whoever may read the logs of all pods sees all, also of namespaces that are gone', async () => {
    expect(await seen(logs.token, {})).toEqual(messages(NAMES).sort());
  });

  test('L-04 and by name those of namespaces that exist', async () => {
    expect(await seen(logs.token, { namespaces: 'a,gone,young' })).toEqual(messages(['a', 'young']));
    expect(await seen(logs.token, { namespace_query: 'O' })).toEqual(messages(['young']));
  });

  test('L-04 L-05 a namespace reader sees the own namespaces since they exist', async () => {
    expect(await seen(joe, {})).toEqual([...messages(['a']), 'b 2026-03-08']);
  });

  test('L-05 old records of a namesake are hidden from its reader, and shown to whoever may see all', async () => {
    expect(await seen(joe, { namespaces: 'b' })).toEqual(['b 2026-03-08']);
    expect(await seen(logs.token, { namespaces: 'b' })).toEqual(messages(['b']));
    const first = {
      start_time: String(Date.parse('2026-03-01') / 1_000),
      end_time: String(Date.parse('2026-03-02') / 1_000),
    };
    expect(await seen(joe, { namespaces: 'b', ...first })).toEqual([]);
    expect(await seen(logs.token, { namespaces: 'b', ...first })).toEqual(['b 2026-03-01']);
  });

  test('L-04 namespaces that are not allowed are left out without a word', async () => {
    expect(await seen(joe, { namespaces: 'a,c' })).toEqual(messages(['a']));
  });

  test.each<Record<string, string>>([
    { namespaces: 'c' },
    { namespaces: 'gone' },
    { namespaces: 'A' },
    { namespaces: '*' },
    { namespaces: 'a*' },
    { namespaces: ' a' },
    { namespaces: 'a\nc' },
    { namespaces: 'a', namespace_query: 'c' },
    { namespace_query: 'you' },
    { namespace_query: 'gone' },
    { namespace_query: '*' },
    { namespace_query: '.' },
  ])('L-04 A-45 where nothing is left of %o the answer is empty, and the store is not asked', async (parameters) => {
    const before = store.requests.length;
    expect(await seen(joe, parameters)).toEqual([]);
    expect(store.requests.length).toBe(before);
  });

  test.each<Record<string, string>>([
    { pods: 'pod-c,pod-gone,pod-young' },
    { pod_query: 'pod' },
    { workloads: 'pod-c' },
    { containers: 'c' },
    { container_query: 'c' },
    { log_query: 'c,gone,young' },
    { log_query: '2026' },
    { log_query: 'a"}},{"match_all":{}}' },
    { namespace_query: 'a,b,c,o' },
    { namespaces: 'a,b,c,young,gone,default' },
    { namespaces: ',' },
    { namespace_query: ',' },
    { start_time: '-62135596800', end_time: '253402300799' },
    { from: '0', size: '10000' },
  ])('A-45 no parameter shows a namespace reader more: %o', async (parameters) => {
    const mine = [...messages(['a']), 'b 2026-03-08'];
    for (const text of await seen(joe, parameters)) expect(mine).toContain(text);
    for (const { path, body } of store.requests.slice(-4))
      if (path.includes('/_search?')) expect(JSON.stringify(body)).toMatch(/namespace_name\.keyword/);
  });

  test('L-04 whoever may not ask at all is 403', async () => {
    const { status } = await logs.ask({}, { token: joe });
    expect(status).toBe(200);
    cluster.objects.remove('clusterrolebindings', 'joe');
    atEnd(() =>
      cluster.objects.create('clusterrolebindings', {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name: 'joe' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'ask' },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'joe' }],
      }),
    );
    const fresh = await startOwnLogs({ logging: { host: store.url }, cluster });
    const before = store.requests.length;
    const { status: code, body } = await fresh.ask({ namespaces: 'a' }, { token: await signInJoe(fresh) });
    expect([code, body.reason, store.requests.length]).toEqual([403, 'Forbidden', before]);
  });
});

describe('a decision that cannot be had', () => {
  test.each(['query', 'statistics', 'histogram', 'export'])(
    'is 503 and never a smaller answer (%s)',
    async (operation) => {
      const store = await startStore();
      atEnd(() => store.stop());
      const cluster = await startOwnClusterWithRights();
      for (const name of ['a', 'b']) cluster.objects.create('namespaces', namespace(name));
      letJoeRead(cluster, ['a', 'b']);
      const logs = await startOwnLogs({ logging: { host: store.url }, cluster });
      const joe = await signInJoe(logs);
      const isAboutB = ({ body }: { readonly body: unknown }): boolean => /"namespace":"b"/.test(String(body));
      cluster.faults.until({ kind: 'subjectaccessreviews', when: isAboutB }, { status: 500 });
      const { status, headers, body } = await logs.ask({ operation }, { token: joe });
      expect([status, headers.get('retry-after'), body.message]).toEqual([503, '5', 'authorization is not available']);
      expect(store.requests).toEqual([]);
    },
  );
});

test('a caller who leaves while the rights are asked has nothing asked of the store, and no further rights', async () => {
  const store = await startStore();
  atEnd(() => store.stop());
  const cluster = await startOwnClusterWithRights();
  for (let at = 0; at < 100; at++) cluster.objects.create('namespaces', namespace(`n-${at}`));
  letJoeRead(cluster, ['n-1']);
  const logs = await startOwnLogs({ logging: { host: store.url }, cluster });
  const joe = await signInJoe(logs);
  await logs.ask({ namespaces: 'nobody' }, { token: joe }); // what is asked before the namespaces is known by now
  const reviews = () => cluster.evidence.requests.filter(({ path }) => path.includes('subjectaccessreviews')).length;
  cluster.faults.until({ kind: 'subjectaccessreviews' }, { connection: 'silence' });
  const before = reviews();
  const request = `GET ${LOGS} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${joe}\r\n\r\n`;
  const client = await RawConnection.open(logs.service.gatehouse.port, request);
  await expect.poll(() => reviews()).toBeGreaterThan(before);
  client.socket.destroy();
  await expect.poll(() => logs.service.logged('request').at(-1)).toMatchObject({ status: 499 });
  expect(store.requests).toEqual([]);
});
