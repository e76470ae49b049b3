/**
 * What a request line asks for, by the rules of Kubernetes' request info: the one reading that decides authorization under
 * /kapis and the labels of log lines. Empty text means "absent".
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

/** Subresources of a namespace itself, which would otherwise read as resources in it. */
const NAMESPACE_SUBRESOURCES = new Set(['status', 'finalize']);

/** Path words that are verbs right after the version, under /api and /apis only. */
const VERB_SEGMENTS = new Set(['watch', 'proxy']);

/** `segments` are those of the canonical path, `query` is raw. */
export function toRequestInfo(method: string, segments: readonly string[], query: string): RequestInfo {
  const prefix = segments[0] ?? '';
  const grouped = prefix === 'kapis' || prefix === 'apis';
  const start = grouped ? 3 : 2;
  if ((!grouped && prefix !== 'api') || segments.length <= start) return nonResource(method, segments);
  const group = grouped ? (segments[1] ?? '') : '';
  const version = segments[start - 1] ?? '';
  let rest = segments.slice(start);
  let verb = VERBS[method] ?? '';
  const spoken = prefix !== 'kapis' && VERB_SEGMENTS.has(rest[0] ?? '');
  if (spoken) {
    verb = rest[0] ?? '';
    rest = rest.slice(1);
    if (rest.length === 0) return nonResource(method, segments);
  }
  const place = toPlace(rest);
  if (!spoken && place.name === '') verb = COLLECTION_VERBS[verb] ?? verb;
  if (verb === 'list' && asksToWatch(query)) verb = 'watch';
  const ofCollection = place.name === '' && (verb === 'list' || verb === 'watch');
  const name = ofCollection ? fieldSelectedName(query) : place.name;
  return { isResource: true, prefix, verb, group, version, ...place, name };
}

function nonResource(method: string, segments: readonly string[]): RequestInfo {
  const first = segments[0] ?? '';
  const prefix = first === 'kapis' || first === 'apis' || first === 'api' ? first : '';
  const none = { group: '', version: '', namespace: '', resource: '', name: '', subresource: '' };
  return { isResource: false, prefix, verb: method.toLowerCase(), ...none };
}

type Place = Pick<RequestInfo, 'namespace' | 'resource' | 'name' | 'subresource'>;

/** What follows the version (and the verb word): `[namespaces/{ns}/]{resource}[/{name}[/{subresource}[/…]]]`. */
function toPlace(rest: readonly string[]): Place {
  const [first = '', namespace = '', third] = rest;
  const namespaced = first === 'namespaces' && namespace !== '';
  const inNamespace = namespaced && third !== undefined && !NAMESPACE_SUBRESOURCES.has(third);
  const [resource = '', name = '', subresource = ''] = inNamespace ? rest.slice(2) : rest;
  return { namespace: namespaced ? namespace : '', resource, name, subresource };
}

/** `watch` with any value but `false` or `0`; the first one if repeated. */
function asksToWatch(query: string): boolean {
  const value = query.includes('watch') ? firstValue(query, 'watch') : undefined;
  return value !== undefined && value !== '0' && value.toLowerCase() !== 'false';
}

/**
 * The names that an object can have in a path, by the rule of Kubernetes. A selector with any other value names no
 * object, so the caller needs the right to the whole collection.
 */
const OBJECT_NAME = /^(?!\.{1,2}$)[^/%\p{C}\p{Z}]{1,253}$/u;

/** The name that `fieldSelector=metadata.name=x` gives to a list or watch. It never changes the verb. */
function fieldSelectedName(query: string): string {
  if (!query.includes('fieldSelector')) return '';
  const selector = firstValue(query, 'fieldSelector') ?? '';
  for (const requirement of selector.split(',')) {
    const found = /^metadata\.name==?([^=!]+)$/.exec(requirement);
    if (found) return OBJECT_NAME.test(found[1] ?? '') ? (found[1] ?? '') : '';
  }
  return '';
}

function firstValue(query: string, name: string): string | undefined {
  return new URLSearchParams(query).get(name) ?? undefined;
}
