import type { Registry } from 'prom-client';
import type { ServedList } from '../http/app.ts';
import type { Cluster } from '../kubernetes/cluster.ts';
import { createNamespaceKind } from '../namespaces/namespace-kind.ts';
import { createNodeKind } from '../nodes/node-kind.ts';
import { PodStore, podFieldSelector } from '../nodes/usage/pod-store.ts';
import { UsageLedger } from '../nodes/usage/usage-ledger.ts';
import { createLister } from '../resources/cache.ts';
import type { Kind } from '../resources/entries/kind.ts';
import { collectionPath } from '../resources/entries/object-kind.ts';
import { ResourceStore } from '../resources/entries/store.ts';
import { createCacheBytes } from '../resources/metrics.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import { TimeSlices } from '../runtime/time-slices.ts';
import { type Mirror, mirrorChecks } from './readiness.ts';
import { allUpkeep, NO_UPKEEP, type Upkeep } from './run-group.ts';

export interface ListMirrorsOptions {
  readonly platform: string;
  /** `false`: no pod watch and no usage annotations. */
  readonly usage: boolean;
  /** Answers from older data are refused. Infinity: no limit. */
  readonly maxStaleness: number;
  readonly selfCheck: {
    /** The longest time between two checks of one kind, in milliseconds. */
    readonly longestPeriod: number;
    /** `auto`: pods are not checked where the API server checks its own cache. */
    readonly pods: 'auto' | 'always' | 'never';
  };
}

export interface ListMirrorsParts {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly random: Random;
  readonly registry: Registry;
}

/** Every kind that is listed, in memory: what the routes read, and what keeps it current. */
export interface ListMirrors {
  readonly lists: readonly ServedList[];
  readonly upkeep: Upkeep;
}

/** 64 random bits tell the versions of two processes apart. */
const EPOCH_BYTES = 8;

/** Connects reflectors, stores and listers: of nodes, with the pods behind them where usage is wanted, and of namespaces. */
export function createListMirrors(options: ListMirrorsOptions, parts: ListMirrorsParts): ListMirrors {
  const { cluster, clock, random, registry } = parts;
  const { platform } = options;
  const common = { maxStalenessMs: options.maxStaleness, longestPeriodMs: options.selfCheck.longestPeriod };
  const epoch = random.bytes(EPOCH_BYTES).toString('hex');
  const shared: ListMirrorParts = {
    ...{ cluster, clock, epoch, slices: new TimeSlices(clock) },
    exposeBytes: createCacheBytes(registry),
  };
  const ledger = options.usage ? new UsageLedger() : undefined;
  const pods = ledger && reflectPods(ledger, options, cluster);
  const nodes = createListMirror(
    {
      ...common,
      kind: createNodeKind({ platform, ledger }),
      isRequired: true,
      besides: (store) => (pods ? { pods: countedIn(store, pods) } : {}),
    },
    shared,
  );
  // Where the right to namespaces is missing, as after an update of the image without the chart, the rest is served.
  const namespaces = createListMirror({ ...common, kind: createNamespaceKind(platform), isRequired: false }, shared);
  const mirrors = [nodes, namespaces];
  const ofPods = pods ? [{ name: 'reflector of pods', run: (signal: AbortSignal) => pods.run(signal) }] : [];
  return {
    lists: mirrors.map(({ list }) => list),
    upkeep: allUpkeep([...mirrors.map(({ upkeep }) => upkeep), { ...NO_UPKEEP, parts: ofPods }]),
  };
}

function reflectPods(ledger: UsageLedger, { selfCheck }: ListMirrorsOptions, cluster: Cluster) {
  const resource = { path: '/api/v1/pods', name: 'pods', fieldSelector: podFieldSelector() };
  const isWanted = checksPods(selfCheck.pods, cluster);
  return cluster.reflect(resource, new PodStore(ledger), { longestPeriodMs: selfCheck.longestPeriod, isWanted });
}

/** Whether the pods are compared with the cluster now. In a large cluster that takes nearly a thousand pages. */
function checksPods(
  setting: ListMirrorsOptions['selfCheck']['pods'],
  cluster: Cluster,
): (signal: AbortSignal) => Promise<boolean> {
  return async (signal) => (setting === 'auto' ? !(await cluster.checksItsCache(signal)) : setting === 'always');
}

/** The pods count as synced when the nodes show the sums of the first list of pods. Until then no list is answered. */
function countedIn(store: ResourceStore, pods: Mirror): Mirror {
  let isCounted = false;
  const hasSynced = (): boolean => {
    isCounted ||= pods.hasSynced() && store.isDecorated;
    return isCounted;
  };
  const { stalenessMs, idleMs, missingRight } = pods;
  return { hasSynced, stalenessMs, idleMs, missingRight };
}

/** A kind in memory: what the routes read, and what keeps it current. */
interface ListMirror {
  readonly list: ServedList;
  readonly upkeep: Upkeep;
}

interface ListMirrorOptions {
  readonly kind: Kind;
  /** False: we are ready without it while the cluster refuses us the right to mirror it, and callers are told so. */
  readonly isRequired: boolean;
  /** Answers from older data are refused. Infinity: none is. */
  readonly maxStalenessMs: number;
  /** No two self-checks are further apart. */
  readonly longestPeriodMs: number;
  /** What else its answers rest on, by its name. */
  besides?(store: ResourceStore): Readonly<Record<string, Mirror>>;
}

interface ListMirrorParts {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly slices: TimeSlices;
  /** Of the versions of this process. */
  readonly epoch: string;
  /** Shows how many bytes the mirror of a resource holds. */
  exposeBytes(resource: string, bytes: () => number): void;
}

/** Wires the reflector, the store and the lister of a kind. */
function createListMirror(options: ListMirrorOptions, parts: ListMirrorParts): ListMirror {
  const { kind, isRequired, maxStalenessMs, longestPeriodMs } = options;
  const { cluster, clock, slices, epoch, exposeBytes } = parts;
  const { resource } = kind;
  const store = new ResourceStore(kind, slices);
  const collection = { path: collectionPath(kind), name: resource, isOptional: !isRequired };
  const reflector = cluster.reflect(collection, store, { longestPeriodMs });
  const freshness: Readonly<Record<string, Mirror>> = { [resource]: reflector, ...options.besides?.(store) };
  const all = Object.entries(freshness);
  const told = `the cluster does not let this server list and watch ${resource}`;
  const missingRight = () => (reflector.missingRight() === undefined ? undefined : told);
  const lister = createLister({
    store,
    freshness,
    maxStalenessMs,
    clock,
    epoch,
    exposeBytes,
    ...(isRequired ? {} : { missingRight }),
  });
  return {
    list: { kind, lister, watches: lister, age: lister },
    upkeep: {
      parts: [
        { name: `reflector of ${resource}`, run: (signal) => reflector.run(signal) },
        { name: `leaf warmer of ${resource}`, run: (signal) => lister.run(signal) },
      ],
      checks: all.flatMap(([name, one]) => mirrorChecks(name, one, { maxStalenessMs, isOptional: !isRequired })),
      reflectors: freshness,
      stalenessMs: Object.fromEntries(all.map(([name, one]) => [name, () => one.stalenessMs()])),
    },
  };
}
