/** The members of `metav1.ObjectMeta` that the server itself reads. */
interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly creationTimestamp: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly [member: string]: unknown;
}

/**
 * A stored object, without `kind` and `apiVersion`. List items have neither, and other forms get them when they are
 * written.
 */
export interface KubeObject {
  readonly metadata: ObjectMeta;
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
  readonly [member: string]: unknown;
}

/** An object as a client sends it. The server adds the rest of the metadata, and drops `kind` and `apiVersion`. */
export interface NewObject {
  readonly metadata: Partial<ObjectMeta> & { readonly name: string };
  readonly [member: string]: unknown;
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** `namespace/name`, or the name alone for cluster-scoped objects: the order of keys is the order of lists. */
export const keyOf = (metadata: { readonly name: string; readonly namespace?: string }): string =>
  metadata.namespace === undefined ? metadata.name : `${metadata.namespace}/${metadata.name}`;

/** A member by path (`spec.nodeName`), or undefined where the path ends early. */
export function memberAt(object: unknown, path: readonly string[]): unknown {
  let value = object;
  for (const part of path) value = isRecord(value) ? value[part] : undefined;
  return value;
}
