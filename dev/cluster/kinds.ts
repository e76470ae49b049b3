/** One resource of the API: where it is served and how it behaves there. */
export interface ResourceKind {
  /** Plural name as in the path; unique here, so it also names the kind in the store, in faults and in the evidence. */
  readonly plural: string;
  readonly kind: string;
  /** API group; empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly namespaced: boolean;
  /** Has a `status` that only the status subresource may change. */
  readonly hasStatus: boolean;
  /** PUT on an absent object creates it, and PUT on a present one must give its resourceVersion. */
  readonly putCreates: boolean;
  /**
   * Field selectors besides `metadata.name` and `metadata.namespace`, each with the value that stands for an absent
   * field.
   */
  readonly fields: Readonly<Record<string, string>>;
}

interface Traits {
  readonly group?: string;
  readonly cluster?: true;
  readonly status?: true;
  readonly putCreates?: true;
  readonly fields?: Readonly<Record<string, string>>;
}

const define = (plural: string, kind: string, traits: Traits = {}): ResourceKind => ({
  plural,
  kind,
  group: traits.group ?? '',
  version: 'v1',
  namespaced: !traits.cluster,
  hasStatus: traits.status ?? false,
  putCreates: traits.putCreates ?? false,
  fields: traits.fields ?? {},
});

const POD_FIELDS = {
  'spec.nodeName': '',
  'spec.restartPolicy': 'Always',
  'spec.schedulerName': 'default-scheduler',
  'spec.serviceAccountName': '',
  'spec.hostNetwork': 'false',
  'status.phase': '',
  'status.podIP': '',
  'status.nominatedNodeName': '',
};

const EVENT_FIELDS = {
  'involvedObject.kind': '',
  'involvedObject.namespace': '',
  'involvedObject.name': '',
  'involvedObject.uid': '',
  'involvedObject.apiVersion': '',
  'involvedObject.resourceVersion': '',
  'involvedObject.fieldPath': '',
  reason: '',
  reportingComponent: '',
  source: '',
  type: '',
};

const RBAC = 'rbac.authorization.k8s.io';

/** All kinds that are stored. Reviews are not stored: they are answered and forgotten (`reviews.ts`). */
export const KINDS: readonly ResourceKind[] = [
  define('nodes', 'Node', { cluster: true, status: true, fields: { 'spec.unschedulable': 'false' } }),
  define('pods', 'Pod', { status: true, fields: POD_FIELDS }),
  define('namespaces', 'Namespace', { cluster: true, status: true, fields: { 'status.phase': '' } }),
  define('secrets', 'Secret', { fields: { type: '' } }),
  define('configmaps', 'ConfigMap'),
  define('events', 'Event', { fields: EVENT_FIELDS }),
  define('serviceaccounts', 'ServiceAccount'),
  define('leases', 'Lease', { group: 'coordination.k8s.io', putCreates: true }),
  define('clusterroles', 'ClusterRole', { group: RBAC, cluster: true }),
  define('clusterrolebindings', 'ClusterRoleBinding', { group: RBAC, cluster: true }),
  define('roles', 'Role', { group: RBAC }),
  define('rolebindings', 'RoleBinding', { group: RBAC }),
];

/** `v1` or `coordination.k8s.io/v1`. */
export const apiVersionOf = (kind: ResourceKind): string =>
  kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;

/** `secrets` or `leases.coordination.k8s.io`, as error messages have it. */
export const qualifiedName = (kind: ResourceKind): string =>
  kind.group === '' ? kind.plural : `${kind.plural}.${kind.group}`;

const AUTHORIZATION = 'authorization.k8s.io';

/** Kinds that are only posted: the answer is computed, nothing is stored. */
export const REVIEWS: readonly ResourceKind[] = [
  define('subjectaccessreviews', 'SubjectAccessReview', { group: AUTHORIZATION, cluster: true }),
  define('selfsubjectaccessreviews', 'SelfSubjectAccessReview', { group: AUTHORIZATION, cluster: true }),
  define('tokenreviews', 'TokenReview', { group: 'authentication.k8s.io', cluster: true }),
];
