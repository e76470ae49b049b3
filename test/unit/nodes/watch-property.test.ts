import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { WatchForm } from '../../../src/nodes/watch-event.ts';
import { listOf, makeCache, makeNode, makePod } from './node-objects.ts';
import { WatchClient } from './watch-client.ts';

const NAMES = ['node-a', 'node-b', 'node-c', 'node-d', 'node-e', 'node-f'];
/** One node fills a batch, so that every batch is cut. */
const PADDING = 'x'.repeat(66_000);

type Cache = ReturnType<typeof makeCache>;

/** The cluster behind the cache: each change has a version of its own, and uids are never used again. */
class Cluster {
  readonly cache: Cache = makeCache();
  #version = 0;
  readonly #nodes = new Map<string, { uid: string; resourceVersion: string; tier: string }>();

  put(name: string, tier: string): void {
    const known = this.#nodes.get(name);
    const node = { uid: known?.uid ?? `uid-${++this.#version}`, resourceVersion: String(++this.#version), tier };
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
    else this.#nodes.set(name, { uid: `uid-${++this.#version}`, resourceVersion: String(++this.#version), tier });
    const entries = [...this.#nodes.keys()].map((key) => this.cache.nodes.toEntry(this.#object(key)));
    this.cache.nodes.replace(entries, { sameHistory });
  }

  use(name: string, cpu: string): void {
    const pod = makePod({ nodeName: name, containers: [{ resources: { requests: { cpu } } }] }, { name: 'pod' });
    this.cache.putPod(pod);
  }

  #object(name: string) {
    const { uid, resourceVersion, tier } = this.#nodes.get(name) ?? { uid: '', resourceVersion: '', tier: '' };
    return makeNode(name, { uid, resourceVersion, labels: { tier } }, { spec: { note: PADDING } });
  }
}

interface Reader {
  readonly query: string;
  readonly form: WatchForm;
}

const READERS: readonly Reader[] = [
  { query: '', form: 'json' },
  { query: '', form: 'events' },
  { query: 'labelSelector=tier%3Done', form: 'json' },
  { query: 'labelSelector=tier%21%3Done', form: 'events' },
  { query: 'name=-a', form: 'events' },
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
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

function apply(cluster: Cluster, clients: readonly WatchClient[], one: Step): void {
  if (one.kind === 'put') cluster.put(one.name, one.tier);
  else if (one.kind === 'touch') cluster.touch(one.name);
  else if (one.kind === 'remove') cluster.remove(one.name);
  else if (one.kind === 'relist') cluster.relist(one.name, one.tier, one.sameHistory);
  else if (one.kind === 'use') cluster.use(one.name, one.cpu);
  else clients[one.reader]?.[one.kind]();
}

const itemsOf = (cluster: Cluster, query: string): ReadonlyMap<string, unknown> =>
  new Map(listOf(cluster.cache.lister, query).items.map((item) => [item.metadata.name, item]));

/** The versions of one object only rise, whatever was told twice. */
function expectNoWayBack({ told }: WatchClient): void {
  const seen = new Map<string, number>();
  for (const { type, object } of told) {
    if (type === 'BOOKMARK') continue;
    const { uid, resourceVersion } = object.metadata;
    expect(Number(resourceVersion)).toBeGreaterThanOrEqual(seen.get(uid) ?? 0);
    seen.set(uid, Number(resourceVersion));
  }
}

describe('a client of a watch', () => {
  test('that applies the events has the items of the list, whatever happened, however it lagged and reconnected', () => {
    const steps = fc.array(step, { minLength: 1, maxLength: 60 });
    const property = fc.property(steps, fc.boolean(), (all, beginUpToDate) => {
      const cluster = new Cluster();
      for (const node of NAMES.slice(0, 4)) cluster.put(node, 'one');
      const clients = READERS.map(({ query, form }) => new WatchClient(cluster.cache.lister, query, form));
      if (beginUpToDate) for (const client of clients) client.takeAll();
      for (const one of all) apply(cluster, clients, one);
      for (const [at, { query }] of READERS.entries()) {
        const client = clients[at] as WatchClient;
        client.takeAll();
        expect(client.items).toEqual(itemsOf(cluster, query));
        expectNoWayBack(client);
        client.keepAlive();
        client.reconnect();
        client.takeAll();
        expect(client.items).toEqual(itemsOf(cluster, query));
      }
    });
    fc.assert(property, { numRuns: 300 });
  }, 60_000);
});
