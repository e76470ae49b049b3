import type { ClusterKind } from '../kubernetes/discovery/cluster-kind.ts';
import type { KubernetesObject, ObjectMeta } from '../kubernetes/object.ts';
import type { Kind } from '../resources/entries/kind.ts';
import { isObject } from '../runtime/text/json-value.ts';
import { addedKeysOf } from './claim-annotations.ts';
import type { KindWords } from './words/kind-words.ts';

/**
 * How a mirror holds a kind. `whole`: every object, encoded once. `fields`: the metadata and what filters read; the objects of a page are
 * read from the cluster.
 */
export type HoldingWay = 'whole' | 'fields';

/** The annotation in which `kubectl apply` stores a copy of the object. Answers never have it. */
export const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

interface KindValueOptions {
  readonly platform: string;
  readonly words: KindWords;
  readonly way: HoldingWay;
  /** Only the metadata and the type of a Secret are ever kept. */
  readonly isSecret: boolean;
}

/** Describes a kind of the cluster to the list engine. */
export function createKindValue(kind: ClusterKind, { platform, words, way, isSecret }: KindValueOptions): Kind {
  const { group, version, resource, singularName, shortNames, namespaced } = kind;
  const addedKeys = addedKeysOf(platform, kind);
  const keep = isSecret ? secretOf : way === 'fields' ? metadataOf : wholeOf;
  return {
    platform,
    group,
    version,
    resource,
    kind: kind.kind,
    singularName,
    shortNames,
    namespaced,
    sortWords: words.sortWords,
    filters: words.filters,
    statusOf: words.statusOf,
    ...(words.project ? { project: words.project } : {}),
    ...(words.isSameOwn ? { isSameOwn: words.isSameOwn } : {}),
    ...(addedKeys ? { addedKeys } : {}),
    trim: keep,
    isPacked: way === 'fields',
  };
}

const wholeOf = (object: KubernetesObject): KubernetesObject => ({ ...object, metadata: trimmed(object.metadata) });

const metadataOf = ({ metadata }: KubernetesObject): KubernetesObject => ({ metadata: trimmed(metadata) });

const secretOf = ({ metadata, type }: KubernetesObject): KubernetesObject => ({
  metadata: trimmed(metadata),
  ...(typeof type === 'string' ? { type } : {}),
});

/** The metadata without what only tools that apply objects read. */
export function trimmed(metadata: ObjectMeta): ObjectMeta {
  const { annotations, managedFields: _, ...others } = metadata;
  if (!isObject(annotations)) return annotations === undefined ? others : { ...others, annotations };
  if (!Object.hasOwn(annotations, LAST_APPLIED)) return { ...others, annotations };
  const { [LAST_APPLIED]: __, ...kept } = annotations;
  return Object.keys(kept).length === 0 ? others : { ...others, annotations: kept };
}
