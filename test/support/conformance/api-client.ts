import { randomBytes } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import type { Agent, Dispatcher } from 'undici';
import { apiDispatcher } from '../control-plane/api-dispatcher.ts';
import type { ConformanceTarget } from './target.ts';
import { WatchStream } from './watch-stream.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of the server under test; each assertion is its own check
export type Json = any;

export interface Answer {
  readonly status: number;
  readonly headers: Dispatcher.ResponseData['headers'];
  readonly text: string;
  /** The body as JSON; undefined when it is something else. */
  readonly body: Json;
}

interface RequestOptions {
  readonly headers?: Readonly<Record<string, string | string[]>>;
  /** The bearer token. Default: the administrator's; empty: none. */
  readonly token?: string;
}

export type Query = Readonly<Record<string, string | number | boolean>>;

/** A path with its query, encoded. */
export const path = (base: string, query: Query = {}): string => {
  const text = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)])).toString();
  return text === '' ? base : `${base}?${text}`;
};

export const NODES = '/api/v1/nodes';
export const inNamespace = (namespace: string, plural: string): string => `/api/v1/namespaces/${namespace}/${plural}`;

/** A name that no other test uses. */
export const unique = (prefix: string): string => `${prefix}-${randomBytes(4).toString('hex')}`;

/** Sends the requests of the suite. It shows bytes and headers as they arrive, without decoding, retries or redirects. */
export class ApiClient {
  readonly #target: Pick<ConformanceTarget, 'url' | 'token'>;
  readonly #pool: Agent;
  readonly #watches = new Set<WatchStream>();

  private constructor(target: Pick<ConformanceTarget, 'url' | 'token'>, pool: Agent) {
    this.#target = target;
    this.#pool = pool;
  }

  static async to(target: Pick<ConformanceTarget, 'url' | 'token' | 'caFile'>): Promise<ApiClient> {
    return new ApiClient(target, await apiDispatcher(target.caFile));
  }

  get = (path: string, options?: RequestOptions): Promise<Answer> => this.#call('GET', path, undefined, options);
  post = (path: string, body: Json, options?: RequestOptions): Promise<Answer> =>
    this.#call('POST', path, body, options);
  put = (path: string, body: Json, options?: RequestOptions): Promise<Answer> => this.#call('PUT', path, body, options);
  head = (path: string, options?: RequestOptions): Promise<Answer> => this.#call('HEAD', path, undefined, options);
  delete = (path: string, body?: Json): Promise<Answer> => this.#call('DELETE', path, body);
  send = (method: Dispatcher.HttpMethod, path: string, body?: Json, options?: RequestOptions): Promise<Answer> =>
    this.#call(method, path, body, options);

  /** A merge patch, RFC 7396. */
  patch = (path: string, body: Json, type = 'application/merge-patch+json'): Promise<Answer> =>
    this.#call('PATCH', path, body, { headers: { 'content-type': type } });

  /** Creates an object, and returns it. Throws if that fails, so that a broken set-up is noticed. */
  async create(path: string, body: Json): Promise<Json> {
    const answer = await this.post(path, body);
    if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  }

  /** The newest resourceVersion of a collection. */
  async version(path: string): Promise<string> {
    return (await this.get(path)).body.metadata.resourceVersion;
  }

  async newNamespace(): Promise<string> {
    const name = unique('conformance');
    await this.create('/api/v1/namespaces', { metadata: { name } });
    return name;
  }

  async watch(path: string, options: RequestOptions = {}): Promise<WatchStream> {
    const { statusCode, headers, body } = await this.#send('GET', path, undefined, options);
    const stream = new WatchStream(statusCode, headers, body);
    this.#watches.add(stream);
    return stream;
  }

  /** Ends the watches that the last test left open. */
  endWatches(): void {
    for (const watch of this.#watches) watch.close();
    this.#watches.clear();
  }

  async close(): Promise<void> {
    this.endWatches();
    await this.#pool.destroy();
  }

  async #call(method: Dispatcher.HttpMethod, path: string, sent?: Json, options: RequestOptions = {}): Promise<Answer> {
    const { statusCode, headers, body } = await this.#send(method, path, sent, options);
    const bytes = Buffer.from(await body.arrayBuffer());
    const text = (headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString();
    return { status: statusCode, headers, text, body: parsed(text) };
  }

  #send(
    method: Dispatcher.HttpMethod,
    path: string,
    body: Json,
    options: RequestOptions,
  ): Promise<Dispatcher.ResponseData> {
    const { token = this.#target.token, headers = {} } = options;
    return this.#pool.request({
      origin: this.#target.url,
      method,
      path,
      headers: {
        accept: 'application/json',
        ...(token && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined || typeof body === 'string' ? body : JSON.stringify(body),
    });
  }
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
