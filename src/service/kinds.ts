import type { Authorizer } from '../authorization/authorizer.ts';
import { createReviewSeats } from '../authorization/namespace-reviews.ts';
import type { PermittedScopes } from '../authorization/permitted-scope.ts';
import { createPermittedScopes, type NamespaceSource } from '../authorization/permitted-scopes.ts';
import type { Config } from '../config/config.ts';
import type { ServedKinds } from '../http/kinds/kind-routes.ts';
import type { ServedSearch } from '../http/kinds/search-route.ts';
import type { KindRules } from '../kinds/catalog/kind-answer.ts';
import { createKindCatalog } from '../kinds/catalog/kind-catalog.ts';
import { addedKeysOf, readClaimAnnotations } from '../kinds/claim-annotations.ts';
import { matches } from '../kinds/kind-patterns.ts';
import { createKindValue } from '../kinds/kind-value.ts';
import { KindMetrics } from '../kinds/metrics.ts';
import { HeldKinds, type HeldKindsOptions } from '../kinds/mirrors/held-kinds.ts';
import { ObjectReader } from '../kinds/object-reader.ts';
import { ObjectSearch, type SearchedList } from '../kinds/search/object-search.ts';
import type { KindWords } from '../kinds/words/kind-words.ts';
import { selectorKept } from '../kinds/words/service-words.ts';
import { wordsOf } from '../kinds/words/words-of.ts';
import type { Cluster } from '../kubernetes/cluster.ts';
import type { ClusterKind } from '../kubernetes/discovery/cluster-kind.ts';
import type { SharedWatch } from '../kubernetes/reflector/shared-watch.ts';
import { derived } from '../runtime/derived.ts';
import { TimeSlices } from '../runtime/time-slices.ts';
import { type Family, NO_UPKEEP, type Shared } from './family.ts';
import { newEpoch } from './list-mirror.ts';

export interface KindsOptions extends Omit<HeldKindsOptions, 'memoryLimit'> {
  readonly rules: KindRules;
  /** `undefined`: what the container's limit leaves. */
  readonly memory: number | undefined;
}

/** The options of the kinds in this configuration. */
export const toKindsOptions = ({
  platform,
  nodes,
  kinds,
}: Pick<Config, 'platform' | 'nodes' | 'kinds'>): KindsOptions => {
  const { idle, memory, secrets, events } = kinds;
  const isDenied = deniedKinds({ kinds });
  return {
    platform,
    idleMs: idle,
    memory,
    maxStalenessMs: nodes.maxStaleness,
    longestPeriodMs: nodes.selfCheck.longestPeriod,
    rules: { isAllowed: ({ group, resource }) => !isDenied(group, resource), secrets, events },
  };
};

/** Whether the configuration denies a kind to everybody. */
export const deniedKinds =
  ({ kinds: { allow, deny } }: Pick<Config, 'kinds'>) =>
  (group: string, resource: string): boolean =>
    !matches(allow, { group, resource }) || matches(deny, { group, resource });

export interface KindsParts extends Shared {
  readonly cluster: Cluster;
  readonly scopes: PermittedScopes;
  /** By the path of a collection: the watch of that kind lets others follow it. */
  readonly sharedWatches: ReadonlyMap<string, Pick<SharedWatch, 'publish'>>;
  /** The bytes of the lists that are always in memory. */
  heldBytes(): number;
  /** These lists. */
  readonly searched: readonly SearchedList[];
  /** The memory limit of the container in bytes; absent when there is none. */
  memoryLimit?: (() => number) | undefined;
}

export interface Kinds extends Family {
  readonly served: ServedKinds;
  readonly search: ServedSearch;
}

/** Creates what works out in which namespaces a caller has a right. */
export const createScopes = (
  parts: { readonly authorizer: Authorizer; readonly namespaces: NamespaceSource } & Pick<Shared, 'clock'>,
  maxStaleMs: number,
): ReturnType<typeof createPermittedScopes> =>
  createPermittedScopes({ ...parts, seats: createReviewSeats(), maxStaleMs });

