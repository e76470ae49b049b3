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
    ['clusterrolebindings', { ...readers, subjects: everybody }],
    ['rolebindings', { ...inShop, subjects: everybody }],
  ];
}
