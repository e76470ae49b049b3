import { atOnce, type Steps, TimeSlices } from '../../../../src/runtime/time-slices.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { makeCache, makeNode, makePod, parseNodeWatchQuery } from '../node-objects.ts';

type Cache = ReturnType<typeof makeCache>;

interface ClusterNode {
  readonly uid: string;
  readonly version: number;
  readonly tier: string;
}

/** What tells two states of a node apart: all that the cluster changes here, and the usage. */
export interface NodeState {
  readonly name: string;
  readonly tier: string;
  readonly text: string;
}

type Change = { readonly version: number; readonly key: string } & (
  | { readonly node: ClusterNode | undefined }
  | { readonly pod: { readonly node: string; readonly cpu: string; readonly version: number } | undefined }
);

const CPU = 'node.gatehouse.io/cpu-requests';

/** How a node's note is padded: every sixth fills a batch by itself, so that batches are cut at many places. */
const PADDING = 'x'.repeat(66_000);
const isLarge = (name: string): boolean => name.charCodeAt(name.length - 1) % 6 === 0;

/** The cluster, and the caches of replicas that hear of its changes sooner or later. One counter for all versions, as in etcd. */
export class WatchedCluster {
  readonly replicas: Replica[];
  readonly changes: Change[] = [];
  /** What each version names that any replica gave: the same everywhere. */
  readonly #truth = new Map<string, readonly NodeState[]>();
  version = 0;
  readonly inSlices: boolean;

  constructor(replicas: number, names: readonly string[], { inSlices = false } = {}) {
    this.inSlices = inSlices;
    this.version = 100;
    for (const name of names) this.put(name, 'one');
    this.replicas = Array.from({ length: replicas }, () => new Replica(this));
  }

  put(name: string, tier?: string): void {
    const known = this.nodesAt(this.changes.length).get(name);
    if (!known && tier === undefined) return;
    const uid = known?.uid ?? `uid-${++this.version}`;
    const version = ++this.version;
    this.changes.push({ version, key: name, node: { uid, version, tier: tier ?? known?.tier ?? '' } });
  }

  remove(name: string): void {
    if (this.nodesAt(this.changes.length).has(name)) {
      this.changes.push({ version: ++this.version, key: name, node: undefined });
    }
  }

  /** A pod of that name on the node, instead of where it was; without a node it goes. */
  use(key: string, node: string | undefined, cpu: string): void {
    const version = ++this.version;
    const pod = node === undefined ? undefined : { node, cpu, version };
    if (pod || this.podsAt(this.changes.length).has(key)) this.changes.push({ version, key, pod });
  }

  nodesAt(end: number): Map<string, ClusterNode> {
    const nodes = new Map<string, ClusterNode>();
    for (const change of this.changes.slice(0, end)) {
      if (!('node' in change)) continue;
      if (change.node) nodes.set(change.key, change.node);
      else nodes.delete(change.key);
    }
    return nodes;
  }

  podsAt(end: number) {
    const pods = new Map<string, { node: string; cpu: string; version: number }>();
    for (const change of this.changes.slice(0, end)) {
      if (!('pod' in change)) continue;
      if (change.pod) pods.set(change.key, change.pod);
      else pods.delete(change.key);
    }
    return pods;
  }

  /** Notes what the version names that this replica has now; false when the same name was another state before. */
  note({ cache }: Replica): { readonly before: readonly NodeState[]; readonly now: readonly NodeState[] } {
    cache.lister.refresh();
    const bookmark = cache.lister.watch(BOOKMARK_ALONE, 'json').next();
    const version = JSON.parse(Buffer.from(bookmark ?? []).toString()).object.metadata.resourceVersion;
    const now = statesOf(cache);
    const before = this.#truth.get(version) ?? now;
    this.#truth.set(version, now);
    return { before, now };
  }

  at(version: string): readonly NodeState[] | undefined {
    return this.#truth.get(version);
  }
}

/** Long work goes on when it is told to. */
class HeldSlices extends TimeSlices {
  #works: Steps<unknown>[] = [];

  constructor() {
    super(new FakeClock());
  }

  override run<Result>(steps: Steps<Result>): Promise<Result> {
    this.#works.push(steps);
    return new Promise(() => undefined);
  }

  /** True when all of it is done. */
  goOn(steps: number): boolean {
    for (let left = steps; left > 0; left--) this.#works = this.#works.filter((work) => !work.next().done);
    return this.#works.length === 0;
  }
}

const BOOKMARK_ALONE = parseNodeWatchQuery('watch=true&sendInitialEvents=false&resourceVersionMatch=NotOlderThan');

let processes = 0;

/** One process: it lists both collections when it starts, and hears of changes in their order, of nodes and pods apart. */
export class Replica {
  readonly #cluster: WatchedCluster;
  cache: Cache = makeCache();
  #heard = { nodes: 0, pods: 0 };
  #slices = new HeldSlices();
  #list: { readonly steps: Steps<() => void>; readonly heard: number } | undefined;

  constructor(cluster: WatchedCluster) {
    this.#cluster = cluster;
    this.restart();
  }

