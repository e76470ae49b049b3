/** A kind that the cluster serves, as its discovery describes it (`metav1.APIResource`). */
export interface ClusterKind {
  /** `''` is the core group. */
  readonly group: string;
  /** The version that the group prefers among those that have the kind. */
  readonly version: string;
  /** The plural, as in paths. */
  readonly resource: string;
  readonly kind: string;
  readonly singularName: string;
  readonly shortNames: readonly string[];
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
}
