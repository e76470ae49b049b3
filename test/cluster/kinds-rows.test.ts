import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { eventually } from './eventually.ts';
import { type Gatehouse, startGatehouse } from './gatehouse.ts';
import { rights, rule, user } from './rights.ts';
import { grantWidgets, installWidgets, widget } from './widgets.ts';

const ROOT = '/kapis/resources.gatehouse.io/v1alpha3';
const NAMESPACES = ['red', 'blue', 'green'];
const USERS = ['admin', 'place'] as const;
type User = (typeof USERS)[number];

let cluster: ControlPlane;
let gatehouse: Gatehouse;
/** Has so little memory for kinds that three objects of 400 kB do not fit whole, and six with annotations of 240 kB not at all. */
let small: Gatehouse;
const tokens = new Map<string, string>();

const create = (...items: readonly object[]): Promise<string> =>
  cluster.kubectl(['create', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));

const CONTAINERS = { containers: [{ name: 'main', image: 'example/main' }] };

const objectsIn = (namespace: string): object[] => [
  { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'one', namespace, labels: { app: 'one' } }, spec: CONTAINERS },
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one', namespace }, data: { text: 'x'.repeat(400_000) } },
  widget(namespace, 'one'),
  ...['one', 'two'].map((name) => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace, annotations: { note: 'x'.repeat(240_000) } },
    spec: {
      selector: { matchLabels: { app: 'two' } },
      template: { metadata: { labels: { app: 'two' } }, spec: CONTAINERS },
      replicas: 0,
    },
  })),
];

const RIGHTS = [
  ...rights('test-admin', [rule('*', '*', ['*'])], user('admin')),
  ...rights('place', [rule('', 'pods', ['get', 'list', 'watch'])], user('place'), 'red'),
];

const users = Object.fromEntries(USERS.map((name) => [name, []]));

beforeAll(async () => {
  cluster = await startControlPlane();
  await installWidgets(cluster);
  // Our account may not read these.
  await installWidgets(cluster, 'example.org');
  await grantWidgets(cluster);
  await create(...NAMESPACES.map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })), ...RIGHTS);
  await create(...NAMESPACES.flatMap(objectsIn));
  const deny = ['priorityclasses.scheduling.k8s.io'];
  gatehouse = await startGatehouse(cluster, users, { config: { kinds: { deny } } });
  for (const name of USERS) tokens.set(name, await gatehouse.signIn(name));
  // RBAC sees new bindings a moment later.
  await eventually(
    () => ask('namespaces?permitted=true', 'place'),
    ({ status }) => status === 200,
  );
  await eventually(
    () => ask('widgets.example.com'),
    ({ status }) => status === 200,
  );
});

afterAll(async () => {
  await small?.stop();
  await gatehouse?.stop();
  await cluster?.stop();
});

interface Answer {
  readonly status: number;
  readonly etag: string;
  readonly scope: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of many kinds
  readonly body: any;
}

async function ask(
  path: string,
  caller: User = 'admin',
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const authorization = `Bearer ${tokens.get(caller)}`;
  const answer = await fetch(`${gatehouse.url}${ROOT}/${path}`, { headers: { authorization, ...headers } });
  const text = await answer.text();
  return {
    status: answer.status,
    etag: answer.headers.get('etag') ?? '',
    scope: answer.headers.get('gatehouse-scope'),
    body: text === '' ? undefined : JSON.parse(text),
  };
}

const namesIn = ({ body }: Answer): string[] =>
  body.items.map(({ metadata }: { metadata: { namespace?: string; name: string } }) =>
    [metadata.namespace, metadata.name].filter(Boolean).join('/'),
  );

/** What the API server counted of this series so far, over all other labels. */
async function counted(series: string, labels: Readonly<Record<string, string>>): Promise<number> {
  const page = await cluster.kubectl(['get', '--raw', '/metrics']);
  const wanted = Object.entries(labels).map(([name, value]) => `${name}="${value}"`);
  const lines = page.split('\n').filter((line) => line.startsWith(`${series}{`));
  const matching = lines.filter((line) => wanted.every((label) => line.includes(label)));
  return matching.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}
const lists = (resource: string): Promise<number> => counted('apiserver_request_total', { resource, verb: 'LIST' });
const watches = (resource: string): Promise<number> =>
  counted('apiserver_longrunning_requests', { resource, verb: 'WATCH' });
const reviews = (): Promise<number> => counted('apiserver_request_total', { resource: 'subjectaccessreviews' });

test('KD-22 KD-18 nobody reads a kind until a client asks for it, and fifty clients who ask together cause one list', async () => {
  expect([await lists('jobs'), await watches('jobs')]).toEqual([0, 0]);
  const answers = await Promise.all(Array.from({ length: 50 }, () => ask('jobs?limit=10')));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  // An API server that streams lists counts the list as the watch that brings it.
  expect(await lists('jobs')).toBeLessThanOrEqual(1);
  expect([
    await watches('jobs'),
    await counted('apiserver_request_total', { resource: 'jobs', verb: 'WATCH' }),
  ]).toEqual([1, 0]);
});

