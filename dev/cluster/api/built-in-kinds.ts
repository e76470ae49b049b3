import { defineKind, type KindTraits, type ResourceKind } from '../kinds.ts';
import { CORE_EVENT_FIELDS, EVENT_CONVERSION, EVENT_FIELD_PATHS, EVENT_FIELDS } from './events.ts';

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

const RBAC = 'rbac.authorization.k8s.io';
const ALL = { categories: ['all'] } as const;

const inGroup =
  (group: string, version?: string) =>
  (plural: string, kind: string, traits: KindTraits = {}): ResourceKind =>
    defineKind(plural, kind, { group, ...(version === undefined ? {} : { version }), ...traits });

const apps = inGroup('apps');
const networking = inGroup('networking.k8s.io');
const storage = inGroup('storage.k8s.io');
const rbac = inGroup(RBAC);

/** The core group, in the order of its discovery: by name. */
const CORE: readonly ResourceKind[] = [
  defineKind('configmaps', 'ConfigMap', { short: 'cm', managed: true }),
  defineKind('endpoints', 'Endpoints', { short: 'ep', singular: 'endpoints' }),
  defineKind('events', 'Event', { short: 'ev', fields: CORE_EVENT_FIELDS }),
  defineKind('limitranges', 'LimitRange', { short: 'limits' }),
  defineKind('namespaces', 'Namespace', { short: 'ns', cluster: true, status: true, fields: { 'status.phase': '' } }),
  defineKind('nodes', 'Node', { short: 'no', cluster: true, status: true, fields: { 'spec.unschedulable': 'false' } }),
  defineKind('persistentvolumeclaims', 'PersistentVolumeClaim', { short: 'pvc', status: true }),
  defineKind('persistentvolumes', 'PersistentVolume', { short: 'pv', cluster: true, status: true }),
  defineKind('pods', 'Pod', { short: 'po', ...ALL, status: true, fields: POD_FIELDS }),
  defineKind('replicationcontrollers', 'ReplicationController', {
    short: 'rc',
    ...ALL,
    status: true,
    fields: { 'status.replicas': '0' },
  }),
  defineKind('resourcequotas', 'ResourceQuota', { short: 'quota', status: true }),
  defineKind('secrets', 'Secret', { fields: { type: '' } }),
  defineKind('serviceaccounts', 'ServiceAccount', { short: 'sa' }),
  defineKind('services', 'Service', {
    short: 'svc',
    ...ALL,
    status: true,
    fields: { 'spec.clusterIP': '', 'spec.type': '' },
  }),
];

const CRD_TRAITS: KindTraits = { cluster: true, status: true, categories: ['api-extensions'], putNeedsVersion: true };

/**
 * The built-in kinds that are stored, with the groups in the order of discovery: by the priority that each has on a real server. Reviews
 * are not stored: they are answered and forgotten (`reviews.ts`).
 */
export const BUILT_IN: readonly ResourceKind[] = [
  ...CORE,
  defineKind('apiservices', 'APIService', { ...CRD_TRAITS, group: 'apiregistration.k8s.io' }),
  apps('controllerrevisions', 'ControllerRevision'),
  apps('daemonsets', 'DaemonSet', { short: 'ds', ...ALL, status: true }),
  apps('deployments', 'Deployment', { short: 'deploy', ...ALL, status: true }),
  apps('replicasets', 'ReplicaSet', { short: 'rs', ...ALL, status: true, fields: { 'status.replicas': '0' } }),
  apps('statefulsets', 'StatefulSet', { short: 'sts', ...ALL, status: true }),
  defineKind('events', 'Event', {
    group: 'events.k8s.io',
    name: 'events.events.k8s.io',
    storedAs: 'events',
    short: 'ev',
    fields: EVENT_FIELDS,
    fieldPaths: EVENT_FIELD_PATHS,
    conversion: EVENT_CONVERSION,
  }),
  defineKind('horizontalpodautoscalers', 'HorizontalPodAutoscaler', {
    group: 'autoscaling',
    version: 'v2',
    short: 'hpa',
    ...ALL,
    status: true,
  }),
  defineKind('cronjobs', 'CronJob', { group: 'batch', short: 'cj', ...ALL, status: true }),
  defineKind('jobs', 'Job', { group: 'batch', ...ALL, status: true, fields: { 'status.successful': '' } }),
  networking('ingressclasses', 'IngressClass', { cluster: true }),
  networking('ingresses', 'Ingress', { short: 'ing', status: true }),
  networking('networkpolicies', 'NetworkPolicy', { short: 'netpol' }),
  defineKind('poddisruptionbudgets', 'PodDisruptionBudget', { group: 'policy', short: 'pdb', status: true }),
  rbac('clusterrolebindings', 'ClusterRoleBinding', { cluster: true, putCreates: true }),
  rbac('clusterroles', 'ClusterRole', { cluster: true, putCreates: true }),
  rbac('rolebindings', 'RoleBinding', { putCreates: true }),
  rbac('roles', 'Role', { putCreates: true }),
  storage('csidrivers', 'CSIDriver', { cluster: true }),
  storage('storageclasses', 'StorageClass', { short: 'sc', cluster: true }),
  storage('volumeattachments', 'VolumeAttachment', { cluster: true, status: true }),
  defineKind('customresourcedefinitions', 'CustomResourceDefinition', {
    ...CRD_TRAITS,
    group: 'apiextensions.k8s.io',
    short: 'crd crds',
  }),
  defineKind('priorityclasses', 'PriorityClass', { group: 'scheduling.k8s.io', short: 'pc', cluster: true }),
  defineKind('leases', 'Lease', { group: 'coordination.k8s.io', putCreates: true, putNeedsVersion: true }),
  defineKind('endpointslices', 'EndpointSlice', { group: 'discovery.k8s.io' }),
];

const AUTHORIZATION = 'authorization.k8s.io';
const AUTHENTICATION = 'authentication.k8s.io';

/** Kinds that are only posted: the answer is computed, nothing is stored. */
export const REVIEWS: readonly ResourceKind[] = [
  defineKind('selfsubjectreviews', 'SelfSubjectReview', { group: AUTHENTICATION, cluster: true }),
  defineKind('tokenreviews', 'TokenReview', { group: AUTHENTICATION, cluster: true }),
  defineKind('selfsubjectaccessreviews', 'SelfSubjectAccessReview', { group: AUTHORIZATION, cluster: true }),
  defineKind('selfsubjectrulesreviews', 'SelfSubjectRulesReview', { group: AUTHORIZATION, cluster: true }),
  defineKind('subjectaccessreviews', 'SubjectAccessReview', { group: AUTHORIZATION, cluster: true }),
];

/** The custom resources of the platform's accounts. They are served without a definition. */
export const accountKinds = (platform: string): readonly ResourceKind[] => {
  const traits: KindTraits = { group: `iam.${platform}.io`, version: 'v1alpha2', cluster: true, custom: true };
  return [defineKind('users', 'User', { ...traits, status: true }), defineKind('loginrecords', 'LoginRecord', traits)];
};
