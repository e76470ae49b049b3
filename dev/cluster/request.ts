import type { IncomingMessage } from 'node:http';
import type { ServedKinds } from './api/served-kinds.ts';
import { type Impersonation, impersonationIn } from './impersonation.ts';
import { defineKind, type ResourceKind } from './kinds.ts';

/** Kubernetes verbs. The verb of a request without a resource is its method in lower case. */
export type Verb =
  | 'get'
  | 'list'
  | 'watch'
  | 'create'
  | 'update'
  | 'patch'
  | 'delete'
  | 'deletecollection'
  | (string & {});

/** The parts of a resource path. `namespace` and `name` are empty if the path has none. */
export interface ResourceTarget {
  readonly kind: ResourceKind;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
}

/** The key of the object that a path names. */
export const targetKey = ({ kind, namespace, name }: ResourceTarget): string =>
  kind.namespaced ? `${namespace}/${name}` : name;

/** One request, read completely, exactly as it came. */
export interface ApiRequest {
  readonly method: string;
  readonly url: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** Each name followed by its value, as on the wire. */
  readonly rawHeaders: readonly string[];
  readonly headers: IncomingMessage['headers'];
  /** The user that the caller asks to impersonate, whether or not it has the right to. */
  readonly impersonation: Impersonation | undefined;
  readonly body: Buffer;
  /** Counts TCP connections from 1: two requests with one number came over one connection. */
  readonly connection: number;
  readonly verb: Verb;
  /** Undefined for `/version`, discovery and unknown paths. */
  readonly target: ResourceTarget | undefined;
}

/** A real server takes 3 MiB. */
const BODY_LIMIT = 3 * 1024 * 1024;

export async function readRequest(
  message: IncomingMessage,
  { connection, kinds }: { readonly connection: number; readonly kinds: ServedKinds },
): Promise<ApiRequest> {
  const url = message.url ?? '/';
  const { pathname, searchParams } = new URL(url, 'http://127.0.0.1');
  const method = message.method ?? 'GET';
  const isOldWatch = method === 'GET' && OLD_WATCH.test(pathname);
  const target = parseTarget(isOldWatch ? pathname.replace(OLD_WATCH, '$1') : pathname, kinds);
  const query = isOldWatch && target ? oldWatchQuery(target, searchParams) : searchParams;
  return {
    method,
    url,
    path: pathname,
    query,
    rawHeaders: message.rawHeaders,
    headers: message.headers,
    impersonation: impersonationIn(message.headersDistinct),
    body: method === 'GET' || method === 'HEAD' ? Buffer.alloc(0) : await readBody(message),
    connection,
    verb: isOldWatch && target ? 'watch' : target ? verbOf(method, target, query) : method.toLowerCase(),
    target,
  };
}

/** The form of a watch before `?watch=true`, which a real server still serves: `/api/v1/watch/namespaces/d/pods`. */
const OLD_WATCH = /^(\/api\/[^/]+|\/apis\/[^/]+\/[^/]+)\/watch(?=\/)/;

/** Whether the path is one of that form. */
export const isOldWatchPath = (path: string): boolean => OLD_WATCH.test(path);

/** The watch of a single object is one of its collection with a selector. */
function oldWatchQuery({ name }: ResourceTarget, query: URLSearchParams): URLSearchParams {
  const asked = new URLSearchParams(query);
  asked.set('watch', 'true');
  if (name !== '') asked.set('fieldSelector', `metadata.name=${name}`);
  return asked;
}

async function readBody(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of message) {
    size += chunk.length;
    if (size <= BODY_LIMIT) chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** `/api/v1/…` or `/apis/<group>/<version>/…`, then `[namespaces/<namespace>/]<plural>[/<name>[/<subresource>]]`. */
function parseTarget(path: string, kinds: ServedKinds): ResourceTarget | undefined {
  const parts = path.split('/').slice(1).map(decodeURIComponent);
  const prefix = parts[0] === 'api' ? `/${parts[1]}` : parts[0] === 'apis' ? `${parts[1]}/${parts[2]}` : undefined;
  if (prefix === undefined) return undefined;
  const rest = parts.slice(parts[0] === 'api' ? 2 : 3);
  const scoped = rest[0] === 'namespaces' && rest.length > 2 && !['finalize', 'status'].includes(rest[2] ?? '');
  const [plural = '', name = '', subresource = '', ...more] = scoped ? rest.slice(2) : rest;
  const kind =
    kinds.at(`${prefix}/${plural}`) ?? awayKind(kinds, { group: parts[1] ?? '', version: parts[2] ?? '', plural });
  if (!kind || more.length > 0 || (scoped && !kind.namespaced)) return undefined;
  return { kind, namespace: scoped ? (rest[1] ?? '') : '', name, subresource };
}

/** A kind of an aggregated API that is away: the caller's right to it is checked all the same. */
function awayKind(
  kinds: ServedKinds,
  { group, version, plural }: Pick<ResourceKind, 'group' | 'version' | 'plural'>,
): ResourceKind | undefined {
  if (plural === '' || !kinds.isAway(group, version)) return undefined;
  return defineKind(plural, '', { group, version, name: `${plural}.${group}` });
}

/** Whether the path is below an API version whose server is away. */
export function isForAway({ path }: Pick<ApiRequest, 'path'>, kinds: ServedKinds): boolean {
  const [, root, group = '', version = ''] = path.split('/');
  return root === 'apis' && kinds.isAway(group, version);
}

function verbOf(method: string, target: ResourceTarget, query: URLSearchParams): Verb {
  const one = target.name !== '';
  switch (method) {
    case 'GET':
    case 'HEAD':
      if (one) return 'get';
      return isTrue(query.get('watch')) ? 'watch' : 'list';
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return one ? 'delete' : 'deletecollection';
    default:
      return method.toLowerCase();
  }
}

/** Booleans in a query: a parameter that is present counts as true unless its value says otherwise. */
export const isTrue = (value: string | null): boolean =>
  value !== null && !['', '0', 'false', 'f'].includes(value.toLowerCase());
