import { createScopeMeet } from '../../authorization/joined-scope.ts';
import { createPermittedNamespaces } from '../../authorization/permitted-namespaces.ts';
import type { PermittedScope, PermittedScopes } from '../../authorization/permitted-scope.ts';
import type { Within } from '../../resources/query/within.ts';
import { BoundedMap } from '../../runtime/bounded-map.ts';
import { derived } from '../../runtime/derived.ts';
import type { AnswerHeaders } from '../answer/answer.ts';
import { forbidden } from '../chain/authorize.ts';
import type { Exchange } from '../exchange.ts';
import type { RequestInfo } from '../request-info.ts';

/** The namespaces whose paths were asked for lately. Each takes about 300 bytes. */
const MOST_NAMESPACES = 1_000;

/** Finds out which part of a list a caller may see. */
export interface VisibleParts {
  /** The objects of the namespace in the path, or those of the namespaces where the caller has the right. `undefined`: all. */
  of(exchange: Exchange): Within | undefined | Promise<Within | undefined>;
}

/** The namespaces of a scope, as lists read them. The same object for the same scope. */
export const toWithin = derived(({ id, names }: PermittedScope): Within => ({ id, names }));

/** `alsoReads`: the list of another kind that a request reads besides; only namespaces with the right to both are visible then. */
export function createVisibleParts(
  scopes: PermittedScopes,
  alsoReads: (exchange: Exchange) => RequestInfo | undefined,
): VisibleParts {
  const meet = createScopeMeet();
  const single = new BoundedMap<Within>(MOST_NAMESPACES);
  const one = (namespace: string): Within => {
    const known = single.get(namespace) ?? { names: new Set([namespace]) };
    single.set(namespace, known);
    return known;
  };
  return {
    of(exchange) {
      const { info, identity } = exchange.signedIn;
      if (info.namespace !== '') return one(info.namespace);
      if (exchange.decision?.allowed !== false) return undefined;
      const scopeFor = ({ verb, group, version, resource }: RequestInfo) =>
        scopes.scopeOf(identity, { verb, group, version, resource }, exchange.signal);
      const scope = scopeFor(info);
      const found = (permitted: PermittedScope): Within => seen(exchange, toWithin(permitted));
      const other = alsoReads(exchange);
      if (!other) return scope instanceof Promise ? scope.then(found) : found(scope);
      return Promise.all([scope, scopeFor(other)]).then(([one, two]) => {
        found(one);
        return seen(exchange, toWithin(meet(one, two)), other);
      });
    },
  };
}

/** The namespaces that a caller without the right to all of them may see. `mayBeNone`: who may see none gets an empty list and no refusal. */
export function createVisibleNamespaces(
  scopes: PermittedScopes,
  { mayBeNone }: { readonly mayBeNone: boolean },
): VisibleParts {
  const permitted = createPermittedNamespaces(scopes);
  return {
    of(exchange) {
      if (exchange.decision?.allowed !== false) return undefined;
      const scope = permitted(exchange.signedIn.identity, exchange.signal);
      const found = (one: PermittedScope): Within => (mayBeNone ? toWithin(one) : seen(exchange, toWithin(one)));
      return scope instanceof Promise ? scope.then(found) : found(scope);
    },
  };
}

/** Throws the 403 of a caller who may see nothing at all. */
function seen(exchange: Exchange, within: Within, refused = exchange.signedIn.info): Within {
  const { identity } = exchange.signedIn;
  if (within.names.size === 0) throw forbidden(identity.name, refused);
  return within;
}

/** Says in a header that the answer is the part that the caller may see. */
export function scopeHeaders(platform: string, within: Within | undefined): AnswerHeaders | undefined {
  if (within?.id === undefined) return undefined;
  const name = `${platform.slice(0, 1).toUpperCase()}${platform.slice(1)}-Scope`;
  return { [name]: `permitted; namespaces=${within.names.size}` };
}
