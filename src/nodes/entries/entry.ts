import { asArray, asObject, isObject } from '../../kubernetes/json.ts';
import type { KubernetesObject, ObjectMeta } from '../../kubernetes/object.ts';
import type { StoredEntry } from '../../kubernetes/reflector/store.ts';
import { encodeNode, type UsageKeys } from '../bytes/encode-object.ts';
import type { EncodedNode } from '../bytes/encoded-object.ts';
import { nodeStatusWord } from '../node-status.ts';
import type { NodeStatusWord } from '../query/list-query.ts';
import { parseQuantity } from '../usage/quantity.ts';

/** What the store keeps of a node: the small fields that order and filters read, and the encoded item. Never changed. */
export interface NodeEntry extends StoredEntry {
  /** Milliseconds since 1970; a missing creation time is the oldest. */
  readonly createdAt: number;
  readonly labels: Readonly<Record<string, string>> | undefined;
  /** As stored: the usage annotations are in the encoded item only. */
  readonly annotations: Readonly<Record<string, string>> | undefined;
  readonly owners: readonly NodeOwner[];
  readonly status: NodeStatusWord;
  readonly allocatable: Allocatable;
  readonly encoded: EncodedNode;
}

interface NodeOwner {
  readonly uid: unknown;
  readonly kind: unknown;
}

/** In nano units; 0 when missing or unreadable. */
export interface Allocatable {
  readonly cpu: bigint;
  readonly memory: bigint;
}

/**
 * Throws for an object without name, uid or resourceVersion and for labels or annotations that are not text. Any other odd
 * member is passed through unread, so that one strange node never costs the list.
 */
export function toNodeEntry(node: KubernetesObject, usageKeys: UsageKeys): NodeEntry {
  const metadata = identified(node.metadata);
  return {
    key: metadata.name,
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion,
    createdAt: instant(metadata.creationTimestamp),
    labels: texts('labels', metadata.labels),
    annotations: texts('annotations', metadata.annotations),
    owners: asArray(metadata['ownerReferences']).map(toOwner),
    status: nodeStatusWord(node),
    allocatable: readAllocatable(node),
    encoded: encodeNode(node, usageKeys),
  };
}

/** Checks what no stored object may lack. */
export function identified(metadata: unknown): ObjectMeta {
  for (const member of ['name', 'uid', 'resourceVersion']) {
    const value = asObject(metadata)[member];
    if (typeof value !== 'string' || value === '') throw new Error(`metadata.${member} is missing or not text`);
  }
  return metadata as ObjectMeta;
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

function toOwner(owner: unknown): NodeOwner {
  const { uid, kind } = asObject(owner);
  return { uid, kind };
}

/** `status.allocatable` only: capacity is no substitute. */
function readAllocatable(node: KubernetesObject): Allocatable {
  const { cpu, memory } = asObject(asObject(node['status'])['allocatable']);
  return { cpu: parseQuantity(cpu)?.nano ?? 0n, memory: parseQuantity(memory)?.nano ?? 0n };
}
