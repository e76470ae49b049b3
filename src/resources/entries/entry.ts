import type { KubernetesObject, ObjectMeta } from '../../kubernetes/object.ts';
import type { StoredEntry } from '../../kubernetes/reflector/store.ts';
import { asArray, asObject, isObject } from '../../runtime/text/json-value.ts';
import { type EncodedObject, encodeObject } from '../bytes/encoded-object.ts';
import type { Owner, Shape } from '../query/filter.ts';
import { type ObjectKind, objectPath } from './object-kind.ts';

/** What the store keeps of an object: the small fields that order and filters read, and the encoded item. Immutable. */
export interface Entry extends StoredEntry, Shape {
  /** Milliseconds since 1970. An object without a creation time counts as the oldest. */
  readonly createdAt: number;
  /** What the kind keeps of the object for its decoration and its filters. */
  readonly own: unknown;
  readonly encoded: EncodedObject;
}

/**
 * Throws for an object without name, uid or resourceVersion and for labels or annotations that are not text. Does not
 * check other members, so that one strange object never makes the list fail. Entries of all kinds have the same members
 * in the same order, so V8 keeps the code that reads them fast when a kind is added.
 */
export function toEntry(object: KubernetesObject, kind: ObjectKind): Entry {
  identified(object.metadata);
  const kept = kind.trim?.(object) ?? object;
  const shown = kind.answered?.show(kept) ?? kept;
  const { metadata } = shown;
  const { name } = metadata;
  const namespace = kind.namespaced ? namespaceOf(metadata) : '';
  return {
    key: namespace === '' ? name : `${namespace}/${name}`,
    name,
    namespace,
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion,
    createdAt: instant(metadata.creationTimestamp),
    labels: texts('labels', metadata.labels),
    annotations: texts('annotations', metadata.annotations),
    owners: asArray(metadata['ownerReferences']).map(toOwner),
    status: kind.statusOf(object),
    own: kind.project?.(object),
    encoded: encodeObject(shown, {
      selfLink: kind.answered ? undefined : objectPath(kind, { namespace, name }),
      addedKeys: kind.addedKeys,
    }),
  };
}

/** Throws unless name, uid and resourceVersion are there. */
export function identified(metadata: unknown): ObjectMeta {
  for (const member of ['name', 'uid', 'resourceVersion']) textOf(metadata, member);
  return metadata as ObjectMeta;
}

const namespaceOf = (metadata: ObjectMeta): string => textOf(metadata, 'namespace');

function textOf(metadata: unknown, member: string): string {
  const value = asObject(metadata)[member];
  if (typeof value !== 'string' || value === '') throw new Error(`metadata.${member} is missing or not text`);
  return value;
}

/** Splits a key into namespace and name. Neither has a slash in it. */
export function splitKey(key: string): { readonly name: string; readonly namespace?: string } {
  const slash = key.indexOf('/');
  return slash < 0 ? { name: key } : { name: key.slice(slash + 1), namespace: key.slice(0, slash) };
}

function instant(timestamp: unknown): number {
  const at = typeof timestamp === 'string' ? Date.parse(timestamp) : Number.NaN;
  return Number.isNaN(at) ? Number.NEGATIVE_INFINITY : at;
}

function texts(member: string, value: unknown): Readonly<Record<string, string>> | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isObject(value) || !Object.values(value).every((text) => typeof text === 'string')) {
    throw new Error(`metadata.${member} is not an object of texts`);
  }
  return value as Readonly<Record<string, string>>;
}

function toOwner(owner: unknown): Owner {
  const { uid, kind } = asObject(owner);
  return { uid, kind };
}
