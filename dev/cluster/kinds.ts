/** One resource of the API: where it is served and how it behaves there. */
export interface ResourceKind {
  /** Plural name as in the path; unique here, so it also names the kind in the store, in faults and in the evidence. */
  readonly plural: string;
  readonly kind: string;
  /** API group; empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly namespaced: boolean;
  /** Whether only the status subresource may change the `status`. */
  readonly hasStatus: boolean;
  /** PUT on an absent object creates it. */
  readonly putCreates: boolean;
  /** PUT on a present object must give its resourceVersion. */
  readonly putNeedsVersion: boolean;
  /**
   * Served by a CustomResourceDefinition. If that has a status subresource, only the subresource changes the status, and it changes
   * nothing else. Otherwise there is no status. `metadata.generation` counts the changes of everything but status and metadata.
   */
  readonly isCustom: boolean;
  /** Has `metadata.managedFields` and server-side apply. On a real server every kind has them, here only the kinds that tests need. */
  readonly isManaged: boolean;
  /**
   * Field selectors besides `metadata.name` and `metadata.namespace`, each with the value that stands for an absent
   * field.
   */
  readonly fields: Readonly<Record<string, string>>;
}

interface Traits {
  readonly group?: string;
  /** Default `v1`. */
  readonly version?: string;
  readonly cluster?: true;
  readonly status?: true;
  readonly putCreates?: true;
  readonly putNeedsVersion?: true;
  readonly custom?: true;
  readonly managed?: true;
  readonly fields?: Readonly<Record<string, string>>;
}

const define = (plural: string, kind: string, traits: Traits = {}): ResourceKind => ({
  plural,
  kind,
  group: traits.group ?? '',
  version: traits.version ?? 'v1',
  namespaced: !traits.cluster,
  hasStatus: traits.status ?? false,
  putCreates: traits.putCreates ?? false,
  putNeedsVersion: traits.putNeedsVersion ?? traits.custom ?? false,
  isCustom: traits.custom ?? false,
  isManaged: traits.managed ?? false,
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

/** The built-in kinds that are stored. Reviews are not stored: they are answered and forgotten (`reviews.ts`). */
const BUILT_IN: readonly ResourceKind[] = [
  define('nodes', 'Node', { cluster: true, status: true, fields: { 'spec.unschedulable': 'false' } }),
  define('pods', 'Pod', { status: true, fields: POD_FIELDS }),
  define('namespaces', 'Namespace', { cluster: true, status: true, fields: { 'status.phase': '' } }),
  define('secrets', 'Secret', { fields: { type: '' } }),
  define('configmaps', 'ConfigMap', { managed: true }),
  define('events', 'Event', { fields: EVENT_FIELDS }),
  define('serviceaccounts', 'ServiceAccount'),
  define('deployments', 'Deployment', { group: 'apps', status: true }),
  define('leases', 'Lease', { group: 'coordination.k8s.io', putCreates: true, putNeedsVersion: true }),
  define('clusterroles', 'ClusterRole', { group: RBAC, cluster: true, putCreates: true }),
  define('clusterrolebindings', 'ClusterRoleBinding', { group: RBAC, cluster: true, putCreates: true }),
  define('roles', 'Role', { group: RBAC, putCreates: true }),
  define('rolebindings', 'RoleBinding', { group: RBAC, putCreates: true }),
];

/** `v1` or `coordination.k8s.io/v1`. */
export const apiVersionOf = (kind: ResourceKind): string =>
  kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;

/** `secrets` or `leases.coordination.k8s.io`, the form in error messages. */
export const qualifiedName = (kind: Pick<ResourceKind, 'group' | 'plural'>): string =>
  kind.group === '' ? kind.plural : `${kind.plural}.${kind.group}`;

const AUTHORIZATION = 'authorization.k8s.io';

/** Kinds that are only posted: the answer is computed, nothing is stored. */
const REVIEWS: readonly ResourceKind[] = [
  define('subjectaccessreviews', 'SubjectAccessReview', { group: AUTHORIZATION, cluster: true }),
  define('selfsubjectaccessreviews', 'SelfSubjectAccessReview', { group: AUTHORIZATION, cluster: true }),
  define('selfsubjectreviews', 'SelfSubjectReview', { group: 'authentication.k8s.io', cluster: true }),
  define('tokenreviews', 'TokenReview', { group: 'authentication.k8s.io', cluster: true }),
];

/** The custom resources of the platform's accounts. */
const accountKinds = (platform: string): readonly ResourceKind[] => {
  const traits: Traits = { group: `iam.${platform}.io`, version: 'v1alpha2', cluster: true, custom: true };
  return [define('users', 'User', { ...traits, status: true }), define('loginrecords', 'LoginRecord', traits)];
};

/** The kinds that a server serves. */
export class ServedKinds {
  readonly stored: readonly ResourceKind[];
  readonly reviews = REVIEWS;
  readonly #byPath: ReadonlyMap<string, ResourceKind>;

  constructor(platform: string) {
    this.stored = [...BUILT_IN, ...accountKinds(platform)];
    this.#byPath = new Map(this.#all.map((kind) => [`${kind.group}/${kind.version}/${kind.plural}`, kind] as const));
  }

  /** Finds a kind by group, version and plural: `/v1/pods`, `coordination.k8s.io/v1/leases`. */
  at(path: string): ResourceKind | undefined {
    return this.#byPath.get(path);
  }

  /** The API groups without the core group, each with its only version. */
  get groups(): ReadonlyMap<string, string> {
    return new Map(
      this.#all.filter(({ group }) => group !== '').map(({ group, version }) => [group, version] as const),
    );
  }

  get #all(): readonly ResourceKind[] {
    return [...this.stored, ...this.reviews];
  }
}
