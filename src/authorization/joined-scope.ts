import { hash } from 'node:crypto';
import type { PermittedScope } from './permitted-scope.ts';

/** Makes one scope of two. Returns the same object for the same two scopes, as long as the first one was last combined with that second one. */
type CombineScopes = (one: PermittedScope, other: PermittedScope) => PermittedScope;

/** The namespaces of either. */
export const createScopeJoin = (): CombineScopes =>
  remembered((one, other) => scopeOf(new Set([...one.names, ...other.names]), `${one.id} ${other.id}`, one.id.length));

/** The namespaces of both. */
export const createScopeMeet = (): CombineScopes =>
  remembered((one, other) => {
    const names = new Set([...one.names].filter((name) => other.has(name)));
    return names.size === one.names.size ? one : scopeOf(names, `${one.id}&${other.id}`, one.id.length);
  });

function remembered(combine: CombineScopes): CombineScopes {
  const known = new WeakMap<PermittedScope, { readonly other: PermittedScope; readonly made: PermittedScope }>();
  return (one, other) => {
    const before = known.get(one);
    if (before?.other === other) return before.made;
    const made = combine(one, other);
    known.set(one, { other, made });
    return made;
  };
}

function scopeOf(names: ReadonlySet<string>, text: string, length: number): PermittedScope {
  const id = hash('sha256', text, 'hex').slice(0, length);
  return { id, names, has: (namespace) => names.has(namespace) };
}
