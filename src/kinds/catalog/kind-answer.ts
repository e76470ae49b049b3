import type { ClusterKind } from '../../kubernetes/discovery/cluster-kind.ts';

/** What a name in a path means. */
export type KindAnswer =
  | { readonly kind: ClusterKind }
  /** Several groups have the plural, and none of them comes first. At least two kinds, ordered by group. */
  | { readonly ambiguous: readonly ClusterKind[] }
  | { readonly unknown: true }
  /** The cluster has the kind, but it is not listed here. A public sentence without a full stop that says why. */
  | { readonly notListable: string }
  /** The configuration denies the kind. */
  | { readonly denied: true };

/** Which kinds are listed, by the configuration. */
export interface KindRules {
  isAllowed(kind: Pick<ClusterKind, 'group' | 'resource'>): boolean;
  /** Whether Secrets are listed without their data, or not at all. */
  readonly secrets: 'none' | 'metadata';
  /** Whether events are listed. */
  readonly events: boolean;
}

/** A kind that can be listed, with its name in our paths: the plural, or `plural.group` if the bare plural means something else. */
export interface NamedKind extends ClusterKind {
  readonly name: string;
}

/** `deployments.apps`; `pods` for a kind of the core group. */
export const qualifiedName = ({ group, resource }: Pick<ClusterKind, 'group' | 'resource'>): string =>
  group === '' ? resource : `${resource}.${group}`;
