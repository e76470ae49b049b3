import { isDeepStrictEqual } from 'node:util';
import { refused } from './authorize.ts';
import type { Identity } from './identity.ts';
import { isRecord, type KubeObject, type NewObject } from './kube-object.ts';
import type { ObjectStore } from './object-store.ts';
import { decide, matchesPath, type PolicyRule, rulesOf } from './rbac.ts';
import type { ResourceTarget } from './request.ts';
import { notFound } from './status.ts';

export interface RbacWrite {
  readonly target: ResourceTarget;
  readonly caller: Identity;
  /** The object as it will be stored. */
  readonly wanted: NewObject;
  readonly stored?: KubeObject | undefined;
}

const RBAC = 'rbac.authorization.k8s.io';

/**
 * The API server's rule against escalation: a caller may grant only rights that the caller has. A binding needs all rights of its role,
 * or `bind` on the role. A role needs all rights that it grants, or `escalate` on the role. Throws a 403 otherwise.
 */
export function confirmNoEscalation(store: ObjectStore, write: RbacWrite): void {
  const { kind } = write.target;
  if (kind.group !== RBAC || write.caller.groups.includes('system:masters') || isKept(write)) return;
  if (kind.plural.endsWith('bindings')) confirmBinding(store, write);
  else confirmRole(store, write);
}

/** Whether an update changes only finalizers or owner references, which grants nothing. */
function isKept({ stored, wanted }: RbacWrite): boolean {
  const essence = ({ metadata, kind: _kind, apiVersion: _version, ...content }: NewObject): object => {
    const { finalizers: _finalizers, ownerReferences: _owners, ...rest } = metadata;
    return { ...content, metadata: rest };
  };
  return stored !== undefined && isDeepStrictEqual(essence(stored), essence({ ...stored, ...wanted }));
}

function confirmBinding(store: ObjectStore, write: RbacWrite): void {
  const { namespace } = write.target;
  const roleRef = isRecord(write.wanted['roleRef']) ? write.wanted['roleRef'] : {};
  const name = String(roleRef['name'] ?? '');
  const resource = roleRef['kind'] === 'Role' ? 'roles' : 'clusterroles';
  if (mayEscalate(store, write, { verb: 'bind', resource, name })) return;
  const role = store.get(resource, resource === 'roles' ? `${namespace}/${name}` : name);
  if (!role) throw notFound(write.target.kind, name); // a real server names the binding's kind, too
  confirmHeld(store, write, (role['rules'] ?? []) as readonly PolicyRule[]);
}

function confirmRole(store: ObjectStore, write: RbacWrite): void {
  const { kind, name } = write.target;
  if (mayEscalate(store, write, { verb: 'escalate', resource: kind.plural, name })) return;
  confirmHeld(store, write, (write.wanted['rules'] ?? []) as readonly PolicyRule[]);
}

function mayEscalate(
  store: ObjectStore,
  { caller, target }: RbacWrite,
  attributes: { verb: string; resource: string; name: string },
): boolean {
  const resourceAttributes = { ...attributes, group: RBAC, namespace: target.namespace };
  return decide(store, { user: caller.username, groups: caller.groups, resourceAttributes }).allowed;
}

function confirmHeld(store: ObjectStore, { caller, target, wanted }: RbacWrite, rules: readonly PolicyRule[]): void {
  const held = rulesOf(store, caller, target.namespace);
  const missing = rules.flatMap(brokenDown).filter((rule) => !held.some((owned) => covers(owned, rule)));
  if (missing.length === 0) return;
  const { username, groups } = caller;
  const rights = [...new Set(compacted(missing).map(ruleText))].sort().join('\n');
  const why = `user ${JSON.stringify(username)} (groups=${quoted(groups)}) is attempting to grant RBAC permissions not currently held:\n${rights}`;
  throw refused(target.kind, wanted.metadata.name, why);
}

/** Splits a rule into rules that each have one verb and one resource, one object name or one path. */
function brokenDown(rule: PolicyRule): readonly PolicyRule[] {
  const { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const names = resourceNames.length === 0 ? [{}] : resourceNames.map((name) => ({ resourceNames: [name] }));
  const ofResources = apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      verbs.flatMap((verb) =>
        names.map((named) => ({ apiGroups: [group], resources: [resource], ...named, verbs: [verb] })),
      ),
    ),
  );
  const ofPaths = nonResourceURLs.flatMap((url) => verbs.map((verb) => ({ nonResourceURLs: [url], verbs: [verb] })));
  return [...ofResources, ...ofPaths];
}

/** Whether the rule `held` grants all rights of `wanted`. */
function covers(held: PolicyRule, wanted: PolicyRule): boolean {
  const names = held.resourceNames ?? [];
  return (
    includesAll(held.verbs, wanted.verbs) &&
    includesAll(held.apiGroups, wanted.apiGroups) &&
    (wanted.resources ?? []).every((resource) => coversResource(held.resources ?? [], resource)) &&
    (wanted.nonResourceURLs ?? []).every((path) =>
      (held.nonResourceURLs ?? []).some((url) => matchesPath(url, path)),
    ) &&
    (names.length === 0 || (wanted.resourceNames !== undefined && includesAll(names, wanted.resourceNames)))
  );
}

const includesAll = (held: readonly string[] = [], wanted: readonly string[] = []): boolean =>
  held.includes('*') || wanted.every((word) => held.includes(word));

function coversResource(held: readonly string[], wanted: string): boolean {
  const subresource = wanted.split('/')[1];
  return (
    held.includes('*') || held.includes(wanted) || (subresource !== undefined && held.includes(`*/${subresource}`))
  );
}

/** Joins the verbs of rules that are otherwise equal; rules about paths stay as they are. */
function compacted(rules: readonly PolicyRule[]): readonly PolicyRule[] {
  const [paths, resources] = [rules.filter((rule) => rule.nonResourceURLs), rules.filter((rule) => rule.resources)];
  const alike = Map.groupBy(resources, ({ verbs: _, ...rest }) => JSON.stringify(rest));
  const joined = [...alike.values()].map((some) => ({ ...some[0], verbs: some.flatMap(({ verbs = [] }) => verbs) }));
  return [...paths, ...joined];
}

/** The rule as Go prints it. */
function ruleText({ apiGroups, resources, nonResourceURLs, resourceNames, verbs }: PolicyRule): string {
  const parts = Object.entries({
    APIGroups: apiGroups,
    Resources: resources,
    NonResourceURLs: nonResourceURLs,
    ResourceNames: resourceNames,
    Verbs: verbs,
  });
  return `{${parts.flatMap(([name, words]) => (words ? [`${name}:${quoted(words)}`] : [])).join(', ')}}`;
}

const quoted = (words: readonly string[]): string => `[${words.map((word) => JSON.stringify(word)).join(' ')}]`;