test('KD-23 the list of pods and the usage of nodes share one watch', async () => {
  // The API server watches pods as well.
  const before = await watches('pods');
  expect(before).toBeGreaterThanOrEqual(1);
  expect(namesIn(await ask('pods?sortBy=name&ascending=true'))).toEqual(['blue/one', 'green/one', 'red/one']);
  // Until both have seen the same change there are two. In a quiet cluster that is a bookmark, which comes once a minute.
  const metadata = { name: 'seen-by-both', namespace: 'default' };
  await create({ apiVersion: 'v1', kind: 'Pod', metadata, spec: { ...CONTAINERS, nodeName: 'node-a' } });
  await eventually(
    () => watches('pods'),
    (now) => now === before,
  );
});

test('KD-02 a plural of two groups is ambiguous, and names both; with its group it is one of them', async () => {
  const bare = await ask('widgets');
  expect([bare.status, bare.body.message]).toEqual([400, expect.stringContaining('widgets.example.com')]);
  expect(bare.body.message).toContain('widgets.example.org');
  expect(namesIn(await ask('widgets.example.com?namespace=red'))).toEqual(['red/one']);
});

test('KD-03 made-up names are unknown', async () => {
  const answers = await Promise.all(Array.from({ length: 50 }, (_, at) => ask(`nosuchthing${at}s`)));
  expect(new Set(answers.map(({ status, body }) => `${status} ${body.kind} ${body.reason}`))).toEqual(
    new Set(['404 Status NotFound']),
  );
});

test('KD-05 KD-06 Secrets and denied kinds are not served, and what the cluster refuses to our account is refused', async () => {
  const [secrets, denied, refused] = [
    await ask('secrets'),
    await ask('priorityclasses'),
    await ask('widgets.example.org'),
  ];
  expect([secrets.status, denied.status, refused.status]).toEqual([404, 404, 403]);
  expect(refused.body.message).toContain('widgets.example.org');
});

test('KD-07 an object is that of the cluster, but for what only tools that apply objects read', async () => {
  const direct = JSON.parse(await cluster.kubectl(['get', '-n', 'red', 'pod', 'one', '-o', 'json']));
  const { body } = await ask('namespaces/red/pods/one');
  const { selfLink, ...metadata } = body.metadata;
  expect(selfLink).toBe('/api/v1/namespaces/red/pods/one');
  expect({ ...body, metadata }).toEqual(direct);
});

test('KD-11 nodes keep their own right, and namespaces that a caller may see are listed on request', async () => {
  expect((await ask('nodes', 'place')).status).toBe(403);
  expect((await ask('namespaces', 'place')).status).toBe(403);
  expect(namesIn(await ask('namespaces?permitted=true', 'place'))).toEqual(['red']);
});

test('KD-14 KD-16 the second page of a permitted list costs no review, and another caller gets no 304 for it', async () => {
  const whole = await ask('pods');
  await ask('pods', 'place');
  const own = await ask('pods?limit=1', 'place', { 'if-none-match': whole.etag });
  expect([own.status, own.scope, namesIn(own)]).toEqual([200, 'permitted; namespaces=1', ['red/one']]);
  // Rights are asked for again every few seconds, which may be now.
  const reviewsOfAPage = async (): Promise<number> => {
    const before = await reviews();
    expect((await ask('pods?limit=1&page=2', 'place')).body.totalItems).toBe(1);
    return (await reviews()) - before;
  };
  await eventually(reviewsOfAPage, (count) => count === 0);
  expect((await ask('pods', 'admin', { 'if-none-match': (await ask('pods', 'place')).etag })).status).toBe(200);
  expect((await ask('pods', 'admin', { 'if-none-match': whole.etag })).status).toBe(304);
});

test('KD-40 KD-41 a search finds of each kind what the lists of the caller would show', async () => {
  await ask('widgets.example.com');
  const all = await ask('search?q=one');
  expect(all.body.totalItems).toMatchObject({ pods: 3, 'widgets.example.com': 3 });
  const own = await ask('search?q=one', 'place');
  expect([own.body.totalItems, namesIn(own)]).toEqual([{ pods: 1 }, ['red/one']]);
});

test('KD-20 KD-21 a kind that does not fit is held by its fields and read from the cluster, or is 503', async () => {
  small = await startGatehouse(cluster, users, { config: { kinds: { memory: '1Mi' } } });
  const token = await small.signIn('admin');
  const held = await eventually(
    () => small.get(`${ROOT}/namespaces/red/configmaps?name=one&limit=5`, token),
    ({ status }) => status === 200,
  );
  expect(held.body).toMatchObject({ totalItems: 1, items: [{ data: { text: 'x'.repeat(400_000) } }] });
  expect(await small.metric('gatehouse_kinds_held{resource="configmaps",way="fields"}')).toBe(1);
  const refused = await small.get(`${ROOT}/deployments`, token);
  expect([refused.status, (refused.body as { message: string }).message]).toEqual([
    503,
    expect.stringContaining('kinds.memory'),
  ]);
  expect((await small.get(`${ROOT}/namespaces?limit=1`, token)).status).toBe(200);
});
