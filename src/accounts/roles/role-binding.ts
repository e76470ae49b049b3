import type { KubernetesObject } from '../../kubernetes/object.ts';
import type { NewObject, ObjectCollection } from '../../kubernetes/objects/cluster-objects.ts';
import { asArray, asObject } from '../../runtime/text/json-value.ts';
import { type AccountNames, userRef } from '../names.ts';

const RBAC = 'rbac.authorization.k8s.io';

export const CLUSTER_ROLE_BINDINGS: ObjectCollection = {
  group: RBAC,
  version: 'v1',
  resource: 'clusterrolebindings',
  kind: 'ClusterRoleBinding',
};

/** The RoleBindings of all namespaces. */
export const ROLE_BINDINGS: ObjectCollection = {
  group: RBAC,
  version: 'v1',
  resource: 'rolebindings',
  kind: 'RoleBinding',
};

/** The name of the ClusterRoleBinding that gives the user this platform role. */
export const bindingName = (user: string, role: string): string => `${user}-${role}`;

/** The ClusterRoleBinding that gives the user this platform role. */
export const toBinding = (user: string, role: string, names: AccountNames): NewObject => ({
  apiVersion: `${RBAC}/v1`,
  kind: 'ClusterRoleBinding',
  metadata: { name: bindingName(user, role), labels: { [names.userRef]: userRef(user) } },
  subjects: [{ apiGroup: RBAC, kind: 'User', name: user }],
  roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: role },
});

/** The user who is the only subject of the binding; `undefined` for any other binding. */
export function boundUser(binding: KubernetesObject): string | undefined {
  const subjects = asArray(binding['subjects']);
  const { kind, name } = asObject(subjects[0]);
  return subjects.length === 1 && kind === 'User' && typeof name === 'string' ? name : undefined;
}

/** Whether the user is among the binding's subjects. */
export const namesUser = (binding: KubernetesObject, user: string): boolean =>
  asArray(binding['subjects'])
    .map(asObject)
    .some(({ kind, name }) => kind === 'User' && name === user);

/** The ClusterRole that a binding gives. */
export function boundRole(binding: KubernetesObject): string | undefined {
  const { kind, name } = asObject(binding['roleRef']);
  return kind === 'ClusterRole' && typeof name === 'string' ? name : undefined;
}
