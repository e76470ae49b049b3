import type { NewObject } from '../../../dev/cluster/kube-object.ts';
import { ADMINS_BINDING, ADMINS_ROLE, type Person } from '../observed/people.ts';

/** Nina may read the logs of team-a. Olga may send queries, but may read no logs. */
export const LOG_PEOPLE: readonly Person[] = ['nina', 'olga'].map((name) => ({
  name,
  password: `${name}-Passw0rd`,
  groups: [],
  state: 'Active',
}));

const RBAC = 'rbac.authorization.k8s.io';
const API = { apiVersion: `${RBAC}/v1` };

/** The namespaces and rights of the recorded cases about logs, and the rights of the administrators. */
export function logCluster(platform: string): readonly NewObject[] {
  const namespaces = ['shop', 'shop-staging', 'billing', 'team-a'].map((name) => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name },
  }));
  const mayAsk = { apiGroups: [`tenant.${platform}.io`], resources: ['logs'], verbs: ['list'] };
  const podLogs = { apiGroups: [''], resources: ['pods/log'], verbs: ['get'] };
  return [
    ADMINS_ROLE,
    ADMINS_BINDING,
    ...namespaces,
    { ...API, kind: 'ClusterRole', metadata: { name: 'log-query' }, rules: [mayAsk] },
    ...LOG_PEOPLE.map(({ name }) => ({
      ...API,
      kind: 'ClusterRoleBinding',
      metadata: { name: `log-query-${name}` },
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'log-query' },
      subjects: [{ apiGroup: RBAC, kind: 'User', name }],
    })),
    { ...API, kind: 'Role', metadata: { name: 'pod-logs', namespace: 'team-a' }, rules: [podLogs] },
    {
      ...API,
      kind: 'RoleBinding',
      metadata: { name: 'pod-logs-nina', namespace: 'team-a' },
      roleRef: { apiGroup: RBAC, kind: 'Role', name: 'pod-logs' },
      subjects: [{ apiGroup: RBAC, kind: 'User', name: 'nina' }],
    },
  ] as readonly NewObject[];
}
