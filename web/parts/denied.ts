import type { Refusal } from '../api/refusal.ts';
import { shellWord } from './shell-word.ts';

/** What a 403 says about the right that is missing, in the words of Kubernetes' RBAC. */
export interface Denied {
  readonly user: string;
  readonly verb: string;
  /** With the subresource: `pods/log`. */
  readonly resource: string;
  readonly group: string;
  /** Empty: the whole cluster. */
  readonly namespace: string;
  /** One object, if the right was asked for it alone. */
  readonly name: string;
}

/** The sentence of Kubernetes' API server, which Gatehouse uses too. Names that RBAC does not know are not read: no command is made of them. */
const SENTENCE =
  /^\S+(?: "(?<name>[^"]*)")? is forbidden: User "(?<user>[^"]*)" cannot (?<verb>[a-z]+) resource "(?<resource>[a-z0-9*./-]+)" in API group "(?<group>[a-z0-9*.-]*)"(?: in the namespace "(?<namespace>[a-z0-9.-]*)"| at the cluster scope)/;

/** The part of the sentence that says who. With two of them, somebody else has put a sentence into the name of what was asked for. */
const WHO = ' is forbidden: User "';

/** Reads the right that is missing from a refusal; `undefined` if it is not about a right on a resource, or not beyond doubt. */
export function deniedBy({ status, message }: Pick<Refusal, 'status' | 'message'>): Denied | undefined {
  const isClear = status === 403 && message.split(WHO).length === 2;
  const found = isClear ? SENTENCE.exec(message)?.groups : undefined;
  if (!found) return undefined;
  const { user = '', verb = '', resource = '', group = '', namespace = '', name = '' } = found;
  return { user, verb, resource, group, namespace, name };
}

/**
 * Says who has refused. `cluster`: the API server, to which its own paths and the logs of a workload are passed on. `review`: Gatehouse, because
 * of the cluster's answer about a right. `gatehouse`: Gatehouse by a setting of its own, which no RBAC rule changes.
 */
export function refuserOf(path: string, denied: Denied | undefined): 'cluster' | 'review' | 'gatehouse' {
  if (denied === undefined) return 'gatehouse';
  return /^\/apis?\/|^[^?]*\/log(?:\?|$)/.test(path) ? 'cluster' : 'review';
}

/** A name that a role for this right may have, and that no role for another right has: the nodes of two groups, the logs of two pods. */
const roleName = ({ verb, resource, group, name }: Denied): string =>
  [verb, group === '' ? resource : `${resource}.${group}`, ...(name === '' ? [] : [name])]
    .join('-')
    .replaceAll(/[^\w.-]/g, '-');

/**
 * The commands of kubectl by which an administrator gives the right. Each word of them is one to the shell too. kubectl makes no role by its own
 * words for a kind that the cluster does not serve, as those of the platform are: the role is then written out.
 */
export function commandsToAllow(denied: Denied, platform: string): string {
  const { user, group, namespace } = denied;
  const role = roleName(denied);
  const kind = namespace === '' ? 'clusterrole' : 'role';
  const place = namespace === '' ? '' : ` --namespace=${shellWord(namespace)}`;
  const binding = shellWord(`${role}-${user}`.replaceAll(/[^\w.-]/g, '-'));
  return [
    group.endsWith(`.${platform}.io`)
      ? `kubectl create${place} -f - <<'EOF'\n${manifestOf(denied)}\nEOF`
      : `kubectl create ${kind} ${role} ${rightOf(denied)}${place}`,
    `kubectl create ${kind}binding ${binding} --${kind}=${role} --user=${shellWord(user)}${place}`,
  ].join('\n');
}

/** The right in the words of `kubectl create role`. */
function rightOf({ verb, resource, group, name }: Denied): string {
  const [plural, subresource] = resource.split('/');
  const what = `${plural}${group === '' ? '' : `.${group}`}${subresource === undefined ? '' : `/${subresource}`}`;
  const one = name === '' ? '' : ` --resource-name=${shellWord(name)}`;
  return `--verb=${shellWord(verb)} --resource=${shellWord(what)}${one}`;
}

/** The role as YAML. A text from outside is written as JSON, on one line, so that no line of it can end the document of the shell. */
function manifestOf(denied: Denied): string {
  const { verb, resource, group, namespace, name } = denied;
  const list = (value: string): string => `[${JSON.stringify(value)}]`;
  return [
    'apiVersion: rbac.authorization.k8s.io/v1',
    `kind: ${namespace === '' ? 'ClusterRole' : 'Role'}`,
    `metadata: {name: ${roleName(denied)}}`,
    'rules:',
    `- apiGroups: ${list(group)}`,
    `  resources: ${list(resource)}`,
    ...(name === '' ? [] : [`  resourceNames: ${list(name)}`]),
    `  verbs: ${list(verb)}`,
  ].join('\n');
}
