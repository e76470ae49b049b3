import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { SimulatedCluster } from '../../../dev/cluster/cluster.ts';
import type { Identity } from '../../../dev/cluster/identity.ts';
import type { NewObject } from '../../../dev/cluster/kube-object.ts';
import type { PolicyRule } from '../../../dev/cluster/rbac.ts';

const RBAC = 'rbac.authorization.k8s.io';

/** The identity of Gatehouse's own account. */
export const OWN_ACCOUNT: Identity = {
  username: 'system:serviceaccount:default:gatehouse',
  groups: ['system:serviceaccounts', 'system:serviceaccounts:default'],
};
const OWN_USER = { kind: 'User', name: OWN_ACCOUNT.username } as const;
export const OWN_TOKEN = 'own-account-token';

const deployed = (name: string): NewObject =>
  parse(readFileSync(new URL(`../../../deploy/${name}.yaml`, import.meta.url), 'utf8')) as NewObject;

export interface Binding {
  readonly role: string;
  /** A member of `subjects` without its API group: `{kind: 'User', name: 'mia'}`. */
  readonly to: { readonly kind: 'User' | 'Group'; readonly name: string };
  readonly name?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

export const binding = ({ role, to, name = `${to.name}-has-${role}`, labels }: Binding): NewObject => ({
  apiVersion: `${RBAC}/v1`,
  kind: 'ClusterRoleBinding',
  metadata: { name, ...(labels && { labels }) },
  roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: role },
  subjects: [{ apiGroup: RBAC, ...to }],
});

/**
 * The rights of our own account in an installation with accounts, in the namespace `default`, and these additional rules.
 */
export function ownRights(platform: string, more: readonly PolicyRule[] = []): NewObject[] {
  const to = OWN_USER;
  const own = ofPlatform(deployed('accounts/clusterrole'), platform);
  const rules = (own as unknown as { readonly rules: readonly PolicyRule[] }).rules;
  const role = { name: 'gatehouse', namespace: 'default' };
  return [
    { ...own, rules: [...rules, ...more] },
    binding({ role: own.metadata.name, to, name: 'own-account' }),
    { ...ofPlatform(deployed('accounts/role'), platform), metadata: role },
    {
      ...binding({ role: role.name, to }),
      kind: 'RoleBinding',
      metadata: role,
      roleRef: { apiGroup: RBAC, kind: 'Role', name: role.name },
    },
  ];
}

/** The role that lets the gateway impersonate these users and groups, and its binding to our own account. */
export function gatewayRole(
  platform: string,
  names: Readonly<Record<'users' | 'groups', readonly string[]>>,
): NewObject[] {
  const role = ofPlatform(deployed('gateway/gateway-clusterrole'), platform);
  const rules = (role as unknown as { readonly rules: readonly PolicyRule[] }).rules.map((rule) => {
    const [resource] = rule.resources ?? [];
    return resource === 'users' || resource === 'groups' ? { ...rule, resourceNames: names[resource] } : rule;
  });
  return [{ ...role, rules }, binding({ role: role.metadata.name, to: OWN_USER, name: 'own-account-gateway' })];
}

/** Replaces the platform name, because the files are written for the platform `gatehouse`. */
function ofPlatform(object: NewObject, platform: string): NewObject {
  const text = JSON.stringify(object).replaceAll('gatehouse.io', `${platform}.io`);
  return JSON.parse(text.replaceAll('gatehouse-accounts', `${platform}-accounts`)) as NewObject;
}

const actsAs = (resourceNames: readonly string[]): PolicyRule => ({
  apiGroups: [''],
  resources: ['users'],
  resourceNames,
  verbs: ['impersonate'],
});

/**
 * Makes the objects of an installation with accounts: the platform roles, the administrators, and our own account with exactly its
 * rights. Our account may also assign roles in the name of `assigners`.
 */
export function deployRights({ objects, tokens }: SimulatedCluster, assigners: readonly string[]): void {
  tokens.set(OWN_TOKEN, OWN_ACCOUNT);
  for (const name of ['platform-admin', 'platform-regular', 'users-manager', 'administrators'])
    objects.create('clusterroles', deployed(`accounts/${name}-clusterrole`));
  objects.create('clusterrolebindings', deployed('administrators-clusterrolebinding'));
  const more = assigners.length === 0 ? [] : [actsAs(assigners)];
  for (const object of ownRights('gatehouse', more)) objects.create(`${String(object['kind']).toLowerCase()}s`, object);
}
