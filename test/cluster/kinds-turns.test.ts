import { setImmediate as nextTurn } from 'node:timers/promises';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { KindMetrics } from '../../src/kinds/metrics.ts';
import { HeldKinds } from '../../src/kinds/mirrors/held-kinds.ts';
import { ObjectSearch, type SearchedKind } from '../../src/kinds/search/object-search.ts';
import { PLAIN_WORDS } from '../../src/kinds/words/kind-words.ts';
import { type Cluster, connectCluster } from '../../src/kubernetes/cluster.ts';
import type { ClusterKind } from '../../src/kubernetes/discovery/cluster-kind.ts';
import type { ReflectedStore, StoredEntry } from '../../src/kubernetes/reflector/store.ts';
import { type Clock, systemClock } from '../../src/runtime/clock.ts';
import { mapAtOnce } from '../../src/runtime/limits/map-at-once.ts';
import { systemRandom } from '../../src/runtime/random.ts';
import { TimeSlices } from '../../src/runtime/time-slices.ts';
import { ObjectRequests } from '../support/control-plane/object-requests.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { watchedLeaves } from '../unit/kinds/search/searched-kinds.ts';
import { eventually } from './eventually.ts';
import { type Gatehouse, startGatehouse } from './gatehouse.ts';
import { rights, rule, user } from './rights.ts';
import { grantWidgets, installWidgets } from './widgets.ts';

const ROOT = '/kapis/resources.gatehouse.io/v1alpha3';
const PLACES = Array.from({ length: 40 }, (_, at) => `n-${String(at).padStart(2, '0')}`);
const CONFIG_MAPS = 3_000;
const WIDGETS = 1_000;
/** A leaf has some 32 objects of this size, so each kind has dozens of leaves. */
const TEXT = 'x'.repeat(4_000);
/** Requests in flight while the cluster is filled. */
const AT_ONCE = 32;

const listable = { namespaced: true, shortNames: [], verbs: ['get', 'list', 'watch'] };
interface FilledKind extends ClusterKind {
  readonly count: number;
}

const KINDS: readonly FilledKind[] = [
  {
    ...{ ...listable, group: '', version: 'v1', resource: 'configmaps', count: CONFIG_MAPS },
    ...{ kind: 'ConfigMap', singularName: 'configmap' },
  },
  {
    ...{ ...listable, group: 'example.com', version: 'v1', resource: 'widgets', count: WIDGETS },
    ...{ kind: 'Widget', singularName: 'widget' },
  },
];

/** The name of a kind in answers. */
const nameOf = ({ resource, group }: ClusterKind): string => [resource, group].filter(Boolean).join('.');

/** The path of its group. */
const rootOf = ({ group, version }: Pick<ClusterKind, 'group' | 'version'>): string =>
  group === '' ? `/api/${version}` : `/apis/${group}/${version}`;

let plane: ControlPlane;
let gatehouse: Gatehouse;
const tokens = new Map<string, string>();

beforeAll(async () => {
  plane = await startControlPlane();
  await installWidgets(plane);
  await grantWidgets(plane);
  const items = [
    ...PLACES.map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })),
    ...rights('test-admin', [rule('*', '*', ['*'])], user('admin')),
    ...rights('place', [rule('', 'configmaps', ['list'])], user('place'), PLACES[3]),
  ];
  await plane.kubectl(['create', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  for (const kind of KINDS) await fill(kind);
  gatehouse = await startGatehouse(plane, { admin: [], place: [] }, { config: { kinds: { memory: '64Mi' } } });
  for (const name of ['admin', 'place']) tokens.set(name, await gatehouse.signIn(name));
  for (const kind of KINDS)
    await eventually(
      () => ask(`${nameOf(kind)}?limit=1`),
      ({ status }) => status === 200, // RBAC sees new bindings a moment later
    );
});
afterAll(async () => {
  await gatehouse?.stop();
  await plane?.stop();
});

/** One namespace after the other, so that each leaf has few of them. One in ten has another beginning of its name, and a label. */
async function fill({ group, version, kind, resource, count }: FilledKind): Promise<void> {
  const { url, caFile, adminToken: token } = plane;
  const requests = await ObjectRequests.open({ url, caFile, token }, `${rootOf({ group, version })}/namespaces`);
  const createOne = (at: number): Promise<unknown> => {
    const isTenth = at % 10 === 0;
    const name = `${isTenth ? 'old-' : ''}web-${String(at).padStart(4, '0')}`;
    const metadata = { name, annotations: { text: TEXT }, ...(isTenth && { labels: { app: 'old' } }) };
    const apiVersion = [group, version].filter(Boolean).join('/');
    const place = PLACES[Math.floor((at * PLACES.length) / count)];
    return requests.send('POST', `/${place}/${resource}`, { apiVersion, kind, metadata });
  };
  const { signal } = new AbortController();
  await mapAtOnce([...Array(count).keys()], createOne, { most: AT_ONCE, signal });
  await requests.close();
}

