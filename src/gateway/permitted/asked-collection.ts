import type { Subject } from '../../authorization/authorizer.ts';
import type { GatewayCall } from '../gateway.ts';
import type { WholeCollection } from './own-reads.ts';

/** A list or watch of a collection over the whole cluster. */
export interface AskedCollection extends WholeCollection {
  readonly verb: 'list' | 'watch';
}

/** The part of a request's `RequestInfo` (src/http) that tells whether it is one. */
interface AskedInfo extends WholeCollection {
  readonly isResource: boolean;
  readonly prefix: string;
  readonly verb: string;
  readonly namespace: string;
  readonly subresource: string;
}

/**
 * The collection that a call asks for as a whole; `undefined` for every other call. `depth`: the number of segments of its path. A name
 * in the path, and the old form with `watch/` in it, make the path longer.
 */
export function askedCollection(method: string, info: AskedInfo, depth: number): AskedCollection | undefined {
  const { isResource, prefix, verb, namespace, subresource, group, version, resource } = info;
  if (method !== 'GET' || !isResource || namespace !== '' || subresource !== '') return undefined;
  if (verb !== 'list' && verb !== 'watch') return undefined;
  const isWhole = prefix === 'api' ? depth === 3 : prefix === 'apis' && depth === 4;
  return isWhole ? { verb, group, version, resource } : undefined;
}

/** A call that may get a permitted answer. */
export interface PermittedCall {
  readonly asked: AskedCollection;
  readonly call: GatewayCall;
  /** Path and query without the path. */
  readonly query: string;
  /** The user that the cluster judges: the caller, or the user whom the caller impersonates. */
  readonly subject: Subject;
  /** Whether the cluster lets this user do it over the whole cluster. */
  isAllowed(subject: Subject): Promise<boolean>;
}
