/** The parts of an OpenAPI 3.1 description that the explorer reads. */
export interface Description {
  readonly tags?: readonly { readonly name: string; readonly description?: string }[];
  readonly security?: readonly Requirement[];
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

type Requirement = Readonly<Record<string, readonly string[]>>;

interface PathItem {
  readonly servers?: readonly unknown[];
  readonly [method: string]: unknown;
}

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly example?: unknown;
  readonly examples?: readonly unknown[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly description?: string;
  readonly required?: boolean;
  readonly schema?: Schema;
}

interface Media {
  readonly schema?: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value?: unknown }>>;
}

interface Described {
  readonly tags?: readonly string[];
  readonly operationId?: string;
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly (Parameter | { readonly $ref: string })[];
  readonly requestBody?: { readonly content?: Readonly<Record<string, Media>> };
  readonly security?: readonly Requirement[];
  readonly responses?: Readonly<Record<string, { readonly content?: Readonly<Record<string, unknown>> }>>;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface Operation {
  readonly id: string;
  readonly method: Method;
  /** With `{parameters}`, and `/*` at its end for everything below. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly Parameter[];
  readonly body?: { readonly contentType: string; readonly media: Media };
  /** What the answer is, where it is not JSON. */
  readonly accept: string;
  /** Who has to ask: nobody in particular, a signed-in person, a client of the sign-in, or a server with a token of its own. */
  readonly caller: 'anybody' | 'person' | 'client' | 'server';
  /** Whether the page can send it with the session of the browser. */
  readonly isSent: boolean;
}

const JSON_TYPE = 'application/json';

/** Follows `$ref` inside the description; what leads nowhere is `undefined`. */
export function resolved<T extends object>(
  value: T | { readonly $ref: string } | undefined,
  description: Description,
): T | undefined {
  if (value === undefined || !('$ref' in value) || typeof value.$ref !== 'string') return value as T | undefined;
  let found: unknown = description;
  for (const name of value.$ref.replace(/^#\//, '').split('/')) found = (found as Record<string, unknown>)?.[name];
  return found as T | undefined;
}

/** The operations of the description, in its order. Those of older clients that are not served any more are left out. */
export function operationsOf(description: Description): readonly Operation[] {
  const all = Object.entries(description.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method] !== undefined).map((method) => operationOf(path, method, description)),
  );
  return all.filter(({ tag }) => tag !== 'withdrawn');
}

function operationOf(path: string, method: (typeof METHODS)[number], description: Description): Operation {
  const item = description.paths[path];
  const own = (item?.[method] ?? {}) as Described;
  const parameters = (own.parameters ?? []).flatMap((one) => resolved<Parameter>(one, description) ?? []);
  const body = bodyOf(own, { path, method });
  const caller = callerOf(own.security ?? description.security ?? []);
  return {
    id: own.operationId ?? `${method}${path}`,
    method: method.toUpperCase() as Method,
    path,
    tag: own.tags?.[0] ?? '',
    summary: own.summary ?? '',
    description: own.description ?? '',
    parameters,
    ...(body ? { body } : {}),
    accept: acceptOf(own),
    caller,
    isSent: item?.servers === undefined && !isOfSignIn(path),
  };
}

/** The endpoints of the sign-in take forms of their own pages, or credentials of a client; the session of a browser says nothing there. */
const isOfSignIn = (path: string): boolean => path.startsWith('/oauth/') && !/\/keys$|\.well-known/.test(path);

function callerOf(security: readonly Requirement[]): Operation['caller'] {
  const schemes = security.flatMap((one) => Object.keys(one));
  if (schemes.includes('bearer')) return 'person';
  if (schemes.includes('client')) return 'client';
  return schemes.length === 0 ? 'anybody' : 'server';
}

/** The gateway takes any body, of which the description says nothing. */
function bodyOf(
  { requestBody }: Described,
  { path, method }: { readonly path: string; readonly method: string },
): Operation['body'] {
  const [described] = Object.entries(requestBody?.content ?? {});
  if (described) return { contentType: described[0], media: described[1] };
  if (!path.endsWith('/*') || method === 'get' || method === 'delete') return undefined;
  return { contentType: method === 'patch' ? 'application/merge-patch+json' : JSON_TYPE, media: {} };
}

function acceptOf({ responses = {} }: Described): string {
  const [, good] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? [];
  const types = Object.keys(good?.content ?? {});
  return types.length === 0 || types.includes(JSON_TYPE) ? JSON_TYPE : (types[0] ?? JSON_TYPE);
}
