import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hashPassword } from '../../src/users/password-hash.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { Watcher } from '../support/watcher.ts';
import { endNamespace } from './end-namespace.ts';
import { eventually } from './eventually.ts';
import { type Gatehouse, startGatehouse } from './gatehouse.ts';
import { isReady } from './program.ts';
import { rights, rule, user } from './rights.ts';
import { grantWidgets, installWidgets, widget } from './widgets.ts';

const ROOT = '/kapis/resources.gatehouse.io/v1alpha3';

/** Where each may read pods at first. The tests change that beside each other, so each has a caller and namespaces of its own. */
const CALLERS = { mover: ['red', 'blue'], leaver: ['leaves', 'renewed', 'stays'], watcher: ['first'] } as const;
type Caller = keyof typeof CALLERS | 'admin';
/** The namespaces that nobody but the administrator may read at first. */
const OTHERS = ['green', 'second'];

/** Ages and waits pass so many times as fast in one replica, because the least `nodes.maxStaleness` is two minutes. */
const TIMES = 5;

let cluster: ControlPlane;
let folder: string;
let gatehouse: Gatehouse;
let other: Gatehouse;
let hurried: Gatehouse;
const tokens = new Map<Caller, string>();

const create = (...items: readonly object[]): Promise<string> =>
  cluster.kubectl(['create', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));

const namespace = (name: string): object => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
const pod = (place: string, name: string): object => ({
  ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: place } },
  spec: { containers: [{ name: 'main', image: 'example/main' }] },
});
const readingIn = (caller: Caller, place: string): object[] =>
  rights(caller, [rule('', 'pods', ['list', 'watch'])], user(caller), place);

beforeAll(async () => {
  cluster = await startControlPlane();
  folder = await mkdtemp(join(tmpdir(), 'gatehouse-kinds-follow-'));
  await installWidgets(cluster);
  await grantWidgets(cluster);
  const places = [...Object.values(CALLERS).flat(), ...OTHERS];
  await create(
    ...places.map(namespace),
    ...rights('test-admin', [rule('*', '*', ['*'])], user('admin')),
    ...Object.entries(CALLERS).flatMap(([caller, own]) => own.flatMap((place) => readingIn(caller as Caller, place))),
  );
  await create(...places.map((place) => pod(place, 'one')), widget('red', 'one'));
  // All replicas accept each other's tokens, and have the same users file: another hash would count as another password.
  const names = ['admin', ...Object.keys(CALLERS)] as Caller[];
  const users = names.map(async (name) => ({ name, passwordHash: await hashPassword(`${name}-password`, 10) }));
  const file = join(folder, 'users.json');
  await writeFile(file, JSON.stringify({ users: await Promise.all(users) }));
  const config = {
    authentication: { oauthOptions: { issuer: 'http://localhost/oauth' } },
    users: { file },
    nodes: { maxStaleness: '2m' },
  };
  // One after the other: the later ones find the signing key of the first.
  gatehouse = await startGatehouse(cluster, {}, { config });
  other = await startGatehouse(cluster, {}, { config });
  hurried = await startGatehouse(cluster, {}, { config, times: TIMES });
  for (const name of names) tokens.set(name, await gatehouse.signIn(name));
  // RBAC sees new bindings a moment later, and so do the replicas.
  for (const replica of [gatehouse, other])
    for (const [caller, own] of Object.entries(CALLERS))
      await eventually(
        () => seenBy(caller as Caller, replica),
        (seen) => seen.join() === [...own].sort().join(),
      );
});

afterAll(async () => {
  for (const replica of [gatehouse, other, hurried]) await replica?.stop();
  await cluster?.stop();
  await rm(folder, { recursive: true, force: true });
});

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of many kinds
  readonly body: any;
}

const authorization = (caller: Caller): { authorization: string } => ({
  authorization: `Bearer ${tokens.get(caller)}`,
});

async function ask(path: string, caller: Caller = 'admin', replica = gatehouse): Promise<Answer> {
  const answer = await fetch(`${replica.url}${ROOT}/${path}`, { headers: authorization(caller) });
  return { status: answer.status, headers: answer.headers, body: await answer.json() };
}

/** The namespaces of the pods that the caller gets in one list. */
async function seenBy(caller: Caller, replica = gatehouse): Promise<string[]> {
  const { body } = await ask('pods', caller, replica);
  const items: { metadata: { namespace: string } }[] = body.items ?? [];
  return [...new Set(items.map(({ metadata }) => metadata.namespace))].sort();
}

const becomes = (caller: Caller, ...wanted: readonly string[]): Promise<string[]> =>
  eventually(
    () => seenBy(caller),
    (seen) => seen.join() === wanted.join(),
  );

test.concurrent('KD-15 a right that comes or goes counts after the next reviews', async () => {
  expect(await seenBy('mover')).toEqual(['blue', 'red']);
  await cluster.kubectl(['delete', 'rolebinding', 'mover', '--namespace', 'red']);
  await create(...readingIn('mover', 'green'));
  await becomes('mover', 'blue', 'green');
});

