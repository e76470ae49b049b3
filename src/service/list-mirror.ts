import type { ServedList } from '../http/app.ts';
import type { Cluster } from '../kubernetes/cluster.ts';
import type { Freshness } from '../kubernetes/reflector/store.ts';
import { createLister } from '../resources/cache.ts';
import type { Kind } from '../resources/entries/kind.ts';
import { collectionPath } from '../resources/entries/object-kind.ts';
import { ResourceStore } from '../resources/entries/store.ts';
import type { Clock } from '../runtime/clock.ts';
import type { TimeSlices } from '../runtime/time-slices.ts';
import { mirrorChecks } from './readiness.ts';
import type { Upkeep } from './upkeep.ts';

/** A kind in memory: what the routes read, and what keeps it current. */
export interface ListMirror {
  readonly list: ServedList;
  readonly upkeep: Upkeep;
}

export interface ListMirrorOptions {
  readonly kind: Kind;
  /** False: we are ready without it, and who asks for it is told when the right to mirror it is missing. */
  readonly isRequired: boolean;
  /** Answers from older data are refused. Infinity: none is. */
  readonly maxStalenessMs: number;
  /** No two self-checks are further apart. */
  readonly longestPeriodMs: number;
  /** What else its answers rest on, by its name. */
  besides?(store: ResourceStore): Readonly<Record<string, Freshness>>;
}

export interface ListMirrorParts {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly slices: TimeSlices;
  /** Of the versions of this process. */
  readonly epoch: string;
  /** Shows how many bytes the mirror of a resource holds. */
  exposeBytes(resource: string, bytes: () => number): void;
}

/** Wires the reflector, the store and the lister of a kind. */
export function createListMirror(options: ListMirrorOptions, parts: ListMirrorParts): ListMirror {
  const { kind, isRequired, maxStalenessMs, longestPeriodMs } = options;
  const { cluster, clock, slices, epoch, exposeBytes } = parts;
  const { resource } = kind;
  const store = new ResourceStore(kind, slices);
  const reflector = cluster.reflect({ path: collectionPath(kind), name: resource }, store, { longestPeriodMs });
  const freshness = { [resource]: reflector, ...options.besides?.(store) };
  const all = Object.entries(freshness);
  const missingRight = (): string | undefined =>
    reflector.isForbidden() ? `the cluster does not let this server list and watch ${resource}` : undefined;
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
      checks: all.flatMap(([name, one]) => mirrorChecks(name, one, { maxStalenessMs, isRequired })),
      reflectors: freshness,
      stalenessMs: Object.fromEntries(all.map(([name, one]) => [name, () => one.stalenessMs()])),
    },
  };
}