// biome-ignore lint/suspicious/noExplicitAny: bodies of many kinds
async function ask(path: string, caller = 'admin'): Promise<{ readonly status: number; readonly body: any }> {
  return gatehouse.get(`${ROOT}/${path}`, tokens.get(caller) as string);
}

const SLICE_MS = 8;
const LOOK_MS = 1;

/** The system's clock, on which each look takes so long besides. So the steps in a slice are limited on a machine of any speed. */
const slowClock = (msOfLook: number): Clock => {
  let looks = 0;
  return { ...systemClock, monotonic: () => systemClock.monotonic() + msOfLook * looks++ };
};

/** How often something was done. */
interface Count {
  count: number;
}

/** How often it was done in each turn of the event loop while the work went on. */
async function byTurn(done: Count, work: () => unknown): Promise<readonly number[]> {
  const turns: number[] = [];
  let isOver = false;
  const working = Promise.resolve(work()).finally(() => {
    isOver = true;
  });
  const watching = async (): Promise<void> => {
    for (let last = done.count; !isOver; last += turns.at(-1) as number) {
      await nextTurn();
      turns.push(done.count - last);
    }
  };
  await Promise.all([working, watching()]);
  return turns;
}

/** Counts the steps in which lists are taken over into the store. */
function countedStore<E extends StoredEntry>(store: ReflectedStore<E>, steps: Count): ReflectedStore<E> {
  return {
    get size() {
      return store.size;
    },
    toEntry: (object) => store.toEntry(object),
    get: (key) => store.get(key),
    put: (entry) => store.put(entry),
    remove: (key, version) => store.remove(key, version),
    entries: () => store.entries(),
    readable: () => store.readable?.(),
    *prepare(entries, replacement) {
      const preparing = store.prepare(entries, replacement);
      for (let step = preparing.next(); ; step = preparing.next()) {
        steps.count++;
        if (step.done) return step.value;
        yield;
      }
    },
  };
}

/** Uses kinds of the cluster in the memory of this process. `steps` counts those in which lists are taken over; at most eight are in a slice. */
async function inThisProcess(use: (held: HeldKinds, steps: Count) => Promise<void>): Promise<void> {
  const logger = pino({ level: 'silent' });
  const parts = { random: systemRandom, logger, registry: new Registry() };
  const connected = await connectCluster(
    { kubeconfig: await plane.kubeconfigFile() },
    { ...parts, clock: slowClock(LOOK_MS) },
  );
  const steps: Count = { count: 0 };
  const reflect: Cluster['reflect'] = (resource, store, plan) =>
    connected.reflect(resource, countedStore(store, steps), plan);
  const limits = { idleMs: 600_000, maxStalenessMs: 720_000, longestPeriodMs: 3_600_000, memoryLimit: () => 2 ** 28 };
  const held = new HeldKinds(
    { platform: 'gatehouse', ...limits },
    {
      ...{ cluster: { reflect }, clock: systemClock, logger, slices: new TimeSlices(systemClock), epoch: 'e1' },
      ...{ metrics: new KindMetrics(new Registry()), wordsOf: () => PLAIN_WORDS, isSecret: () => false },
    },
  );
  const ending = new AbortController();
  const running = held.run(ending.signal);
  try {
    await use(held, steps);
  } finally {
    ending.abort();
    await running;
    await connected.close();
  }
}

test('KD-24 the first list of 3,000 objects is taken over in steps of one object, and a turn has no more of them than its slice', async () => {
  const kind = KINDS[0] as ClusterKind;
  await inThisProcess(async (held, steps) => {
    const turns = await byTurn(steps, () => held.hold(kind));
    expect(held.all().map(({ store }) => store.size >= CONFIG_MAPS)).toEqual([true]);
    expect(steps.count).toBeGreaterThan(CONFIG_MAPS);
    expect(Math.max(...turns)).toBeLessThanOrEqual(SLICE_MS / LOOK_MS);
  });
});