/** Every kind of the cluster, in memory while somebody asks for it. */
export function createKinds({ rules, memory, ...options }: KindsOptions, parts: KindsParts): Kinds {
  const { cluster, clock, random, logger, registry, scopes } = parts;
  const { platform } = options;
  const catalog = createKindCatalog({ platform, discovery: cluster.discovery, clock, logger, rules });
  const slices = new TimeSlices(clock);
  const wordsFor = (kind: ClusterKind): KindWords =>
    wordsOf(kind, {
      platform,
      selectorOf: (namespace, service) => selectorIn(mirrors, namespace, service),
      annotationsOf: (namespace, role) => annotationsIn(mirrors, namespace, role),
    });
  const kindValueOf = derived((kind: ClusterKind) =>
    createKindValue(kind, { platform, words: wordsFor(kind), way: 'whole', isSecret: isSecret(kind) }),
  );
  const limit = memory === undefined ? () => freeMemory(parts) : () => memory;
  const mirrors: HeldKinds = new HeldKinds(
    { ...options, memoryLimit: limit },
    {
      cluster: { reflect: sharedReflect(parts) },
      clock,
      logger,
      slices,
      epoch: newEpoch(random),
      metrics: new KindMetrics(registry),
      wordsOf: wordsFor,
      isSecret,
    },
  );
  catalog.onRemoved((removed) => {
    for (const kind of removed) mirrors.removed(kind);
  });
  const objects = new ObjectReader({ cluster, slices, kindValueOf });
  const annotations = (kind: ClusterKind) =>
    addedKeysOf(platform, kind) && readClaimAnnotations({ mirrors, find: catalog.find, slices });
  const search = new ObjectSearch({ platform, always: parts.searched, catalog, mirrors, slices });
  return {
    search: { objects: search, scopes },
    served: { catalog, mirrors, scopes, objects, kindValueOf, annotations },
    upkeep: {
      ...NO_UPKEEP,
      parts: [
        { name: 'catalog of kinds', run: (signal) => catalog.run(signal) },
        { name: 'kinds in memory', run: (signal) => mirrors.run(signal) },
      ],
    },
  };
}

/** Reflects a collection so that others can follow its watch, if they want that. */
function sharedReflect({ cluster, sharedWatches }: Pick<KindsParts, 'cluster' | 'sharedWatches'>): Cluster['reflect'] {
  return (resource, store, plan) => {
    const watch = sharedWatches.get(resource.path);
    const shared = watch ? { ...resource, wrap: watch.publish.bind(watch) } : resource;
    return cluster.reflect(shared, store, plan);
  };
}

const isSecret = ({ group, resource }: Pick<ClusterKind, 'group' | 'resource'>): boolean =>
  group === '' && resource === 'secrets';

const MIB = 2 ** 20;
/** Without a setting, kinds never get more than this. */
const MOST_BYTES = 256 * MIB;
/** So much they always get: a page of a small kind must work in a container that is full. */
const LEAST_BYTES = 16 * MIB;
/** The share of the container's limit that all lists together may have. The rest is for the program, sign-ins and answers under way. */
const SHARE = 1 / 2;

/** What nodes, namespaces and accounts leave of the container's limit. Without a limit there is enough. */
function freeMemory({ heldBytes, memoryLimit }: Pick<KindsParts, 'heldBytes' | 'memoryLimit'>): number {
  const limit = memoryLimit?.() ?? 0;
  if (limit <= 0 || limit > Number.MAX_SAFE_INTEGER) return MOST_BYTES;
  return Math.min(MOST_BYTES, Math.max(LEAST_BYTES, limit * SHARE - heldBytes()));
}

/** The selector of a Service, if the Services are in memory. */
function selectorIn(
  mirrors: HeldKinds,
  namespace: string,
  service: string,
): Readonly<Record<string, string>> | undefined {
  return selectorKept(mirrors.held({ group: '', resource: 'services' })?.store.get(`${namespace}/${service}`));
}

/** The annotations of a role, if the roles are in memory. */
function annotationsIn(
  mirrors: HeldKinds,
  namespace: string,
  role: string,
): Readonly<Record<string, string>> | undefined {
  const resource = namespace === '' ? 'clusterroles' : 'roles';
  const roles = mirrors.held({ group: 'rbac.authorization.k8s.io', resource });
  return roles?.store.get(namespace === '' ? role : `${namespace}/${role}`)?.annotations;
}
