import type { KubernetesObject } from '../../kubernetes/object.ts';

/** What the code that handles single objects needs to know of their kind. */
export interface ObjectKind {
  /** The group in the cluster's API; `''` is the core group. */
  readonly group: string;
  readonly version: string;
  /** The plural, as in paths. */
  readonly resource: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** The word that the `status` filter compares. */
  statusOf(object: KubernetesObject): string;
  /** What the decoration, the kind's own filters and its own orders read of an object. It becomes `own` of the entry. */
  project?(object: KubernetesObject): unknown;
  /** The part of an object that is kept. `statusOf` and `project` get the whole object. Absent: all of it. */
  trim?(object: KubernetesObject): KubernetesObject;
  /**
   * Whether two values of `project` are equal. A kind with a watch needs it if its filters read `own`: then the engine remembers the
   * value that an object had before, to tell a watcher when the object no longer matches. So the value should be small.
   */
  isSameOwn?(a: unknown, b: unknown): boolean;
  /** Set if answers show the objects as a kind of an API of ours. */
  readonly answered?: AnsweredKind;
  /** The annotations that the decoration adds. Stored annotations with these keys are not shown. */
  readonly addedKeys?: ReadonlySet<string>;
}

/** A kind whose answers are objects of an API of ours. They have no `selfLink`. */
interface AnsweredKind {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly kind: string;
  /** The object as answers and filters see it, without what nobody may see. `statusOf` and `project` get the stored object. */
  show(object: KubernetesObject): KubernetesObject;
}

/** The plural under which callers know the kind. */
export const answeredResource = ({ answered, resource }: ObjectKind): string => answered?.resource ?? resource;

/** The path of all objects of the kind in the cluster's API, such as `/api/v1/nodes`. */
export const collectionPath = (kind: Pick<ObjectKind, 'group' | 'version' | 'resource'>): string =>
  `${rootOf(kind)}/${kind.resource}`;

/** `selfLink` of an object. */
export const objectPath = (
  kind: ObjectKind,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): string =>
  namespace === ''
    ? `${collectionPath(kind)}/${name}`
    : `${rootOf(kind)}/namespaces/${namespace}/${kind.resource}/${name}`;

const rootOf = ({ group, version }: Pick<ObjectKind, 'group' | 'version'>): string =>
  group === '' ? `/api/${version}` : `/apis/${group}/${version}`;

/** The members that say what an object is. Items of a list do not have them. */
export function typeOf(of: ObjectKind): { readonly kind: string; readonly apiVersion: string } {
  const { group, version, kind } = of.answered ?? of;
  return { kind, apiVersion: group === '' ? version : `${group}/${version}` };
}

/** `kind` and `apiVersion` as bytes, to be put in front of the other members of an object. */
export const typeMembers = (kind: ObjectKind): Uint8Array =>
  Buffer.from(`${JSON.stringify(typeOf(kind)).slice(0, -1)},`);
