import type { KubernetesObject } from '../../kubernetes/object.ts';

/** What the code that handles single objects needs to know of their kind. */
export interface ObjectKind {
  /** Of the cluster's API: `''` is the core group. */
  readonly group: string;
  readonly version: string;
  /** The plural, as in paths. */
  readonly resource: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** The word that the `status` filter compares. */
  statusOf(object: KubernetesObject): string;
  /**
   * What the decoration reads of an object besides what the engine keeps of every object. It becomes `own` of the
   * entry.
   */
  project?(object: KubernetesObject): unknown;
  /** The annotations that the decoration adds. Stored annotations with these keys are not shown. */
  readonly addedKeys?: ReadonlySet<string>;
}

/** `/api/v1/nodes`: all objects of the kind. */
export const collectionPath = (kind: ObjectKind): string => `${rootOf(kind)}/${kind.resource}`;

/** `selfLink` of an object. */
export const objectPath = (
  kind: ObjectKind,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): string =>
  namespace === ''
    ? `${collectionPath(kind)}/${name}`
    : `${rootOf(kind)}/namespaces/${namespace}/${kind.resource}/${name}`;

const rootOf = ({ group, version }: ObjectKind): string =>
  group === '' ? `/api/${version}` : `/apis/${group}/${version}`;

/** The members that say what an object is. Items of a list do not have them. */
export const typeOf = ({ group, version, kind }: ObjectKind) => ({
  kind,
  apiVersion: group === '' ? version : `${group}/${version}`,
});

/** The same as bytes, to be put in front of the other members of an object. */
export const typeMembers = (kind: ObjectKind): Uint8Array =>
  Buffer.from(`${JSON.stringify(typeOf(kind)).slice(0, -1)},`);