test('KD-42 a search goes through sixteen leaves in a step, and looks at no object in leaves without a match, and at none that it only counts', async () => {
  // Each step takes a whole slice.
  const slices = new TimeSlices(slowClock(SLICE_MS));
  await inThisProcess(async (held) => {
    for (const kind of KINDS) await held.hold(kind);
    const catalog = { kinds: async () => [], denied: async () => [] };
    const search = new ObjectSearch({ platform: 'gatehouse', always: [], catalog, mirrors: held, slices });
    const { kinds } = await search.scope();
    expect(kinds.map(({ name }) => name)).toEqual(KINDS.map(nameOf));
    const looks: Count = { count: 0 };
    const watched = kinds.map((kind): SearchedKind => ({ ...kind, leaves: watchedLeaves(kind.leaves, looks) }));
    await search.matched(watched, { text: 'nothing' }); // makes the indexes
    looks.count = 0;
    const steps = watched.reduce((sum, { leaves }) => sum + Math.ceil(leaves.length / 16), 0);
    expect(steps).toBeGreaterThan(5);
    for (const sought of [{ text: 'nothing' }, { label: { key: 'app', value: 'nothing' } }]) {
      const turns = await byTurn(looks, async () => expect(await search.matched(watched, sought)).toEqual([]));
      expect([turns.length >= steps, looks.count]).toEqual([true, 0]);
    }
    // The first kind has a better match than all of the second, which are only counted.
    const visible = [kinds[0], watched[1]].map((kind) => ({
      kind: kind as SearchedKind,
      skipped: 0,
      within: undefined,
    }));
    const { hits, totals } = await search.ranked(visible, { text: 'web' }, 1);
    expect([hits.length, Object.fromEntries(totals)]).toEqual([1, totalsOf(CONFIG_MAPS, WIDGETS)]);
    expect(looks.count).toBe(0);
  });
});

const totalsOf = (configmaps: number, widgets: number): object => ({ configmaps, 'widgets.example.com': widgets });

/** What a search shows of an object. */
interface Found {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly uid: string };
}

const lineOf = ({ kind, metadata: { namespace, name, uid } }: Found): string => [kind, namespace, name, uid].join(' ');

/** The objects that the cluster itself has, in the order of a search for this text: exact, then beginnings, then the rest. */
async function ofCluster(text: string): Promise<string[]> {
  const rankOf = ({ metadata: { name, uid } }: Found): number =>
    name === text || uid === text ? 0 : name.startsWith(text) ? 1 : 2;
  const all: { rank: number; line: string }[] = [];
  for (const { kind, resource, ...group } of KINDS) {
    const list = JSON.parse(await plane.kubectl(['get', '--raw', `${rootOf(group)}/${resource}`]));
    for (const { metadata } of list.items as Found[]) {
      const found = { kind, metadata };
      if (!metadata.name.includes(text) && metadata.uid !== text) continue;
      all.push({ rank: rankOf(found), line: lineOf(found) });
    }
  }
  return all.sort((a, b) => a.rank - b.rank || (a.line < b.line ? -1 : 1)).map(({ line }) => line);
}

test('KD-42 a search among thousands of objects finds those that the lists of the cluster have, counts all, and shows the first', async () => {
  const search = async (query: string, caller?: string): Promise<[lines: string[], totals: object]> => {
    const { status, body } = await ask(`search?${query}`, caller);
    expect(status).toBe(200);
    return [body.items.map(lineOf), body.totalItems];
  };
  const all = await ofCluster('web');
  expect(all).toHaveLength(CONFIG_MAPS + WIDGETS);
  expect(await search('limit=500&q=web')).toEqual([all.slice(0, 500), totalsOf(CONFIG_MAPS, WIDGETS)]);
  const some = await ofCluster('web-09');
  expect(await search('limit=200&q=web-09')).toEqual([some, totalsOf(100, 100)]);
  expect(await search('q=web-09')).toEqual([some.slice(0, 50), totalsOf(100, 100)]);
  const one = await ofCluster('web-0042');
  expect(await search('q=web-0042')).toEqual([one, totalsOf(1, 1)]);
  const uid = one[0]?.split(' ').at(-1) as string;
  expect(await search(`q=${uid}`)).toEqual([one.slice(0, 1), { configmaps: 1 }]);
  expect(await search('q=nothing')).toEqual([[], {}]);
  const old = await ofCluster('old-');
  expect(await search('limit=500&q=app%3Dold')).toEqual([old, totalsOf(CONFIG_MAPS / 10, WIDGETS / 10)]);
  const own = all.filter((line) => line.startsWith(`ConfigMap ${PLACES[3]} `));
  expect(await search('limit=500&q=web', 'place')).toEqual([own, { configmaps: CONFIG_MAPS / PLACES.length }]);
});
