import type { Registry } from 'prom-client';
import type { Cluster } from '../kubernetes/cluster.ts';
import type { Freshness } from '../kubernetes/reflector/freshness.ts';
import { NodeStore } from '../nodes/entries/store.ts';
import { createNodeLister } from '../nodes/node-cache.ts';
import type { NodeAge, NodeLister } from '../nodes/node-lister.ts';
import { PodStore, podFieldSelector } from '../nodes/usage/pod-store.ts';
import { UsageLedger } from '../nodes/usage/usage-ledger.ts';
import type { NodeWatchSource } from '../nodes/watch/watch.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import { TimeSlices } from '../runtime/time-slices.ts';
import { mirrorChecks } from './readiness.ts';
import type { Upkeep } from './upkeep.ts';

export interface NodeMirrorOptions {
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

export interface NodeMirrorParts {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly random: Random;
  readonly registry: Registry;
}

/** The nodes in memory: what the routes read, and what keeps it current. */
export interface NodeMirror {
  readonly lister: NodeLister & NodeWatchSource & NodeAge;
  readonly upkeep: Upkeep;
}

/** 64 random bits tell the versions of two processes apart. */
const EPOCH_BYTES = 8;

/** Connects reflectors, stores and the lister: always for nodes, and for pods where usage is wanted. */
export function createNodeMirror(
  options: NodeMirrorOptions,
  { cluster, clock, random, registry }: NodeMirrorParts,
): NodeMirror {
  const ledger = options.usage ? new UsageLedger() : undefined;
  const store = new NodeStore(options, new TimeSlices(clock), ledger);
  const plan = { longestPeriodMs: options.selfCheck.longestPeriod };
  const nodes = cluster.reflect({ path: '/api/v1/nodes', name: 'nodes' }, store, plan);
  const pods =
    ledger &&
    cluster.reflect({ path: '/api/v1/pods', name: 'pods', fieldSelector: podFieldSelector() }, new PodStore(ledger), {
      ...plan,
      isWanted: checksPods(options.selfCheck.pods, cluster),
    });
  const freshness = pods ? { nodes, pods: countedIn(store, pods) } : { nodes };
  const epoch = random.bytes(EPOCH_BYTES).toString('hex');
  const lister = createNodeLister({
    nodes: store,
    freshness,
    maxStalenessMs: options.maxStaleness,
    clock,
    epoch,
    registry,
  });
  const reflectors = Object.entries(freshness);
  return {
    lister,
    upkeep: {
      parts: [
        { name: 'reflector of nodes', run: (signal) => nodes.run(signal) },
        ...(pods ? [{ name: 'reflector of pods', run: (signal: AbortSignal) => pods.run(signal) }] : []),
        { name: 'leaf warmer', run: (signal) => lister.run(signal) },
      ],
      checks: reflectors.flatMap(([name, reflector]) => mirrorChecks(name, reflector, options.maxStaleness)),
      reflectors: freshness,
      stalenessMs: Object.fromEntries(reflectors.map(([name, reflector]) => [name, () => reflector.stalenessMs()])),
    },
  };
}

/** Whether the pods are compared with the cluster now. In a large cluster that takes nearly a thousand pages. */
function checksPods(
  setting: NodeMirrorOptions['selfCheck']['pods'],
  cluster: Cluster,
): (signal: AbortSignal) => Promise<boolean> {
  return async (signal) => (setting === 'auto' ? !(await cluster.checksItsCache(signal)) : setting === 'always');
}

/** The pods count as synced when the nodes show the sums of the first list of pods. Until then no list is answered. */
function countedIn(store: NodeStore, pods: Freshness): Freshness {
  let isCounted = false;
  const hasSynced = (): boolean => {
    isCounted ||= pods.hasSynced() && store.isCounted;
    return isCounted;
  };
  return { hasSynced, stalenessMs: () => pods.stalenessMs(), idleMs: () => pods.idleMs() };
}
