import { isSelector } from '../resources/query/selector.ts';
import { derived } from '../runtime/derived.ts';
import { parseInteger64 } from '../runtime/text/parameters.ts';
import { type QueryPair, readQueryPairs } from '../runtime/text/query-pairs.ts';
import { demandedValue } from './field-selector.ts';
import type { Target } from './target.ts';

/**
 * Verb and resource of a request, by the rules of Kubernetes' request info
 * (`k8s.io/apiserver/pkg/endpoints/request`, `RequestInfoFactory`). Authorization under /kapis, the kinds of calls of the gateway, and
 * the log lines all use it. An empty text means "absent".
 */
export interface RequestInfo {
  readonly isResource: boolean;
  /** `kapis`, `apis`, `api`, or `''` for any other path. */
  readonly prefix: string;
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly namespace: string;
  readonly resource: string;
  readonly name: string;
  readonly subresource: string;
  /** The selectors of a list, a watch or the deletion of a collection, as sent: an authorizer may allow a request because of them. */
  readonly fieldSelector: string;
  readonly labelSelector: string;
}

const VERBS: Readonly<Record<string, string>> = {
  POST: 'create',
  GET: 'get',
  HEAD: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** Without a name, these verbs apply to the collection. */
const COLLECTION_VERBS: Readonly<Record<string, string>> = { get: 'list', delete: 'deletecollection' };

/** The subresources of a namespace itself, which would otherwise be taken for resources in it. */
const NAMESPACE_SUBRESOURCES = new Set(['status', 'finalize']);

/** Path segments that are verbs if they follow the version, only under /api and /apis. */
const VERB_SEGMENTS = new Set(['watch', 'proxy']);

/**
 * Reads verb and resource. `segments` are those of the canonical path, `query` is as sent. If the query matters (for a collection)
 * and may be understood differently by Kubernetes and others, the result is a fault with a fixed phrase.
 */
export function toRequestInfo(
  method: string,
  segments: readonly string[],
  query: string,
): RequestInfo | { readonly fault: string } {
  const prefix = segments[0] ?? '';
  const grouped = prefix === 'kapis' || prefix === 'apis';
  const start = grouped ? 3 : 2;
  if ((!grouped && prefix !== 'api') || segments.length <= start) return nonResource(method, segments);
  const rest = segments.slice(start);
  const pathVerb = prefix !== 'kapis' && VERB_SEGMENTS.has(rest[0] ?? '') ? rest.shift() : undefined;
  if (rest.length === 0) return nonResource(method, segments);
  const place = toPlace(rest);
  const group = grouped ? (segments[1] ?? '') : '';
  const version = segments[start - 1] ?? '';
  const info = { isResource: true, prefix, verb: VERBS[method] ?? '', group, version, ...place, ...NO_SELECTORS };
  // After the verb `proxy`, the segment after the name is part of the proxied path and not a subresource.
  if (pathVerb === 'proxy') return { ...info, verb: pathVerb, subresource: '' };
  if (pathVerb !== undefined) return { ...info, verb: pathVerb };
  const verb = place.name === '' ? COLLECTION_VERBS[info.verb] : undefined;
  return verb === undefined ? info : ofCollection({ ...info, verb }, query);
}

/**
 * `toRequestInfo` that returns the same object again for the same `Target` object and method, so that later steps can remember what
 * they derive from it. The guard returns one `Target` object for requests with the same target. An object takes at most 2 KiB with
 * all that is derived from it: 3 MiB for six methods of the 256 targets that the guard remembers.
 */
export function createRequestInfos(): (method: string, target: Target) => ReturnType<typeof toRequestInfo> {
  const byMethod = derived((_: Target) => new Map<string, ReturnType<typeof toRequestInfo>>());
  return (method, target) => {
    const known = byMethod(target);
    const before = known.get(method);
    if (before) return before;
    const info = toRequestInfo(method, target.segments, target.query);
    known.set(method, info);
    return info;
  };
}

const NO_SELECTORS = { fieldSelector: '', labelSelector: '' };

function nonResource(method: string, segments: readonly string[]): RequestInfo {
  const first = segments[0] ?? '';
  const prefix = first === 'kapis' || first === 'apis' || first === 'api' ? first : '';
  const none = { group: '', version: '', namespace: '', resource: '', name: '', subresource: '', ...NO_SELECTORS };
  return { isResource: false, prefix, verb: method.toLowerCase(), ...none };
}

type Place = Pick<RequestInfo, 'namespace' | 'resource' | 'name' | 'subresource'>;

/** Reads the segments after the version (and the verb segment): `[namespaces/{ns}/]{resource}[/{name}[/{subresource}[/…]]]`. */
function toPlace(rest: readonly string[]): Place {
  const [first = '', namespace = '', third] = rest;
  const namespaced = first === 'namespaces' && namespace !== '';
  const inNamespace = namespaced && third !== undefined && !NAMESPACE_SUBRESOURCES.has(third);
  const [resource = '', name = '', subresource = ''] = inNamespace ? rest.slice(2) : rest;
  return { namespace: namespaced ? namespace : '', resource, name, subresource };
}

/** Reads the parameters that Kubernetes' request info reads: `watch` and the selectors. */
function ofCollection(info: RequestInfo, query: string): RequestInfo | { readonly fault: string } {
  if (query === '') return info;
  const pairs = readQueryPairs(query);
  if ('fault' in pairs) return pairs;
  const selected = {
    ...info,
    fieldSelector: firstOf(pairs, 'fieldSelector') ?? '',
    labelSelector: firstOf(pairs, 'labelSelector') ?? '',
  };
  if (info.verb !== 'list') return selected;
  const watch = firstOf(pairs, 'watch') ?? '0';
  if (NEARLY_FALSE.test(watch) && !FALSE.test(watch)) return { fault: 'the query parameter "watch" is nearly "false"' };
  return { ...selected, verb: FALSE.test(watch) ? 'list' : 'watch', name: selectedName(selected, pairs) };
}

/** The value of the first parameter with this name. */
const firstOf = (pairs: readonly QueryPair[], name: string): string | undefined =>
  pairs.find(([one]) => one === name)?.[1];

/** Any other value of `watch` asks for a watch, also an empty one. */
const FALSE = /^(?:0|false)$/i;
/**
 * Also matches letters that Unicode folds to those of `false`: Kubernetes takes such a text for `false` or not, depending on the
 * other options.
 */
const NEARLY_FALSE = /^(?:0|false)$/iu;

/**
 * A valid object name in a path, by the rule of Kubernetes. A selector with any other value names no object, so the caller needs the
 * right to the whole collection.
 */
const OBJECT_NAME = /^(?!\.{1,2}$)[^/%\p{C}\p{Z}]{1,253}$/u;

/**
 * The name that `fieldSelector=metadata.name=x` gives a list or watch. It does not change the verb. If one of the options cannot be
 * parsed, Kubernetes ignores all of them.
 */
function selectedName({ fieldSelector, labelSelector }: RequestInfo, pairs: readonly QueryPair[]): string {
  if (fieldSelector === '') return '';
  const name = demandedValue(fieldSelector, 'metadata.name')?.value ?? '';
  return OBJECT_NAME.test(name) && isSelector(labelSelector) && NUMBERS.every(isReadable(pairs)) ? name : '';
}

/** The list options that are numbers. */
const NUMBERS = ['limit', 'timeoutSeconds'];

const isReadable =
  (pairs: readonly QueryPair[]) =>
  (option: string): boolean =>
    parseInteger64(firstOf(pairs, option) ?? '0') !== undefined;
