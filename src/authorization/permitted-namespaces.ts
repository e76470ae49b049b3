import type { Subject } from './authorizer.ts';
import { createScopeJoin } from './joined-scope.ts';
import type { NamespacedRight, PermittedScope, PermittedScopes } from './permitted-scope.ts';

/** Works out which namespaces a caller without the right to all of them may see. Rejects as `PermittedScopes` does. */
export type PermittedNamespaces = (subject: Subject, signal: AbortSignal) => PermittedScope | Promise<PermittedScope>;

const CORE = { group: '', version: 'v1' };
const GET_NAMESPACE: NamespacedRight = { ...CORE, verb: 'get', resource: 'namespaces' };
const LIST_PODS: NamespacedRight = { ...CORE, verb: 'list', resource: 'pods' };

/** They are those that the caller may get, or in which the caller may list pods (KD-11, KD-33). */
export function createPermittedNamespaces(scopes: PermittedScopes): PermittedNamespaces {
  const join = createScopeJoin();
  return (subject, signal) => {
    const gettable = scopes.scopeOf(subject, GET_NAMESPACE, signal);
    const withPods = scopes.scopeOf(subject, LIST_PODS, signal);
    if (!(gettable instanceof Promise) && !(withPods instanceof Promise)) return join(gettable, withPods);
    return Promise.all([gettable, withPods]).then(([one, other]) => join(one, other));
  };
}
