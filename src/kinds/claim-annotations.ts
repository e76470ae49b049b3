import type { ClusterKind } from '../kubernetes/discovery/cluster-kind.ts';
import type { RunningLister } from '../resources/cache.ts';
import type { Entry } from '../resources/entries/entry.ts';
import type { ResourceStore } from '../resources/entries/store.ts';
import type { Steps, TimeSlices } from '../runtime/time-slices.ts';
import { StatusError } from '../status-error.ts';
import { claimsOf } from './words/pod-words.ts';
import { driversOf } from './words/snapshot-words.ts';

/** The objects as answers show them, with annotations that the cluster does not store. A promise only if there are many. */
export type Annotate = (entries: readonly Entry[]) => readonly Entry[] | Promise<readonly Entry[]>;

/** A kind in memory. */
interface ReadKind {
  readonly store: ResourceStore;
  readonly lister: Pick<RunningLister, 'refresh'>;
}

type KindName = Pick<ClusterKind, 'group' | 'resource'>;

export interface ClaimAnnotationsParts {
  readonly mirrors: { hold(kind: ClusterKind): ReadKind | Promise<ReadKind> };
  /** A kind of the cluster, whether it is listed here or not. */
  find(group: string, resource: string): ClusterKind | undefined | Promise<ClusterKind | undefined>;
  readonly slices: TimeSlices;
}

const IN_USE = 'kubesphere.io/in-use';
const ALLOW_SNAPSHOT = 'kubesphere.io/allow-snapshot';
const KEYS: ReadonlySet<string> = new Set([IN_USE, ALLOW_SNAPSHOT]);

/** Who made the volume. Kubernetes writes both; 3.4 reads the older one. */
const PROVISIONERS = ['volume.beta.kubernetes.io/storage-provisioner', 'volume.kubernetes.io/storage-provisioner'];

/** The annotations that answers add to the objects of a kind on this platform. */
export const addedKeysOf = (platform: string, { group, resource }: KindName): ReadonlySet<string> | undefined =>
  platform === 'kubesphere' && group === '' && resource === 'persistentvolumeclaims' ? KEYS : undefined;

/**
 * Reads what the annotations of claims are made of, as KubeSphere 3.4 does: whether a pod of the namespace mounts the claim, and whether a
 * VolumeSnapshotClass has the driver that made its volume. Pods and classes are brought into memory for it. An annotation is left out
 * if what it is made of cannot be had in memory now.
 */
export async function readClaimAnnotations({ mirrors, find, slices }: ClaimAnnotationsParts): Promise<Annotate> {
  const hold = async (group: string, resource: string): Promise<ReadKind | undefined> => {
    const kind = await find(group, resource);
    return kind && mirrors.hold(kind);
  };
  const [pods, classes] = await Promise.all([
    ifThere(hold('', 'pods')),
    ifThere(hold('snapshot.storage.k8s.io', 'volumesnapshotclasses')),
  ]);
  const isUsed = pods?.held && usedClaims(pods.held);
  const drivers = classes && new Set(classes.held?.store.entries().flatMap(driversOf));
  const annotated = (claim: Entry): Entry => {
    const members = [
      ...(isUsed ? [member(IN_USE, isUsed(claim))] : []),
      ...(drivers ? [member(ALLOW_SNAPSHOT, drivers.has(provisionerOf(claim)))] : []),
    ];
    return { ...claim, encoded: claim.encoded.withAdded(members.join()) };
  };
  return (claims) => slices.run(eachOf(claims, annotated));
}

function* eachOf(claims: readonly Entry[], annotated: (claim: Entry) => Entry): Steps<readonly Entry[]> {
  const all: Entry[] = [];
  for (const claim of claims) {
    all.push(annotated(claim));
    yield;
  }
  return all;
}

/** `undefined`: it cannot be had now. Without `held`, the cluster has no such kind. */
async function ifThere(holding: Promise<ReadKind | undefined>): Promise<{ readonly held?: ReadKind } | undefined> {
  try {
    const held = await holding;
    held?.lister.refresh();
    return held ? { held } : {};
  } catch (error) {
    if (error instanceof StatusError) return undefined;
    throw error;
  }
}

/** Looks at the pods of each namespace once. */
function usedClaims({ store }: ReadKind): (claim: Entry) => boolean {
  const known = new Map<string, ReadonlySet<string>>();
  const usedIn = (namespace: string): ReadonlySet<string> =>
    new Set(store.keysIn(new Set([namespace])).flatMap((key) => claimsOf(store.get(key))));
  return ({ namespace, name }) => {
    const used = known.get(namespace) ?? usedIn(namespace);
    known.set(namespace, used);
    return used.has(name);
  };
}

/** An empty text if nobody has made the volume. No class has that as its driver. */
const provisionerOf = ({ annotations }: Entry): string =>
  PROVISIONERS.map((key) => annotations?.[key] ?? '').find((name) => name !== '') ?? '';

const member = (key: string, is: boolean): string => `"${key}":"${is}"`;
