import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';

type Json = Readonly<Record<string, unknown>>;

/** A request that the store has received. */
interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Json;
  /** The body, where it is a form. */
  readonly form: Readonly<Record<string, string>>;
  readonly response: ServerResponse;
  /** Its connection. */
  readonly socket: Socket;
}

/** An answer: a status with JSON or with a text. `undefined`: the store does not answer, unless the test uses the response itself. */
export type Canned = { readonly status?: number; readonly body?: unknown; readonly text?: string } | undefined;

export interface CannedStore {
  readonly url: string;
  readonly port: number;
  /** All requests except those for the version or the names of the indices. */
  readonly asked: Asked[];
  /** The number of requests that have no answer yet and whose connection is open. */
  open(): number;
  /** Returns the answer to a request. A test may replace it, and may use `asked.response` itself and return nothing. */
  answer: (asked: Asked) => Canned;
  stop(): Promise<void>;
}

interface CannedStoreOptions {
  /** `version` in the answer to `GET /`; `its own`: `answer` also answers requests for the version. Default: OpenSearch 2. */
  readonly version?: Json | 'its own';
  /** The names of its indices. Default: no names, which counts as one index for each day. */
  readonly indices?: readonly string[];
  /** By default plain HTTP. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Default: a free one. */
  readonly port?: number;
}

const OPENSEARCH_2: Json = { distribution: 'opensearch', number: '2.19.4' };

/** The answer to a search that has found these hits. */
export const foundBody = (hits: readonly unknown[], total = hits.length, more: object = {}): Json => ({
  took: 1,
  timed_out: false,
  _shards: { total: 1, successful: 1, skipped: 0, failed: 0 },
  hits: { total: { value: total, relation: 'eq' }, max_score: null, hits },
  ...more,
});

/** A record as a hit of a search that was sorted by time. */
export const hit = (at: number, log = `message ${at}\n`): Json => ({
  _index: 'ks-logstash-log-2026.03.09',
  _source: { log, time: new Date(at).toISOString(), kubernetes: { namespace_name: 'a', pod_name: 'p' } },
  sort: [at],
});

/** A log store on the loopback interface whose answers a test chooses. */
export async function startCannedStore(
  answer: CannedStore['answer'],
  { version = OPENSEARCH_2, indices = [], tls, port: wanted = 0 }: CannedStoreOptions = {},
): Promise<CannedStore> {
  const asked: Asked[] = [];
  const sockets = new Set<Socket>();
  const handle: RequestListener = async (request, response) => {
    response.on('error', () => {});
    const content = await text(request).catch(() => '');
    const isForm = request.headers['content-type'] === 'application/x-www-form-urlencoded';
    const form = Object.fromEntries(new URLSearchParams(isForm ? content : ''));
    const body = isForm || content === '' ? {} : JSON.parse(content);
    const { method = '', url: path = '', headers, socket } = request;
    if (path === '/' && version !== 'its own') return void write(response, { body: { name: 'n1', version } });
    if (asksForIndices(body)) return void write(response, { body: foundBody([], 0, namesOf(indices)) });
    const one = { method, path, headers, body, form, response, socket };
    asked.push(one);
    const canned = store.answer(one);
    if (canned) write(response, canned);
  };
  const server = tls ? createTlsServer(tls, handle) : createServer(handle);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).once('close', () => sockets.delete(socket));
  });
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(wanted, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const store: CannedStore = {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    port,
    asked,
    open: () => asked.filter(({ response, socket }) => !response.writableEnded && !socket.destroyed).length,
    answer,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
  return store;
}

const asksForIndices = ({ aggs = {} }: { readonly aggs?: object }): boolean => 'indices' in aggs;

const namesOf = (indices: readonly string[]): object => ({
  aggregations: { indices: { buckets: indices.map((key) => ({ key, doc_count: 1 })) } },
});

function write(response: ServerResponse, { status = 200, body, text: plain }: NonNullable<Canned>): void {
  const type = plain === undefined ? 'application/json' : 'text/plain';
  response.writeHead(status, { 'content-type': `${type}; charset=UTF-8` });
  response.end(plain ?? JSON.stringify(body));
}
