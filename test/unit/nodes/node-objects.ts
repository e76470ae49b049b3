import { Registry } from 'prom-client';
import type { KubernetesObject } from '../../../src/kubernetes/object.ts';
import type { Freshness } from '../../../src/kubernetes/reflector/freshness.ts';
import { NodeStore } from '../../../src/nodes/entries/store.ts';
import { createNodeLister } from '../../../src/nodes/node-cache.ts';
import type { NodeLister } from '../../../src/nodes/node-lister.ts';
import { parseNodeListQuery } from '../../../src/nodes/query/list-query.ts';
import { PodStore } from '../../../src/nodes/usage/pod-store.ts';
import { UsageLedger } from '../../../src/nodes/usage/usage-ledger.ts';
import { TimeSlices } from '../../../src/runtime/time-slices.ts';
import { FakeClock } from '../../support/fake-clock.ts';

type Members = Readonly<Record<string, unknown>>;

/** A node as a watch event carries it. */
export const makeNode = (name: string, metadata: Members = {}, rest: Members = {}): KubernetesObject => ({
  kind: 'Node',
  apiVersion: 'v1',
  metadata: { name, uid: `uid-${name}`, resourceVersion: '1', ...metadata },
  ...rest,
});

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

export const synced: Freshness = { hasSynced: () => true, stalenessMs: () => 0, idleMs: () => 0 };

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
  const nodes = new NodeStore({ platform: 'gatehouse', usage, mostCountedAtOnce }, slices, ledger);
  const pods = new PodStore(ledger);
  const clock = new FakeClock();
  const registry = new Registry();
  const lister = createNodeLister({ nodes, freshness, maxStalenessMs, clock, epoch, registry });
  return {
    ...{ nodes, pods, ledger, clock, registry, lister },
    putNode: (node: KubernetesObject) => nodes.put(nodes.toEntry(node)),
    /** As its newest change. */
    removeNode: (name: string) => nodes.remove(name, String(BigInt(nodes.progress.nodes.state.newest) + 1n)),
    putPod: (pod: KubernetesObject) => pods.put(pods.toEntry(pod)),
  };
}

export const textOf = (pieces: readonly Uint8Array[]): string => Buffer.concat(pieces).toString();

interface Item extends Members {
  readonly metadata: Members & { readonly name: string; readonly annotations: Readonly<Record<string, string>> };
}

/** The list as a client reads it. */
export function listOf(lister: NodeLister, query = ''): { items: Item[]; totalItems: number } {
  return JSON.parse(textOf(lister.list(parseNodeListQuery(query)).body('identity')));
}

export const namesOf = (lister: NodeLister, query = ''): string[] =>
  listOf(lister, query).items.map((item) => item.metadata.name);

/** `b,a` for node-b and node-a. */
export const lettersIn = (lister: NodeLister, query: string): string =>
  namesOf(lister, query)
    .map((name) => name.replace('node-', ''))
    .join();
