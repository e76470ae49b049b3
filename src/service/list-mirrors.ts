import type { NamespaceSource } from '../authorization/permitted-scopes.ts';
import type { Config } from '../config/config.ts';
import type { KnownNamespace } from '../documents/rights/readable-namespaces.ts';
import type { ServedKinds } from '../http/kinds/kind-routes.ts';
import { listFamily, type ServedList } from '../http/kinds/list-family.ts';
import type { ServedSearch } from '../http/kinds/search-route.ts';
import type { ListedNamespaces } from '../http/tenant/served-tenant.ts';
import type { SearchedList } from '../kinds/search/object-search.ts';
import type { Cluster } from '../kubernetes/cluster.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import type { ListerWatcher } from '../kubernetes/reflector/lister-watcher.ts';
import { SharedWatch } from '../kubernetes/reflector/shared-watch.ts';
import { createNamespaceKind } from '../namespaces/namespace-kind.ts';
import { createNodeKind } from '../nodes/node-kind.ts';
import { NodeSummary } from '../nodes/node-summary.ts';
import { countedNode, PodStore, podFieldSelector } from '../nodes/usage/pod-store.ts';
import { UsageLedger } from '../nodes/usage/usage-ledger.ts';
import type { Entry } from '../resources/entries/entry.ts';
import { ResourceStore } from '../resources/entries/store.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import { TimeSlices } from '../runtime/time-slices.ts';
import { tenantNames } from '../tenant/tenant-names.ts';
import { allUpkeep, type Family, NO_UPKEEP } from './family.ts';
import { createListMirror, type ListMirror, newEpoch, shownIn } from './list-mirror.ts';
import type { Mirror } from './readiness.ts';

export interface ListMirrorsOptions {
  readonly platform: string;
  /** Whether other answers depend on namespaces, so that we are not ready without them. */
  readonly needsNamespaces: boolean;
  /** `false`: no pod watch and no usage annotations. */
  readonly usage: boolean;
  /** When the data is older, requests are refused. Infinity: no limit. */
  readonly maxStaleness: number;
  readonly selfCheck: {
    /** The longest time between two checks of one kind, in milliseconds. */
    readonly longestPeriod: number;
    /** `auto`: pods are not checked where the API server checks its own cache. */
    readonly pods: 'auto' | 'always' | 'never';
  };
}

/** The options of the lists in this configuration. */
export const toListMirrorsOptions = ({
  platform,
  nodes,
  logging,
  events,
  auditing,
}: Pick<Config, 'platform' | 'nodes' | 'logging' | 'events' | 'auditing'>): ListMirrorsOptions => ({
  platform,
  needsNamespaces: [logging, events, auditing].some(({ host }) => host !== undefined),
  ...nodes,
});

export interface ListMirrorsParts {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly random: Random;
  /** Shows how many bytes the mirror of a resource holds. */
  exposeBytes(resource: string, bytes: () => number): void;
  /** The kinds that are in memory only while somebody asks for them. Called when the routes are made. */
  kinds?(): ServedKinds | undefined;
  /** The search over all kinds. Called when the routes are made. */
  search?(): ServedSearch | undefined;
}

/** Every kind that is listed, in memory: what the routes read, and what keeps it current. */
export interface ListMirrors extends Family {
  /** All namespaces, in no order. Throws a 503 before the first sync and when they are too old. */
  namespaces(): readonly KnownNamespace[];
  /** The same, with a version that changes with them. */
  readonly namespaceSource: NamespaceSource;
  /** The list of namespaces, as routes read it. */
  readonly namespaceList: ListedNamespaces;
  /** Nodes and namespaces. */
  readonly searched: readonly SearchedList[];
  /** The bytes of nodes and namespaces. */
  heldBytes(): number;
  /** By the path of a collection: a watch that these lists follow while somebody else watches the whole collection. */
  readonly sharedWatches: ReadonlyMap<string, SharedWatch>;
}

