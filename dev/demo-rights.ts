import { parseYaml } from '../src/config/load.ts';
import type { NewObject } from './cluster/kube-object.ts';

/** Files of `deploy/`, each with the plural of its kind. */
const RIGHTS = [
  ['clusterroles', 'accounts/administrators-clusterrole'],
  ['clusterrolebindings', 'administrators-clusterrolebinding'],
  ['clusterroles', 'accounts/platform-admin-clusterrole'],
  ['clusterroles', 'accounts/platform-regular-clusterrole'],
  ['clusterroles', 'accounts/users-manager-clusterrole'],
  ['clusterroles', 'logging/log-reader-clusterrole'],
] as const;

/** The roles and bindings for people in an installation with accounts and log queries, each with the plural of its kind. */
export function installedRights(
  platform: string,
  readPackageFile: (name: string) => string,
): readonly (readonly [string, NewObject])[] {
  return RIGHTS.map(([plural, name]) => {
    const file = `deploy/${name}.yaml`;
    const yaml = parseYaml(readPackageFile(file).replace(/\bgatehouse(?=\.io\b|-admins$)/gm, platform));
    if ('fault' in yaml) throw new Error(`${file}: ${yaml.fault}`);
    return [plural, yaml.content as NewObject];
  });
}

const RBAC = 'rbac.authorization.k8s.io';
const POD_LOGS = 'pod-logs';

type Right = readonly [plural: string, object: NewObject];

/** The kinds of a namespace that the role `view` of a cluster may read. Secrets are not among them. */
const VIEWED: Readonly<Record<string, readonly string[]>> = {
  '': [
    ...[
      'configmaps',
      'endpoints',
      'events',
      'limitranges',
      'namespaces',
      'persistentvolumeclaims',
      'pods',
      'pods/log',
      'pods/status',
    ],
    ...['replicationcontrollers', 'resourcequotas', 'serviceaccounts', 'services'],
  ],
  apps: ['controllerrevisions', 'daemonsets', 'deployments', 'replicasets', 'statefulsets'],
  autoscaling: ['horizontalpodautoscalers'],
  batch: ['cronjobs', 'jobs'],
  'cert-manager.io': ['certificates'],
  'discovery.k8s.io': ['endpointslices'],
  'events.k8s.io': ['events'],
  'networking.k8s.io': ['ingresses', 'networkpolicies'],
  policy: ['poddisruptionbudgets'],
};

/** The role `view`, which a real cluster has from its start. */
export const VIEWER: Right = [
  'clusterroles',
  {
    metadata: { name: 'view' },
    rules: [
      ...Object.entries(VIEWED).map(([group, resources]) => ({
        apiGroups: [group],
        resources,
        verbs: ['get', 'list', 'watch'],
      })),
    ],
  },
];

/** Lets a user read what is in these namespaces. */
export const viewing = (user: string, namespaces: readonly string[]): readonly Right[] =>
  namespaces.map((namespace) => [
    'rolebindings',
    {
      metadata: { name: `${user}-view`, namespace },
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'view' },
      subjects: [{ apiGroup: RBAC, kind: 'User', name: user }],
    },
  ]);

/** The rights to read logs: administrators may read all, other signed-in users those of the namespace `shop`. */
export function logRights(platform: string): readonly (readonly [string, NewObject])[] {
  const rules = [{ apiGroups: [''], resources: ['pods/log'], verbs: ['get'] }];
  const roleRef = (name: string) => ({ apiGroup: RBAC, kind: 'ClusterRole', name });
  const group = (name: string) => [{ apiGroup: RBAC, kind: 'Group', name }];
  const [admins, everybody] = [group(`${platform}-admins`), group('system:authenticated')];
  const readers = { metadata: { name: 'log-readers' }, roleRef: roleRef('gatehouse-system:gatehouse:log-reader') };
  const inShop = { metadata: { name: POD_LOGS, namespace: 'shop' }, roleRef: roleRef(POD_LOGS) };
  return [
    ['clusterroles', { metadata: { name: POD_LOGS }, rules }],
    ['clusterrolebindings', { metadata: { name: POD_LOGS }, roleRef: roleRef(POD_LOGS), subjects: admins }],
    ['clusterrolebindings', { metadata: { name: 'admins-view' }, roleRef: roleRef('view'), subjects: admins }],
    ['clusterrolebindings', { ...readers, subjects: everybody }],
    ['rolebindings', { ...inShop, subjects: everybody }],
  ];
}

/** The right to search events: all signed-in users have it. They find those of the namespaces in which they may list events. */
export function eventRights(platform: string): readonly Right[] {
  const name = 'event-readers';
  const rules = [{ apiGroups: [`tenant.${platform}.io`], resources: ['events'], verbs: ['list'] }];
  const roleRef = { apiGroup: RBAC, kind: 'ClusterRole', name };
  const subjects = [{ apiGroup: RBAC, kind: 'Group', name: 'system:authenticated' }];
  return [
    ['clusterroles', { metadata: { name }, rules }],
    ['clusterrolebindings', { metadata: { name }, roleRef, subjects }],
  ];
}

/** The right to read the definitions of custom resources: administrators have it. The role `view` does not have it. */
export function definitionRights(platform: string): readonly Right[] {
  const name = 'definition-readers';
  const rules = [
    { apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'], verbs: ['get', 'list', 'watch'] },
  ];
  const roleRef = { apiGroup: RBAC, kind: 'ClusterRole', name };
  const subjects = [{ apiGroup: RBAC, kind: 'Group', name: `${platform}-admins` }];
  return [
    ['clusterroles', { metadata: { name }, rules }],
    ['clusterrolebindings', { metadata: { name }, roleRef, subjects }],
  ];
}
