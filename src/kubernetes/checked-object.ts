import type { KubernetesObject } from './object.ts';

/**
 * Whether a listed or watched value has what ordering needs: name, uid and resourceVersion. A `Table` has none of them.
 */
export function isKubernetesObject(value: unknown): value is KubernetesObject {
  if (typeof value !== 'object' || value === null) return false;
  const { metadata } = value as { metadata?: unknown };
  if (typeof metadata !== 'object' || metadata === null) return false;
  const { name, uid, resourceVersion } = metadata as Record<string, unknown>;
  return isText(name) && isText(uid) && isText(resourceVersion);
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** `namespace/name`, or `name` for cluster-scoped kinds. */
export const keyOf = ({ metadata }: KubernetesObject): string =>
  metadata.namespace ? `${metadata.namespace}/${metadata.name}` : metadata.name;

/** The resourceVersion of a list or a bookmark; `''` when there is none. */
export function versionOf(value: unknown): string {
  const metadata = (value as { metadata?: { resourceVersion?: unknown } } | null)?.metadata;
  return typeof metadata?.resourceVersion === 'string' ? metadata.resourceVersion : '';
}
