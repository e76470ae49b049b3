import { Registry } from 'prom-client';
import type { KubernetesObject } from '../../../src/kubernetes/object.ts';
import type { Freshness } from '../../../src/kubernetes/reflector/store.ts';
import { createNodeKind } from '../../../src/nodes/node-kind.ts';
import { PodStore } from '../../../src/nodes/usage/pod-store.ts';
import { UsageLedger } from '../../../src/nodes/usage/usage-ledger.ts';
import { createLister, type Lister } from '../../../src/resources/cache.ts';
import { type Entry, toEntry } from '../../../src/resources/entries/entry.ts';
import { ResourceStore } from '../../../src/resources/entries/store.ts';
import { createCacheBytes } from '../../../src/resources/metrics.ts';
import { createListQueryParser } from '../../../src/resources/query/list-query.ts';
import { createWatchQueryParser } from '../../../src/resources/watch/watch-query.ts';
import { TimeSlices } from '../../../src/runtime/time-slices.ts';
import { ALWAYS_CURRENT } from '../../support/always-current.ts';
import { FakeClock } from '../../support/fake-clock.ts';

type Members = Readonly<Record<string, unknown>>;

/** A node as a watch event carries it. */
export const makeNode = (name: string, metadata: Members = {}, rest: Members = {}): KubernetesObject => ({
  kind: 'Node',
  apiVersion: 'v1',
  metadata: { name, uid: `uid-${name}`, resourceVersion: '1', ...metadata },
  ...rest,
});

/** The kind without usage: what reads queries does not look at it. */
export const NODE_KIND = createNodeKind({ platform: 'gatehouse' });
export const parseNodeListQuery = createListQueryParser(NODE_KIND);
export const parseNodeWatchQuery = createWatchQueryParser(NODE_KIND);
export const toNodeEntry = (node: KubernetesObject): Entry => toEntry(node, NODE_KIND);

/** Makes a node so large that 32 of them fill a leaf, as real ones do. */
export const LARGE: Members = { annotations: { filler: 'x'.repeat(4_800) } };

let podNumber = 0;

/** A running pod of `node-a` with the given spec. */
export const makePod = (spec: Members, { phase = 'Running', ...metadata }: Members = {}): KubernetesObject => {
  const name = `pod-${++podNumber}`;
  return {
    metadata: { name, namespace: 'default', uid: `uid-${name}`, resourceVersion: '1', ...metadata },
    spec: { nodeName: 'node-a', ...spec },
    status: { phase },
  };
};

export const synced: Freshness = {
  hasSynced: () => true,
  proof: ALWAYS_CURRENT,
  stalenessMs: () => 0,
  idleMs: () => 0,
};

/** Synced, and proved current this long before the clock of a cache began. */
export const provenBefore = (ms: number): Freshness => ({ ...synced, proof: { at: -ms } });

/** How old data may be in these tests. */
export const MAX_STALENESS_MS = 720_000;

/** A node store with its ledger, pods and lister; `put…` as the reflector would. */
export function makeCache({
  usage = true,
  freshness = { nodes: synced, pods: synced },
  maxStalenessMs = MAX_STALENESS_MS,
  slices = new TimeSlices(new FakeClock()),
  epoch = 'e1',
  mostCountedAtOnce = 300,
} = {}) {
  const ledger = new UsageLedger();
  const kind = createNodeKind({ platform: 'gatehouse', ...(usage && { ledger }), mostCountedAtOnce });
  const nodes = new ResourceStore(kind, slices);
  const pods = new PodStore(ledger);
  const clock = new FakeClock();
  const registry = new Registry();
  const exposeBytes = createCacheBytes(registry);
  const lister = createLister({ store: nodes, freshness, maxStalenessMs, clock, epoch, exposeBytes });
  return {
    ...{ nodes, pods, ledger, clock, registry, lister },
    putNode: (node: KubernetesObject) => nodes.put(nodes.toEntry(node)),
    /** As its newest change. */
    removeNode: (name: string) => nodes.remove(name, String(BigInt(nodes.progress.objects.state.newest) + 1n)),
    putPod: (pod: KubernetesObject) => pods.put(pods.toEntry(pod)),
  };
}

export const textOf = (pieces: readonly Uint8Array[]): string => Buffer.concat(pieces).toString();

interface Item extends Members {
  readonly metadata: Members & { readonly name: string; readonly annotations: Readonly<Record<string, string>> };
}

/** The list as a client reads it. */
export function listOf(lister: Lister, query = ''): { items: Item[]; totalItems: number } {
  return JSON.parse(textOf(lister.list(parseNodeListQuery(query)).body('identity').pieces));
}

export const namesOf = (lister: Lister, query = ''): string[] =>
  listOf(lister, query).items.map((item) => item.metadata.name);

/** `b,a` for node-b and node-a. */
export const lettersIn = (lister: Lister, query: string): string =>
  namesOf(lister, query)
    .map((name) => name.replace('node-', ''))
    .join();
