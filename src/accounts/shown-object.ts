import type { KubernetesObject, ObjectMeta } from '../kubernetes/object.ts';
import { asObject } from '../runtime/text/json-value.ts';

/** In this annotation `kubectl apply` stores the whole object, a password included. */
export const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** The metadata without kubectl's copy of the object, and without the `hidden` annotations. Members stay in their order. */
export function shownMetadata({ metadata }: KubernetesObject, hidden: readonly string[] = []): ObjectMeta {
  const annotations = asObject(metadata.annotations);
  const leftOut = [LAST_APPLIED, ...hidden].filter((key) => Object.hasOwn(annotations, key));
  if (leftOut.length === 0) return metadata;
  const left = without(annotations, leftOut);
  // Without annotations the cluster leaves the member out.
  if (Object.keys(left).length === 0) return without(metadata, ['annotations']) as ObjectMeta;
  return { ...metadata, annotations: left } as ObjectMeta;
}

/** All members except these. */
export const without = (
  members: Readonly<Record<string, unknown>>,
  leftOut: readonly string[],
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(members).filter(([key]) => !leftOut.includes(key)));
