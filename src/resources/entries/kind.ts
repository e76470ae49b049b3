import type { KubernetesObject } from '../../kubernetes/object.ts';
import type { ListVocabulary } from '../query/list-query.ts';
import type { DecoratedStore, Decoration } from './decoration.ts';

/** A kind as it describes itself to the list engine, which knows no kind by name. */
export interface Kind extends ListVocabulary {
  /** Of the cluster's API: `''` is the core group. */
  readonly group: string;
  readonly version: string;
  /** The plural, as in paths. */
  readonly resource: string;
  readonly kind: string;
  readonly singularName: string;
  readonly shortNames: readonly string[];
  readonly namespaced: boolean;
  /** The word that the `status` filter compares. */
  statusOf(object: KubernetesObject): string;
  /** What its decoration reads of an object, besides what the engine keeps of all: `own` of the entry. */
  project?(object: KubernetesObject): unknown;
  /** An annotation with the status word, where only the metadata of an object is asked for. */
  readonly statusKey?: string;
  readonly decorations?: Decorations;
}

/** What the answers add to the objects of a kind. */
interface Decorations {
  /** The annotations that are added; stored ones of the same keys are not shown. */
  readonly keys: ReadonlySet<string>;
  create(store: DecoratedStore): Decoration;
}

/** `/api/v1/nodes`: all objects of the kind. */
export const collectionPath = (kind: Kind): string => `${rootOf(kind)}/${kind.resource}`;

/** `selfLink` of an object. */
export const objectPath = (kind: Kind, { namespace, name }: { readonly namespace: string; readonly name: string }) =>
  namespace === ''
    ? `${collectionPath(kind)}/${name}`
    : `${rootOf(kind)}/namespaces/${namespace}/${kind.resource}/${name}`;

const rootOf = ({ group, version }: Kind): string => (group === '' ? `/api/${version}` : `/apis/${group}/${version}`);

/** How an object says what it is; the items of a list go without. */
export const typeOf = ({ group, version, kind }: Kind) => ({
  kind,
  apiVersion: group === '' ? version : `${group}/${version}`,
});

/** The same in front of the other members of an object. */
export const typeMembers = (kind: Kind): Uint8Array => Buffer.from(`${JSON.stringify(typeOf(kind)).slice(0, -1)},`);
