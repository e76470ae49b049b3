/** The parts of Kubernetes objects that the page reads. Everything in them is text from the cluster, and may be missing. */
interface Metadata {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
}

export interface KubernetesObject {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: Metadata;
  readonly spec?: Tree;
  readonly status?: Tree;
}

/** A part of an object whose shape depends on its kind. */
type Tree = Readonly<Record<string, unknown>>;

export interface ObjectList {
  readonly items: readonly KubernetesObject[];
  readonly totalItems: number;
}

/** The member that the object itself has: names from the cluster may be those that every JavaScript object inherits, such as `constructor`. */
export const ownOf = <T>(members: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(members, name) ? members[name] : undefined;

/** What is at this path of members in an object; `undefined` where a member is missing. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  let found = value;
  for (const name of path) {
    if (typeof found !== 'object' || found === null) return undefined;
    found = ownOf(found as Tree, name);
  }
  return found;
}

/** The text at this path, or an empty one. */
export function textAt(value: unknown, ...path: readonly string[]): string {
  const found = at(value, ...path);
  return typeof found === 'string'
    ? found
    : typeof found === 'number' || typeof found === 'boolean'
      ? String(found)
      : '';
}

export function numberAt(value: unknown, ...path: readonly string[]): number {
  const found = at(value, ...path);
  return typeof found === 'number' ? found : 0;
}

/** The list at this path, or an empty one. */
export function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}
