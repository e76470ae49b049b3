import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { parseNodeListQuery } from '../../../src/nodes/list-query.ts';
import type { WatchForm } from '../../../src/nodes/watch-event.ts';
import { makeCache, makeNode, makePod } from './node-objects.ts';
import { WatchClient } from './watch-client.ts';

const NAMES = Array.from({ length: 24 }, (_, at) => `node-${String.fromCharCode(97 + at)}`);
/** A node of this size fills a batch by itself: every sixth node has it, so that batches are cut at many places. */
const PADDING = 'x'.repeat(66_000);
const isLarge = (name: string): boolean => NAMES.indexOf(name) % 6 === 0;

type Cache = ReturnType<typeof makeCache>;

/** The cluster behind the cache: each change has a version of its own, and uids are never used again. */
class Cluster {
  readonly cache: Cache = makeCache();
  /** The states of all nodes at each version of the list that anybody may have been told of. */
  readonly #truth = new Map<string, readonly State[]>();
  #version = 0;
  readonly #nodes = new Map<string, { uid: string; version: number; tier: string }>();

  get size(): number {
    return this.#nodes.size;
  }

  put(name: string, tier: string): void {
    const known = this.#nodes.get(name);
    const node = { uid: known?.uid ?? `uid-${++this.#version}`, version: ++this.#version, tier };
    this.#nodes.set(name, node);
    this.cache.putNode(this.#object(name));
  }

  /** A heartbeat: nothing that a filter reads. */
  touch(name: string): void {
    const known = this.#nodes.get(name);
    if (known) this.put(name, known.tier);
  }

  remove(name: string): void {
    this.#nodes.delete(name);
    this.cache.nodes.remove(name);
  }

  /** Nodes that went or changed while nobody looked. */
  relist(name: string, tier: string, sameHistory: boolean): void {
    const known = this.#nodes.get(name);
    if (known?.tier === tier) this.#nodes.delete(name);
    else this.#nodes.set(name, { uid: `uid-${++this.#version}`, version: ++this.#version, tier });
    const entries = [...this.#nodes.keys()].map((key) => this.cache.nodes.toEntry(this.#object(key)));
    this.cache.nodes.replace(entries, { sameHistory });
  }

  use(name: string, cpu: string): void {
    const pod = makePod({ nodeName: name, containers: [{ resources: { requests: { cpu } } }] }, { name: 'pod' });
    this.cache.putPod(pod);
  }

  get newest(): string {
    return [...this.#truth.keys()].at(-1) ?? '';
  }

  /** The list as it is now, with usage applied, is one that a bookmark may name. */
  note(): void {
    const version = this.cache.lister.list(parseNodeListQuery('')).etag('identity').slice(1, -1);
    if (this.#truth.has(version)) return;
    const states = [...this.cache.nodes.entries()].map(({ key, uid, labels, resourceVersion, encoded }) => {
      const tier = labels?.['tier'] ?? '';
      const cpu = encoded.usage.split(`"${CPU}":"`)[1]?.split('"')[0];
      return { name: key, tier, text: [key, uid, tier, resourceVersion, cpu].join(' ') };
    });
    this.#truth.set(version, states);
  }

  /** What a reader has at this version. */
  at(version: string, { sees }: Reader): string[] | undefined {
    return this.#truth
      .get(version)
      ?.filter(sees)
      .map(({ text }) => text)
      .sort();
  }

  #object(name: string) {
    const { uid, version, tier } = this.#nodes.get(name) ?? { uid: '', version: 0, tier: '' };
    const spec = { note: isLarge(name) ? PADDING : '' };
    return makeNode(name, { uid, resourceVersion: `${version}`, labels: { tier } }, { spec, status: { version } });
  }
}

/** What tells two states of a node apart: all that the cluster changes here, and the usage. */
interface State {
  readonly name: string;
  readonly tier: string;
  readonly text: string;
}

interface Reader {
  readonly query: string;
  readonly form: WatchForm;
  readonly sees: (state: State) => boolean;
}

const READERS: readonly Reader[] = [
  { query: '', form: 'json', sees: () => true },
  { query: '', form: 'events', sees: () => true },
  { query: 'labelSelector=tier%3Done', form: 'json', sees: ({ tier }) => tier === 'one' },
  { query: 'labelSelector=tier%21%3Done', form: 'events', sees: ({ tier }) => tier !== 'one' },
  { query: 'name=-a', form: 'events', sees: ({ name }) => name.includes('-a') },
];

const name = fc.constantFrom(...NAMES);
const tier = fc.constantFrom('one', 'two');
const reader = fc.nat(READERS.length - 1);
const step = fc.oneof(
  fc.record({ kind: fc.constant('put' as const), name, tier }),
  fc.record({ kind: fc.constant('touch' as const), name }),
  fc.record({ kind: fc.constant('remove' as const), name }),
  fc.record({ kind: fc.constant('relist' as const), name, tier, sameHistory: fc.boolean() }),
  fc.record({ kind: fc.constant('use' as const), name, cpu: fc.constantFrom('1', '2', '3') }),
  fc.record({ kind: fc.constant('take' as const), reader }),
  fc.record({ kind: fc.constant('keepAlive' as const), reader }),
  fc.record({ kind: fc.constant('reconnect' as const), reader }),
  fc.record({ kind: fc.constant('cut' as const), reader, events: fc.nat(3) }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

function apply(cluster: Cluster, clients: readonly WatchClient[], one: Step): void {
  cluster.note();
  if (one.kind === 'put') cluster.put(one.name, one.tier);
  else if (one.kind === 'touch') cluster.touch(one.name);
  else if (one.kind === 'remove') cluster.remove(one.name);
  else if (one.kind === 'relist') cluster.relist(one.name, one.tier, one.sameHistory);
  else if (one.kind === 'use') cluster.use(one.name, one.cpu);
  else if (one.kind === 'cut') clients[one.reader]?.cut(one.events);
  else clients[one.reader]?.[one.kind]();
}

const CPU = 'node.gatehouse.io/cpu-requests';

/** The states of a client's nodes, sorted. */
function had({ items }: WatchClient): string[] {
  // biome-ignore lint/suspicious/noExplicitAny: nodes as JSON
  const nodes = [...items.values()] as any[];
  return nodes
    .map(({ metadata: { name, uid, labels, annotations }, status }) =>
      [name, uid, labels.tier, status.version, annotations[CPU]].join(' '),
    )
    .sort();
}

/** The versions of one object only rise, whatever was told twice. */
function expectNoWayBack({ told }: WatchClient): void {
  const seen = new Map<string, number>();
  for (const { type, object } of told) {
    if (type === 'BOOKMARK' || type === 'DELETED') continue;
    const { uid } = object.metadata;
    expect(object.status.version).toBeGreaterThanOrEqual(seen.get(uid) ?? 0);
    seen.set(uid, object.status.version);
  }
}

describe('a client of a watch', () => {
  const largest = { steps: 0, nodes: 0, resumes: 0, bookmarks: 0, deleted: 0 };
  const saw = (kind: keyof typeof largest, count: number): void => {
    largest[kind] = Math.max(largest[kind], count);
  };
  afterAll(() => console.log('largest watch:', JSON.stringify(largest)));

  test('has the items of the list at each bookmark, wherever it was cut and however it lagged', () => {
    const steps = fc.array(step, { minLength: 1, maxLength: 300, size: 'max' });
    const property = fc.property(steps, fc.boolean(), (all, beginUpToDate) => {
      const cluster = new Cluster();
      for (const node of NAMES.slice(0, 12)) cluster.put(node, 'one');
      cluster.note();
      const clients = READERS.map((reader) => {
        const client = new WatchClient(cluster.cache.lister, reader.query, reader.form);
        client.onBookmark = () => expect(had(client)).toEqual(cluster.at(client.version, reader));
        return client;
      });
      if (beginUpToDate) for (const client of clients) client.takeAll();
      for (const one of all) {
        apply(cluster, clients, one);
        saw('nodes', cluster.size);
      }
      cluster.note();
      for (const [at, client] of clients.entries()) {
        client.takeAll();
        client.keepAlive();
        client.reconnect();
        client.takeAll();
        expect(had(client)).toEqual(cluster.at(cluster.newest, READERS[at] as Reader));
        expectNoWayBack(client);
        saw('bookmarks', client.told.filter(({ type }) => type === 'BOOKMARK').length);
        saw('deleted', client.told.filter(({ type }) => type === 'DELETED').length);
      }
      saw('steps', all.length);
      saw('resumes', all.filter(({ kind }) => kind === 'reconnect' || kind === 'cut').length);
    });
    fc.assert(property, { numRuns: 100 });
    expect(largest.steps).toBeGreaterThan(200);
    expect(largest.nodes).toBeGreaterThan(12);
    expect(largest.resumes).toBeGreaterThan(30);
  }, 60_000);
});
