import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { checkSizes } from '../../../support/property.ts';
import { WatchClient, type WatchClientOptions } from './watch-client.ts';
import { type NodeState, stateOf, WatchedCluster } from './watched-cluster.ts';

const NAMES = Array.from({ length: 24 }, (_, at) => `node-${String.fromCharCode(97 + at)}`);
const REPLICAS = 2;

/**
 * Whoever goes on from what it heard last may do so anywhere. Whoever goes on from its last bookmark is at the list of that
 * version again at the same replica; at one that lags it may have what that one is to tell yet, so only its end is looked at.
 */
interface Reader extends WatchClientOptions {
  readonly sees: (state: NodeState) => boolean;
  readonly moves: boolean;
}

const READERS: readonly Reader[] = [
  { sees: () => true, moves: false },
  { sees: () => true, moves: true, form: 'events', goesOnFrom: 'event' },
  { query: 'labelSelector=tier%3Done', goesOnFrom: 'event', moves: true, sees: ({ tier }) => tier === 'one' },
  { query: 'labelSelector=tier%21%3Done', form: 'events', moves: true, sees: ({ tier }) => tier !== 'one' },
  { query: 'labelSelector=tier%3Done', moves: false, sees: ({ tier }) => tier === 'one' },
  { query: 'fieldSelector=metadata.name!%3Dnode-a', goesOnFrom: 'event', moves: true, sees: isNotA },
];

function isNotA({ name }: NodeState): boolean {
  return name !== 'node-a';
}