/** Connects reflectors, stores and listers of nodes and namespaces, and the reflector of pods if `usage` is on. */
export function createListMirrors(options: ListMirrorsOptions, parts: ListMirrorsParts): ListMirrors {
  const { cluster, clock, random, exposeBytes } = parts;
  const { platform } = options;
  const common = { maxStalenessMs: options.maxStaleness, longestPeriodMs: options.selfCheck.longestPeriod };
  const shared = { cluster, clock, epoch: newEpoch(random), exposeBytes };
  const ledger = options.usage ? new UsageLedger() : undefined;
  const podWatch = new SharedWatch(clock);
  const pods = ledger && reflectPods({ ledger, watch: podWatch }, options, cluster);
  const slices = new TimeSlices(clock);
  const nodeStore = new ResourceStore(createNodeKind({ platform, ledger }), slices);
  const besides: Readonly<Record<string, Mirror>> = pods ? { pods: shownIn(nodeStore, pods) } : {};
  const nodes = createListMirror({ ...common, store: nodeStore, isRequired: true, besides }, shared);
  const summary = new NodeSummary({ store: nodeStore, lister: nodes.lister, ledger });
  // If the right to namespaces is missing, as after an update of the image without the chart, we serve everything else.
  const namespaceStore = new ResourceStore(createNamespaceKind(platform), slices);
  const isRequired = options.needsNamespaces;
  const namespaces = createListMirror({ ...common, store: namespaceStore, isRequired }, shared);
  const { workspaceLabel } = tenantNames(platform);
  const ofPods = pods ? [{ name: 'reflector of pods', run: (signal: AbortSignal) => pods.run(signal) }] : [];
  return {
    routes: listFamily([{ ...servedList(nodeStore, nodes), summary }, servedList(namespaceStore, namespaces)], () => ({
      kinds: parts.kinds?.(),
      search: parts.search?.(),
    })),
    namespaces() {
      namespaces.lister.refresh();
      return namespaceStore
        .entries()
        .map(({ name, createdAt, labels }) => ({ name, createdAt, workspace: labels?.[workspaceLabel] }));
    },
    namespaceSource: toNamespaceSource(namespaceStore, namespaces),
    namespaceList: {
      ...servedList(namespaceStore, namespaces),
      names() {
        namespaces.lister.refresh();
        return namespaceStore.entries().map(({ name }) => name);
      },
      labelsOf: (name) => namespaceStore.get(name)?.labels,
    },
    searched: [
      { store: nodeStore, lister: nodes.lister },
      { store: namespaceStore, lister: namespaces.lister },
    ],
    sharedWatches: new Map(pods ? [[PODS, podWatch]] : []),
    heldBytes: () => nodeStore.heldBytes() + namespaceStore.heldBytes(),
    upkeep: allUpkeep([nodes.upkeep, namespaces.upkeep, { ...NO_UPKEEP, parts: ofPods }]),
  };
}

/** Its version changes only when a namespace comes or goes: not with labels and phases, of which what people may see does not depend. */
function toNamespaceSource(store: ResourceStore, { lister }: ListMirror): NamespaceSource {
  let compared: { readonly version: number; readonly entries: readonly Entry[] } = { version: -1, entries: [] };
  let version = 0;
  return {
    version() {
      lister.refresh();
      if (store.version === compared.version) return version;
      const entries = store.entries();
      if (!haveSameUids(entries, compared.entries)) version++;
      compared = { version: store.version, entries };
      return version;
    },
    all: () => store.entries(),
  };
}

const haveSameUids = (some: readonly Entry[], others: readonly Entry[]): boolean =>
  some.length === others.length &&
  some.every(({ name, uid }, at) => name === others[at]?.name && uid === others[at]?.uid);

const servedList = ({ kind }: ResourceStore, { lister }: ListMirror): ServedList => ({
  kind,
  lister,
  watches: lister,
  age: lister,
});

const PODS = '/api/v1/pods';

/** The pods need no watch of their own while the list of pods is in memory. */
function reflectPods(
  { ledger, watch }: { ledger: UsageLedger; watch: SharedWatch },
  { selfCheck }: ListMirrorsOptions,
  cluster: Cluster,
) {
  const store = new PodStore(ledger);
  const part = {
    selects: (pod: KubernetesObject) => countedNode(pod) !== '',
    has: (key: string) => store.get(key) !== undefined,
  };
  const wrap = (source: ListerWatcher) => watch.follow(source, part);
  const isWanted = checksPods(selfCheck.pods, cluster);
  const resource = { path: PODS, name: 'pods', fieldSelector: podFieldSelector(), wrap };
  return cluster.reflect(resource, store, { longestPeriodMs: selfCheck.longestPeriod, isWanted });
}

/** Decides whether the self-check reads the pods from the cluster. In a large cluster that takes nearly a thousand pages. */
function checksPods(
  setting: ListMirrorsOptions['selfCheck']['pods'],
  cluster: Cluster,
): (signal: AbortSignal) => Promise<boolean> {
  return async (signal) => (setting === 'auto' ? !(await cluster.checksItsCache(signal)) : setting === 'always');
}
