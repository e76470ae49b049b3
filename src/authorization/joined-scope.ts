import { hash } from 'node:crypto';
import type { PermittedScope } from './permitted-scope.ts';

/**
 * Joins scopes: the namespaces of both. Returns the same object for the same two scopes, as long as the first one was last joined with that
 * second one.
 */
export function createScopeJoin(): (one: PermittedScope, other: PermittedScope) => PermittedScope {
  const known = new WeakMap<PermittedScope, { readonly other: PermittedScope; readonly joined: PermittedScope }>();
  return (one, other) => {
    const before = known.get(one);
    if (before?.other === other) return before.joined;
    const names = new Set([...one.names, ...other.names]);
    const id = hash('sha256', `${one.id} ${other.id}`, 'hex').slice(0, one.id.length);
    const joined = { id, names, has: (namespace: string) => names.has(namespace) };
    known.set(one, { other, joined });
    return joined;
  };
}
