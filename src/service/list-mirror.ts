import type { Cluster } from '../kubernetes/cluster.ts';
import type { ReflectedStore } from '../kubernetes/reflector/store.ts';
import { createLister, type RunningLister } from '../resources/cache.ts';
import type { Entry } from '../resources/entries/entry.ts';
import { collectionPath } from '../resources/entries/object-kind.ts';
import type { ResourceStore } from '../resources/entries/store.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import type { Upkeep } from './family.ts';
import { type Mirror, mirrorChecks } from './readiness.ts';

/** A kind in memory: what the routes read, and what keeps it current. */
export interface ListMirror {
  readonly lister: RunningLister;
  /** The reflector of the kind. */
  readonly mirror: Mirror;
  readonly upkeep: Upkeep;
}

export interface ListMirrorOptions {
  readonly store: ResourceStore;
  /** What the reflector writes to, if the list shows only some of the objects. Default: the store. */
  readonly reflected?: ReflectedStore<Entry>;
  /** False: we are ready even while the cluster refuses us the right to mirror the kind. Callers of the list are told this reason. */
  readonly isRequired: boolean;
  /** When the data is older, requests are refused. Infinity: no limit. */
  readonly maxStalenessMs: number;
  /** The longest time between two self-checks. */
  readonly longestPeriodMs: number;
  /** Other mirrors that its answers depend on, by name. */
  readonly besides?: Readonly<Record<string, Mirror>>;
}

export interface ListMirrorParts {
  readonly cluster: Cluster;
  readonly clock: Clock;
  /** Distinguishes the versions of this process from those of others. */
  readonly epoch: string;
  /** Shows how many bytes the mirror of a resource holds. */
  exposeBytes(resource: string, bytes: () => number): void;
}

/** 64 random bits distinguish the versions of two processes. */
const EPOCH_BYTES = 8;

export const newEpoch = (random: Random): string => random.bytes(EPOCH_BYTES).toString('hex');

/** Wires the reflector, the store and the lister of a kind. */
export function createListMirror(options: ListMirrorOptions, parts: ListMirrorParts): ListMirror {
  const { store, reflected = store, isRequired, maxStalenessMs, longestPeriodMs } = options;
  const { cluster, clock, epoch, exposeBytes } = parts;
  const { kind } = store;
  const { resource } = kind;
  const collection = { path: collectionPath(kind), name: resource, isOptional: !isRequired };
  const reflector = cluster.reflect(collection, reflected, { longestPeriodMs });
  const freshness: Readonly<Record<string, Mirror>> = { [resource]: reflector, ...options.besides };
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
    lister,
    mirror: reflector,
    upkeep: {
      parts: [
        { name: `reflector of ${resource}`, run: (signal) => reflector.run(signal) },
        { name: `leaf warmer of ${resource}`, run: (signal) => lister.run(signal) },
      ],
      checks: all.flatMap(([name, one]) => mirrorChecks(name, one, { maxStalenessMs, isOptional: !isRequired })),
      reflectors: freshness,
      ages: { lists: Object.fromEntries(all.map(([name, one]) => [name, one.proof])), revocation: {} },
    },
  };
}

/**
 * Wraps a mirror whose data appears in the items of a list, such as pods in nodes. It counts as synced when the items show its first
 * list; until then, requests for the list are refused.
 */
export function shownIn(store: ResourceStore, { hasSynced, proof, stalenessMs, idleMs, missingRight }: Mirror): Mirror {
  let isShown = false;
  return {
    hasSynced() {
      isShown ||= hasSynced() && store.isDecorated;
      return isShown;
    },
    proof,
    stalenessMs,
    idleMs,
    missingRight,
  };
}
