/**
 * The kinds that KubeSphere 3.4 lists by their plural, except those of the core group, and cronjobs and horizontalpodautoscalers, which
 * its console lists from another API:
 * https://github.com/kubesphere/kubesphere/blob/release-3.4/pkg/models/resources/v1alpha3/resource/resource.go
 */
const PLURALS: Readonly<Record<string, readonly string[]>> = {
  apps: ['deployments', 'daemonsets', 'statefulsets'],
  batch: ['jobs', 'cronjobs'],
  autoscaling: ['horizontalpodautoscalers'],
  'networking.k8s.io': ['ingresses', 'networkpolicies'],
  'rbac.authorization.k8s.io': ['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings'],
  'apiextensions.k8s.io': ['customresourcedefinitions'],
  'snapshot.storage.k8s.io': ['volumesnapshots', 'volumesnapshotclasses', 'volumesnapshotcontents'],
  'app.k8s.io': ['applications'],
  'types.kubefed.io': [
    'federatednamespaces',
    'federateddeployments',
    'federatedsecrets',
    'federatedconfigmaps',
    'federatedservices',
    'federatedapplications',
    'federatedpersistentvolumeclaims',
    'federatedstatefulsets',
    'federatedingresses',
  ],
};

/** Those in the groups of the platform itself: `tenant` is `tenant.<platform>.io`. */
const PLATFORM_PLURALS: Readonly<Record<string, readonly string[]>> = {
  tenant: ['workspaces', 'workspacetemplates'],
  iam: [
    'users',
    'loginrecords',
    'groups',
    'groupbindings',
    'globalroles',
    'globalrolebindings',
    'workspaceroles',
    'workspacerolebindings',
  ],
  cluster: ['clusters'],
  network: ['ippools'],
  devops: ['devopsprojects'],
  notification: ['notificationmanagers', 'configs', 'receivers', 'routers', 'silences'],
  monitoring: ['clusterdashboards', 'dashboards'],
};

/**
 * The group that each of these plurals means if the cluster has it there (KD-02). The core group needs no entry, because a bare plural
 * means it next.
 */
export function groupsOfPlurals(platform: string): ReadonlyMap<string, string> {
  const own = Object.entries(PLATFORM_PLURALS).map(([name, plurals]) => [`${name}.${platform}.io`, plurals] as const);
  return new Map(
    [...Object.entries(PLURALS), ...own].flatMap(([group, plurals]) =>
      plurals.map((plural) => [plural, group] as const),
    ),
  );
}
