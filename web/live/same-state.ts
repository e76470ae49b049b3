import type { KubernetesObject } from '../api/objects.ts';

/**
 * Whether two objects of a list are in one state, so that their row need not be drawn again. The version is the cluster's; the usage of nodes is
 * in annotations, and changes without it.
 */
export function isSameState({ metadata: a }: KubernetesObject, { metadata: b }: KubernetesObject): boolean {
  if (a.uid !== b.uid || a.resourceVersion !== b.resourceVersion) return false;
  const [of, other] = [Object.entries(a.annotations ?? {}), b.annotations ?? {}];
  return of.length === Object.keys(other).length && of.every(([key, value]) => other[key] === value);
}