const name = fc.constantFrom(...NAMES);
const tier = fc.constantFrom('one', 'two');
const reader = fc.nat(READERS.length - 1);
const replica = fc.nat(REPLICAS - 1);
const collection = fc.constantFrom('nodes' as const, 'pods' as const);
const pod = fc.constantFrom('pod-a', 'pod-b', 'pod-c');
const each = <T>(weight: number, arbitrary: fc.Arbitrary<T>) => ({ weight, arbitrary });
const step = fc.oneof(
  each(3, fc.record({ do: fc.constant('put' as const), name, tier })),
  each(2, fc.record({ do: fc.constant('touch' as const), name })),
  each(3, fc.record({ do: fc.constant('remove' as const), name })),
  each(3, fc.record({ do: fc.constant('use' as const), pod, name, cpu: fc.constantFrom('1', '2') })),
  each(1, fc.record({ do: fc.constant('unuse' as const), pod })),
  each(8, fc.record({ do: fc.constant('hear' as const), replica, collection, count: fc.integer({ min: 1, max: 9 }) })),
  each(1, fc.record({ do: fc.constant('relist' as const), replica, collection, sameHistory: fc.boolean() })),
  each(1, fc.record({ do: fc.constant('restart' as const), replica })),
  each(4, fc.record({ do: fc.constant('goOn' as const), replica, count: fc.integer({ min: 1, max: 9 }) })),
  each(6, fc.record({ do: fc.constant('take' as const), reader })),
  each(1, fc.record({ do: fc.constant('keepAlive' as const), reader })),
  each(2, fc.record({ do: fc.constant('reconnect' as const), reader, replica })),
  each(3, fc.record({ do: fc.constant('cut' as const), reader, replica, events: fc.nat(3) })),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** A client of a replica that goes has to find another. */
function restart(cluster: WatchedCluster, clients: readonly WatchClient[], at: number): void {
  const gone = cluster.replicas[at]?.cache.lister;
  cluster.replicas[at]?.restart();
  for (const client of clients) if (client.source === gone) client.reconnect(cluster.replicas[at]?.cache.lister);
}

function apply(cluster: WatchedCluster, clients: readonly WatchClient[], one: Step): void {
  const client = 'reader' in one ? clients[one.reader] : undefined;
  const at = 'replica' in one ? cluster.replicas[one.replica] : undefined;
  const to = 'reader' in one && READERS[one.reader]?.moves ? at?.cache.lister : undefined;
  if (one.do === 'put') cluster.put(one.name, one.tier);
  else if (one.do === 'touch') cluster.put(one.name);
  else if (one.do === 'remove') cluster.remove(one.name);
  else if (one.do === 'use') cluster.use(one.pod, one.name, one.cpu);
  else if (one.do === 'unuse') cluster.use(one.pod, undefined, '');
  else if (one.do === 'hear') at?.hear(one.collection, one.count);
  else if (one.do === 'relist') at?.relist(one.collection, one.sameHistory);
  else if (one.do === 'goOn') at?.goOn(one.count);
  else if (one.do === 'restart') restart(cluster, clients, one.replica);
  else if (one.do === 'cut') {
    client?.cut(one.events);
    client?.reconnect(to);
  } else if (one.do === 'reconnect') client?.reconnect(to);
  else client?.[one.do]();
}

const had = ({ items }: WatchClient): string[] => [...items.values()].map(stateOf).sort();

/** A figure that went and came back while a replica did not look is told again with the node's next heartbeat. */
const withoutUsage = (text: string): string => text.slice(0, text.lastIndexOf(' '));

/** One version of one node names one state of it; a client that goes on from what it heard last sees no version twice. */
function expectVersionsToName({ told, forgotAt }: WatchClient, isExact: boolean): void {
  const states = new Map<string, string>();
  const wrong: unknown[] = [];
  for (const [at, { type, object }] of told.entries()) {
    if (at === forgotAt) states.clear();
    if (type === 'BOOKMARK' || type === 'DELETED') continue;
    const version = `${object.metadata.name} ${object.metadata.resourceVersion}`;
    const [before, state] = [states.get(version), stateOf(object)];
    if (before !== undefined && ((isExact && at >= forgotAt) || before !== state))
      wrong.push({ version, before, state });
    states.set(version, state);
  }
  expect(wrong).toEqual([]);
}

/** The versions of one object only rise, unless the client had to begin anew. */
function expectNoWayBack({ told, forgotAt }: WatchClient): void {
  const seen = new Map<string, number>();
  const back: unknown[] = [];
  for (const { type, object } of told.slice(forgotAt)) {
    if (type === 'BOOKMARK' || type === 'DELETED') continue;
    const { uid } = object.metadata;
    if (object.status.version < (seen.get(uid) ?? 0)) back.push([uid, seen.get(uid), object.status.version]);
    seen.set(uid, object.status.version);
  }
  expect(back).toEqual([]);
}

/** All nodes are there, and one reader goes on ten times, at one replica and the other, each time with something new. */
const goingOnTenTimes: readonly Step[] = [
  ...NAMES.map((one): Step => ({ do: 'put', name: one, tier: 'one' })),
  ...Array.from({ length: 10 }, (_, turn): Step[] => [
    { do: 'touch', name: NAMES[turn] as string },
    ...Array.from({ length: REPLICAS * 4 }, (_step, at): Step => hearMost(at % REPLICAS)),
    { do: 'take', reader: 1 },
    { do: 'reconnect', reader: 1, replica: turn % REPLICAS },
  ]).flat(),
];

function hearMost(at: number): Step {
  return { do: 'hear', replica: at, collection: 'nodes', count: 9 };
}

const largest = { steps: 0, nodes: 0, resumes: 0, expired: 0, bookmarks: 0, deleted: 0, goneOn: 0 };
const saw = (kind: keyof typeof largest, count: number): void => {
  largest[kind] = Math.max(largest[kind], count);
};

function run(all: readonly Step[], inSlices: boolean): void {
  const cluster = new WatchedCluster(REPLICAS, NAMES.slice(0, 12), { inSlices });
  // While much usage is counted aside, single nodes are ahead of what the list's name says.
  const named = (text: string): string => (inSlices ? withoutUsage(text) : text);
  // One text: to compare lists of texts takes longer than all else.
  const namesOf = (states: readonly NodeState[]): string => states.map(({ text }) => named(text)).join('\n');
  const note = (): void => {
    for (const one of cluster.replicas) {
      const { before, now } = cluster.note(one);
      expect(namesOf(now)).toBe(namesOf(before));
    }
  };
  note();
  const clients = READERS.map((options, at) => {
    const client = new WatchClient(cluster.replicas[at % REPLICAS]?.cache.lister as WatchClient['source'], options);
    client.onBookmark = (version) => {
      if (options.moves && options.goesOnFrom !== 'event') return;
      const states = cluster.at(version)?.filter(options.sees);
      expect(had(client).map(named)).toEqual(states?.map(({ text }) => named(text)));
    };
    return client;
  });
  for (const one of all) {
    apply(cluster, clients, one);
    note();
  }
  // A list may be newer than every event of its kind. Until a replica hears of that version, as the cluster tells it with a
  // bookmark each minute, a client who comes from there waits; here a node and a pod tell it, whatever was there before.
  cluster.put(NAMES[0] as string, 'one');
  cluster.use('pod-last', NAMES[0] as string, '1');
  for (const one of cluster.replicas) one.hearAll();
  note();
  const newest = cluster.note(cluster.replicas[0] as WatchedCluster['replicas'][0]).now;
  for (const [at, client] of clients.entries()) {
    const { sees, moves, goesOnFrom } = READERS[at] as Reader;
    client.takeAll();
    const isExact = !moves || goesOnFrom === 'event';
    const seen = (text: string): string => (isExact ? text : withoutUsage(text));
    expect(had(client).map(seen)).toEqual(newest.filter(sees).map(({ text }) => seen(text)));
    expectVersionsToName(client, goesOnFrom === 'event');
    if (goesOnFrom === 'event') expectNoWayBack(client);
    const resumes = all.filter((one) => (one.do === 'cut' || one.do === 'reconnect') && one.reader === at).length;
    saw('resumes', resumes);
    saw('goneOn', resumes - client.expired);
    saw('expired', client.expired);
    for (const type of ['BOOKMARK', 'DELETED'] as const) {
      saw(type === 'DELETED' ? 'deleted' : 'bookmarks', client.told.filter((event) => event.type === type).length);
    }
  }
  saw('steps', all.length);
  saw('nodes', newest.length);
}

describe('a client of a watch', () => {
  test('who comes from a list that is newer than all that the other replica has heard of waits for it, and misses nothing', () => {
    const take: Step = { do: 'take', reader: 2 };
    const comesFrom: Step[] = [take, take, take, { do: 'unuse', pod: 'pod-a' }];
    const newer: Step = { do: 'relist', replica: 0, collection: 'nodes', sameHistory: false };
    const goes: Step[] = [take, { do: 'reconnect', reader: 2, replica: 1 }];
    const changed: Step = { do: 'use', pod: 'pod-a', name: 'node-a', cpu: '1' };
    for (const inSlices of [false, true]) run([...comesFrom, newer, ...goes, changed], inSlices);
  });

  test('who comes from a newer list of pods waits for it, and misses nothing', () => {
    const gone: Step[] = [
      { do: 'remove', name: 'node-l' },
      { do: 'remove', name: 'node-f' },
    ];
    const newer: Step = { do: 'relist', replica: 0, collection: 'pods', sameHistory: false };
    const heard: Step = { do: 'hear', replica: 0, collection: 'nodes', count: 2 };
    const goes: Step[] = [
      { do: 'take', reader: 2 },
      { do: 'reconnect', reader: 2, replica: 1 },
    ];
    for (const inSlices of [false, true]) run([...gone, newer, heard, ...goes], inSlices);
  });

  test('who began anew while usage was counted aside was told no two states of a node by one version', () => {
    const goOn = (count: number): Step => ({ do: 'goOn', replica: 0, count });
    const cutIt: Step = { do: 'cut', reader: 0, replica: 0, events: 1 };
    const steps: Step[] = [
      { do: 'put', name: 'node-u', tier: 'one' },
      { do: 'use', pod: 'pod-a', name: 'node-u', cpu: '1' },
      { do: 'relist', replica: 0, collection: 'nodes', sameHistory: false },
      ...[goOn(7), goOn(6)],
      { do: 'use', pod: 'pod-b', name: 'node-a', cpu: '1' },
      { do: 'hear', replica: 0, collection: 'pods', count: 2 },
      ...[goOn(3), goOn(2), cutIt, goOn(1), cutIt],
      { do: 'take', reader: 0 },
    ];
    for (const inSlices of [false, true]) run(steps, inSlices);
  });

  test('who goes on in the middle of what it missed, of which something changed again meanwhile, misses nothing', () => {
    const take: Step = { do: 'take', reader: 1 };
    const hear = (count: number): Step => ({ do: 'hear', replica: 1, collection: 'nodes', count });
    const missed: Step[] = [
      { do: 'touch', name: 'node-f' },
      { do: 'touch', name: 'node-c' },
      { do: 'remove', name: 'node-d' },
    ];
    const goesOn: Step[] = [{ do: 'reconnect', reader: 1, replica: 1 }, take];
    const again: Step[] = [{ do: 'touch', name: 'node-c' }, hear(1)];
    const cutIt: Step = { do: 'cut', reader: 1, replica: 1, events: 1 };
    run([take, take, take, take, ...missed, hear(3), ...goesOn, ...again, cutIt], false);
  });

  test('who comes from such a list after the last change of a node, its removal, waits and misses nothing', () => {
    const take: Step = { do: 'take', reader: 2 };
    const comesFrom: Step[] = [
      { do: 'cut', reader: 2, replica: 1, events: 0 },
      { do: 'remove', name: 'node-a' },
      take,
      take,
    ];
    const used: Step = { do: 'use', pod: 'pod-a', name: 'node-a', cpu: '1' };
    const newer: Step = { do: 'relist', replica: 1, collection: 'nodes', sameHistory: false };
    const goes: Step[] = [take, { do: 'cut', reader: 2, replica: 0, events: 1 }];
    const changed: Step = { do: 'use', pod: 'pod-a', name: 'node-f', cpu: '1' };
    for (const inSlices of [false, true]) run([...comesFrom, used, newer, ...goes, changed, take], inSlices);
  });

  afterAll(() => console.log('largest watch:', JSON.stringify(largest)));

  test.each([
    ['at once', false],
    ['in slices', true],
  ])(
    'has at each bookmark the list that it names, wherever it was cut and went on, while long work is done %s',
    (_, inSlices) => {
      checkSizes(
        ({ upTo }) => fc.property(fc.array(step, upTo(300, 1)), (all) => run(all, inSlices)),
        inSlices ? { cases: 50, short: 15 } : { cases: 100, short: 20 },
      );
      run(goingOnTenTimes, inSlices);
      expect(largest.steps).toBe(300);
      expect(largest.nodes).toBe(NAMES.length);
      expect(largest.goneOn).toBeGreaterThanOrEqual(10);
    },
    600_000,
  );
});