  restart(): void {
    const epoch = `e${++processes}`;
    this.#slices = new HeldSlices();
    this.#list = undefined;
    this.cache = makeCache(this.#cluster.inSlices ? { epoch, slices: this.#slices, mostCountedAtOnce: 1 } : { epoch });
    this.relist('nodes', false);
    this.relist('pods', false);
    this.#finish();
  }

  /** So many steps of what takes long. */
  goOn(steps: number): void {
    this.#slices.goOn(steps);
    for (let left = steps; left > 0 && this.#list; left--) {
      const step = this.#list.steps.next();
      if (step.done) this.#show(step.value, this.#list.heard);
    }
  }

  breakOff(): void {
    this.#list?.steps.return(() => undefined);
    this.#list = undefined;
  }

  #show(show: () => void, heard: number): void {
    show();
    this.#heard.nodes = heard;
    this.#list = undefined;
  }

  #finishList(): void {
    if (this.#list) this.#show(atOnce(this.#list.steps), this.#list.heard);
  }

  #finish(): void {
    this.#finishList();
    do this.cache.lister.refresh();
    while (!this.#slices.goOn(1) || !this.cache.nodes.isDecorated || this.cache.ledger.changedCount > 0);
    this.cache.lister.refresh();
  }

  /** Hears of so many more changes of one collection. */
  hear(kind: 'nodes' | 'pods', count: number): void {
    const { changes } = this.#cluster;
    const { nodes, pods } = this.cache;
    if (kind === 'nodes') this.#finishList();
    let left = count;
    let at = this.#heard[kind];
    for (; at < changes.length && left > 0; at++) {
      const change = changes[at] as Change;
      if ('node' in change !== (kind === 'nodes')) continue;
      left--;
      if ('node' in change) {
        if (change.node) nodes.put(nodes.toEntry(nodeObject(change.key, change.node)));
        else nodes.remove(change.key, `${change.version}`);
      } else if (change.pod) pods.put(pods.toEntry(podObject(change.key, change.pod)));
      else pods.remove(`default/${change.key}`, `${change.version}`);
    }
    this.#heard[kind] = at;
  }

  hearAll(): void {
    for (const kind of ['nodes', 'pods'] as const) this.hear(kind, Number.POSITIVE_INFINITY);
    this.#finish();
  }

  /** A list of the cluster as it is, without what came and went since it heard of something. */
  relist(kind: 'nodes' | 'pods', sameHistory: boolean): void {
    const { changes, version } = this.#cluster;
    const replacement = { sameHistory, resourceVersion: `${version}` };
    const { nodes, pods } = this.cache;
    const nodeObjects = [...this.#cluster.nodesAt(changes.length)].map(([name, node]) => nodeObject(name, node));
    const podObjects = [...this.#cluster.podsAt(changes.length)].map(([name, pod]) => podObject(name, pod));
    if (kind === 'nodes') {
      this.#finishList();
      const entries = nodeObjects.map((node) => nodes.toEntry(node));
      this.#list = { steps: nodes.prepare(entries, replacement), heard: changes.length };
      if (!this.#cluster.inSlices) this.#finishList();
    } else {
      const entries = podObjects.map((pod) => pods.toEntry(pod));
      atOnce(pods.prepare(entries, replacement))();
      this.#heard.pods = changes.length;
    }
  }
}

const nodeObject = (name: string, { uid, version, tier }: ClusterNode) =>
  makeNode(
    name,
    { uid, resourceVersion: `${version}`, labels: { tier } },
    { spec: { note: isLarge(name) ? PADDING : '' }, status: { version } },
  );

const podObject = (name: string, { node, cpu, version }: { node: string; cpu: string; version: number }) =>
  makePod(
    { nodeName: node, containers: [{ resources: { requests: { cpu } } }] },
    { name, resourceVersion: `${version}`, uid: `uid-${name}` },
  );

const statesOf = (cache: Cache): NodeState[] =>
  [...cache.nodes.entries()].map(stateOfEntry).sort((a, b) => (a.text < b.text ? -1 : 1));

type Entry = Cache['nodes'] extends { entries(): Iterable<infer One> } ? One & object : never;

/** An entry is never changed, and the same ones are looked at after each step. */
const states = new WeakMap<Entry, NodeState>();

function stateOfEntry(entry: Entry): NodeState {
  const known = states.get(entry);
  if (known) return known;
  const { key, uid, labels, resourceVersion, encoded } = entry;
  const tier = labels?.['tier'] ?? '';
  const cpu = encoded.added.split(`"${CPU}":"`)[1]?.split('"')[0];
  const state = { name: key, tier, text: [key, uid, tier, resourceVersion, cpu].join(' ') };
  states.set(entry, state);
  return state;
}

/** The same of an object that a client was told. */
// biome-ignore lint/suspicious/noExplicitAny: a node as JSON
export const stateOf = ({ metadata: { name, uid, labels, annotations }, status }: any): string =>
  [name, uid, labels.tier, status.version, annotations[CPU]].join(' ');
