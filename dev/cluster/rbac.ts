import type { Identity } from './identity.ts';
import type { KubeObject } from './kube-object.ts';
import type { ObjectStore } from './object-store.ts';

/** The requested action, as in the spec of a SubjectAccessReview. */
export interface ResourceAttributes {
  readonly verb?: string;
  readonly group?: string;
  readonly version?: string;
  readonly resource?: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
}

interface NonResourceAttributes {
  readonly path?: string;
  readonly verb?: string;
}

/** `spec` of a SubjectAccessReview. */
export interface SubjectAccessReviewSpec {
  readonly user?: string;
  readonly groups?: readonly string[];
  readonly uid?: string;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
  readonly resourceAttributes?: ResourceAttributes;
  readonly nonResourceAttributes?: NonResourceAttributes;
}

export interface PolicyRule {
  readonly verbs?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

interface Binding {
  readonly name: string;
  readonly kind: string;
  readonly roleRef: { readonly kind: string; readonly name: string };
  readonly subject: string;
  readonly rules: readonly PolicyRule[];
}

export interface Decision {
  readonly allowed: boolean;
  readonly reason?: string;
}

/** A rule that a real server binds to a group at its start, by a role and a binding of this name. */
interface BuiltinRule extends PolicyRule {
  readonly name: string;
}

const PUBLIC_INFO: BuiltinRule = {
  name: 'system:public-info-viewer',
  verbs: ['get'],
  nonResourceURLs: ['/healthz', '/livez', '/livez/*', '/readyz', '/readyz/*', '/version', '/version/'],
};
const DISCOVERY: BuiltinRule = {
  name: 'system:discovery',
  verbs: ['get'],
  nonResourceURLs: ['/api', '/api/*', '/apis', '/apis/*', '/openapi', '/openapi/*'],
};
const ISSUER_DISCOVERY: BuiltinRule = {
  name: 'system:service-account-issuer-discovery',
  verbs: ['get'],
  nonResourceURLs: ['/openid/v1/jwks', '/openid/v1/jwks/'],
};
const SELF_REVIEW: BuiltinRule = {
  name: 'system:basic-user',
  verbs: ['create'],
  apiGroups: ['authorization.k8s.io'],
  resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
};
const WHO_AM_I: BuiltinRule = {
  name: 'system:basic-user',
  verbs: ['create'],
  apiGroups: ['authentication.k8s.io'],
  resources: ['selfsubjectreviews'],
};

/** RBAC over the role and binding objects in the store, without aggregation. `system:masters` may do everything. */
export function decide(store: ObjectStore, spec: SubjectAccessReviewSpec): Decision {
  const identity = { username: spec.user ?? '', groups: spec.groups ?? [] };
  if (identity.groups.includes('system:masters')) return { allowed: true };
  const builtin = BUILTIN.find(
    ({ group, rules }) => identity.groups.includes(group) && rules.some((rule) => ruleAllows(rule, spec)),
  );
  if (builtin) return { allowed: true, reason: builtinReason(builtin, spec) };
  for (const binding of bindingsOf(store, identity, spec.resourceAttributes?.namespace ?? '')) {
    if (!binding.rules.some((rule) => ruleAllows(rule, spec))) continue;
    const { kind, name, roleRef, subject } = binding;
    return {
      allowed: true,
      reason: `RBAC: allowed by ${kind} "${name}" of ${roleRef.kind} "${roleRef.name}" to ${subject}`,
    };
  }
  return { allowed: false };
}

/** All rules that a user has, in the whole cluster and in one namespace. */
export const rulesOf = (store: ObjectStore, identity: Identity, namespace: string): readonly PolicyRule[] => [
  ...builtinRules(identity),
  ...[...bindingsOf(store, identity, namespace)].flatMap(({ rules }) => rules),
];

/** The rules that a real server grants to groups. Every caller is in one of these groups; the subject of a review need not be. */
const BUILTIN: readonly { readonly group: string; readonly rules: readonly BuiltinRule[] }[] = [
  { group: 'system:authenticated', rules: [PUBLIC_INFO, DISCOVERY, SELF_REVIEW, WHO_AM_I] },
  { group: 'system:unauthenticated', rules: [PUBLIC_INFO] },
  { group: 'system:serviceaccounts', rules: [ISSUER_DISCOVERY] },
];

const builtinRules = ({ groups }: Identity): readonly PolicyRule[] =>
  BUILTIN.filter(({ group }) => groups.includes(group)).flatMap(({ rules }) => rules);

function builtinReason({ group, rules }: (typeof BUILTIN)[number], spec: SubjectAccessReviewSpec): string {
  const name = rules.find((rule) => ruleAllows(rule, spec))?.name ?? '';
  return `RBAC: allowed by ClusterRoleBinding "${name}" of ClusterRole "${name}" to Group "${group}"`;
}

function* bindingsOf(store: ObjectStore, identity: Identity, namespace: string): Generator<Binding> {
  for (const object of store.list('clusterrolebindings')) yield* bound(store, object, identity);
  if (namespace === '') return;
  for (const object of store.list('rolebindings'))
    if (object.metadata.namespace === namespace) yield* bound(store, object, identity);
}

function* bound(store: ObjectStore, binding: KubeObject, identity: Identity): Generator<Binding> {
  const { namespace, name } = binding.metadata;
  const roleRef = binding['roleRef'] as Binding['roleRef'];
  const subjects = (binding['subjects'] ?? []) as readonly Subject[];
  const subject = subjects.find((candidate) => isSubject(candidate, identity));
  if (!subject) return;
  const role =
    roleRef.kind === 'ClusterRole'
      ? store.get('clusterroles', roleRef.name)
      : store.get('roles', `${namespace}/${roleRef.name}`);
  const kind = namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding';
  const rules = (role?.['rules'] ?? []) as readonly PolicyRule[];
  const where = namespace === undefined ? name : `${name}/${namespace}`;
  yield { name: where, kind, roleRef, subject: `${subject.kind} "${nameOf(subject)}"`, rules };
}

interface Subject {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

const nameOf = ({ kind, name, namespace }: Subject): string =>
  kind === 'ServiceAccount' ? `${name}/${namespace}` : name;

function isSubject({ kind, name, namespace }: Subject, { username, groups }: Identity): boolean {
  if (kind === 'Group') return groups.includes(name);
  return username === (kind === 'ServiceAccount' ? `system:serviceaccount:${namespace}:${name}` : name);
}

function ruleAllows(rule: PolicyRule, { resourceAttributes, nonResourceAttributes }: SubjectAccessReviewSpec): boolean {
  if (resourceAttributes) return allowsResource(rule, resourceAttributes);
  const { verb = '', path = '' } = nonResourceAttributes ?? {};
  return includes(rule.verbs, verb) && (rule.nonResourceURLs ?? []).some((url) => matchesPath(url, path));
}

function allowsResource(rule: PolicyRule, wanted: ResourceAttributes): boolean {
  const { verb = '', group = '', resource = '', subresource = '', name = '' } = wanted;
  const full = subresource === '' ? resource : `${resource}/${subresource}`;
  const resources = rule.resources ?? [];
  return (
    includes(rule.verbs, verb) &&
    includes(rule.apiGroups, group) &&
    (includes(resources, full) || (subresource !== '' && resources.includes(`*/${subresource}`))) &&
    (rule.resourceNames === undefined || rule.resourceNames.length === 0 || rule.resourceNames.includes(name))
  );
}

const includes = (words: readonly string[] | undefined, wanted: string): boolean =>
  words !== undefined && (words.includes('*') || words.includes(wanted));

export const matchesPath = (url: string, path: string): boolean =>
  url === path || (url.endsWith('*') && path.startsWith(url.slice(0, -1)));
