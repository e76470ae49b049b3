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
 * Who has refused: the cluster itself, Gatehouse by asking the cluster about a right, or Gatehouse by a rule of its own, of which RBAC knows
 * nothing. The cluster refuses what is passed on to it: its own paths, and the logs of a workload.
 */
export function refuserOf(path: string, denied: Denied | undefined): 'cluster' | 'review' | 'gatehouse' {
  if (denied === undefined) return 'gatehouse';
  return /^\/apis?\/|^[^?]*\/log(?:\?|$)/.test(path) ? 'cluster' : 'review';
}

/** A name that a role for this right may have. */
const roleName = ({ verb, resource }: Denied): string => `${verb}-${resource.replaceAll(/[^\w.-]/g, '-')}`;

/** The commands of kubectl by which an administrator gives the right. Each word of them is one to the shell too. */
export function commandsToAllow(denied: Denied): string {
  const { user, verb, resource, group, namespace, name } = denied;
  const role = roleName(denied);
  const [plural, subresource] = resource.split('/');
  const what = `${plural}${group === '' ? '' : `.${group}`}${subresource === undefined ? '' : `/${subresource}`}`;
  const kind = namespace === '' ? 'clusterrole' : 'role';
  const place = namespace === '' ? '' : ` --namespace=${shellWord(namespace)}`;
  const one = name === '' ? '' : ` --resource-name=${shellWord(name)}`;
  return [
    `kubectl create ${kind} ${role} --verb=${shellWord(verb)} --resource=${shellWord(what)}${one}${place}`,
    `kubectl create ${kind}binding ${shellWord(`${role}-${user}`.replaceAll(/[^\w.-]/g, '-'))} --${kind}=${role} --user=${shellWord(user)}${place}`,
  ].join('\n');
}