test.concurrent('KD-15 a deleted namespace is left out at once, and one of its name is another one', async () => {
  const knownAs = async (name: string): Promise<unknown> => (await ask(`namespaces/${name}`)).body.metadata.uid;
  expect(await seenBy('leaver')).toEqual(['leaves', 'renewed', 'stays']);
  await endNamespace(cluster, 'leaves');
  await eventually(
    () => knownAs('leaves'),
    (uid) => uid === undefined,
  );
  // The pod in it is still there, and so is the right.
  expect((await ask('namespaces/leaves/pods')).body.totalItems).toBe(1);
  const left = await ask('pods', 'leaver');
  expect([left.headers.get('gatehouse-scope'), left.body.totalItems]).toEqual(['permitted; namespaces=2', 2]);
  const old = await knownAs('renewed');
  await endNamespace(cluster, 'renewed');
  for (const what of ['rolebinding/leaver', 'role/leaver'])
    await cluster.kubectl(['delete', what, '--namespace', 'renewed']);
  await create(namespace('renewed'));
  await eventually(
    () => knownAs('renewed'),
    (uid) => uid !== undefined && uid !== old,
  );
  expect(await seenBy('leaver')).toEqual(['stays']);
  // A decision about the name holds for ten seconds, and may have been made before the right went.
  await eventually(
    () => ask('namespaces/renewed/pods', 'leaver'),
    ({ status }) => status === 403,
  );
  await becomes('leaver', 'stays');
  await create(...readingIn('leaver', 'renewed'));
  await becomes('leaver', 'renewed', 'stays');
});

test.concurrent('KD-17 a watch resumes on another replica with the same rights, and begins again with others', async () => {
  const opened: Watcher[] = [];
  const watch = async (replica: Gatehouse, query: string, caller: Caller, headers = {}): Promise<Watcher> => {
    const all = { ...authorization(caller), ...headers };
    const watcher = await Watcher.open(`${replica.url}${ROOT}/pods?watch=true${query}`, all);
    opened.push(watcher);
    return watcher;
  };
  try {
    const first = await watch(gatehouse, '', 'watcher');
    const version = await eventually(
      async () => first.version,
      (text) => text !== '',
    );
    expect(version).toMatch(/~[0-9a-f]{16}$/);
    first.close();
    await create(pod('first', 'two'));
    const from = `&resourceVersion=${version}`;
    const same = await watch(other, from, 'watcher');
    const changes = await eventually(
      async () => same.story.filter((line) => line !== 'BOOKMARK'),
      ({ length }) => length > 0,
    );
    expect(changes).toEqual(['ADDED two']);
    expect((await watch(other, from, 'admin')).status).toBe(410);
    await create(...readingIn('watcher', 'second'));
    const resumed = async (): Promise<number | undefined> => {
      const watcher = await watch(other, from, 'watcher');
      watcher.close();
      return watcher.status;
    };
    await eventually(resumed, (status) => status === 410);
    const form = { accept: 'text/event-stream', 'last-event-id': version };
    const events = await watch(other, '', 'watcher', form);
    const text = await eventually(
      async () => events.text,
      (so) => ['one', 'two'].every((name) => so.includes(`"name":"${name}"`)) && so.includes('"namespace":"second"'),
    );
    expect(text).toMatch(/event: ?reset/);
  } finally {
    for (const watcher of opened) watcher.close();
  }
});

test.concurrent('KD-25 a kind that the cluster no longer lets us follow is answered with its age, then 503, and the replica stays ready', async () => {
  const seen = async (): Promise<string> => {
    const { status, headers, body } = await ask('widgets.example.com', 'admin', hurried);
    return status === 200 ? `200 ${headers.get('warning') ?? ''}` : `${status} ${body.message}`;
  };
  const statusOfPods = async (): Promise<number> => (await ask('pods', 'admin', hurried)).status;
  await eventually(statusOfPods, (status) => status === 200);
  const [story, others] = [new Set<string>(), new Set<unknown>()];
  story.add(await eventually(seen, (now) => now === '200 '));
  await cluster.kubectl(['delete', 'clusterrolebinding', 'widgets']);
  await eventually(
    async () => {
      const now = await seen();
      story.add(now);
      others.add(await isReady(hurried.url));
      others.add(await statusOfPods());
      return now;
    },
    (now) => now.startsWith('503'),
  );
  const tooOld = '503 widgets are not available: data is older than 2m0s';
  expect([...story]).toEqual(['200 ', '200 110 - "Response is Stale"', tooOld]);
  expect(others).toEqual(new Set([true, 200]));
  await cluster.kubectl(['delete', 'clusterrole', 'widgets']);
  await grantWidgets(cluster);
  await eventually(seen, (now) => now === '200 ');
});
