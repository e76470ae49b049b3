import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { aggregate } from './aggregations.ts';
import { QueryError, readQuery } from './query.ts';
import { type LogDocument, type StoredForm, StoredRecord } from './stored-record.ts';

/** The limit of the stores on `from` plus `size`. */
const WINDOW = 10_000;

type Json = Readonly<Record<string, unknown>>;

interface Answer {
  readonly status: number;
  readonly body: object;
}

export interface SimulatedLogStoreOptions {
  /** If there are more, the oldest are dropped. Default: all are kept. */
  readonly mostRecords?: number;
  /** What its documents are like. Default: logs. */
  readonly form?: StoredForm;
}

export interface SimulatedLogStore<Document extends object = LogDocument> {
  readonly url: string;
  add(documents: readonly Document[]): void;
  /** The requests, in order. */
  readonly requests: readonly StoreRequest[];
  /** The number of scrolls that were opened and not closed. */
  openScrolls(): number;
  stop(): Promise<void>;
}

interface StoreRequest {
  readonly method: string;
  readonly path: string;
  readonly body: Json;
}

/** How many requests are remembered. */
const MOST_REQUESTS = 1_000;

/**
 * A log store in memory, on the loopback interface, that answers the requests of Gatehouse like OpenSearch 2. It supports only the
 * clauses that Gatehouse uses, and refuses all others, so that a test notices.
 */
export async function startSimulatedLogStore<Document extends object = LogDocument>({
  mostRecords = Number.POSITIVE_INFINITY,
  form,
}: SimulatedLogStoreOptions = {}): Promise<SimulatedLogStore<Document>> {
  const store = new Store(mostRecords, form);
  const requests: StoreRequest[] = [];
  const server = createServer(async (request, response) => {
    const sent = await text(request).catch(() => '');
    const body = sent === '' ? {} : (JSON.parse(sent) as Json);
    requests.push({ method: request.method ?? '', path: request.url ?? '', body });
    if (requests.length > MOST_REQUESTS) requests.shift();
    write(response, answer(store, request, body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    add: (documents) => store.add(documents),
    requests,
    openScrolls: () => store.openScrolls,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function write(response: ServerResponse, { status, body }: Answer): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=UTF-8' });
  response.end(JSON.stringify(body));
}

function answer(store: Store, { method = '', url = '' }: IncomingMessage, body: Json): Answer {
  const { pathname, searchParams } = new URL(url, 'http://store');
  try {
    if (method === 'GET' && pathname === '/') return { status: 200, body: IDENTITY };
    if (method === 'DELETE' && pathname === '/_search/scroll') return { status: 200, body: store.leave(body) };
    if (method === 'POST' && pathname === '/_search/scroll') return { status: 200, body: store.scroll(body) };
    const [, indices, operation] = pathname.split('/');
    if (method === 'POST' && operation === '_search')
      return { status: 200, body: store.search(decodeURIComponent(indices ?? ''), searchParams, body) };
    return failure(400, new QueryError('illegal_argument_exception', `no handler found for ${method} ${pathname}`));
  } catch (error) {
    if (error instanceof QueryError)
      return failure(error.type === 'search_context_missing_exception' ? 404 : 400, error);
    throw error;
  }
}

const IDENTITY = { name: 'n1', cluster_name: 'logs', version: { distribution: 'opensearch', number: '2.19.4' } };

const failure = (status: number, { type, message: reason }: QueryError): Answer => ({
  status,
  body: { error: { root_cause: [{ type, reason }], type, reason }, status },
});

class Store {
  #records: StoredRecord<object>[] = [];
  readonly #scrolls = new Map<
    string,
    { readonly found: readonly StoredRecord<object>[]; readonly size: number; at: number }
  >();
  #scrollCount = 0;
  #recordCount = 0;
  readonly #mostRecords: number;
  readonly #form: StoredForm | undefined;

  constructor(mostRecords: number, form: StoredForm | undefined) {
    this.#mostRecords = mostRecords;
    this.#form = form;
  }

  get openScrolls(): number {
    return this.#scrolls.size;
  }

  add(documents: readonly object[]): void {
    const added = documents.map((document) => new StoredRecord(document, `${++this.#recordCount}`, this.#form));
    const all = [...this.#records, ...added].sort((a, b) => a.at - b.at);
    this.#records = all.slice(Math.max(0, all.length - this.#mostRecords));
  }

  search(indices: string, parameters: URLSearchParams, body: Json): object {
    const { from = 0, size = 10, sort = [], query, aggs } = body;
    const [first, most] = [Number(from), Number(size)];
    if (first + most > WINDOW) throw new QueryError('illegal_argument_exception', 'Result window is too large');
    const isIn = indexPattern(indices);
    const matches = readQuery(query);
    const found = this.#records.filter((record) => isIn(record.day) && matches(record));
    const [order] = sort as Record<string, { order: string }>[];
    if (Object.values(order ?? {})[0]?.order === 'desc') found.reverse();
    const page = toHits(found.slice(first, first + most), found.length);
    const aggregations = aggs === undefined ? {} : { aggregations: aggregate(aggs as Json, found) };
    const scroll = parameters.has('scroll') ? { _scroll_id: this.#keep(found, most) } : {};
    return { ...scroll, took: 1, timed_out: false, hits: page, ...aggregations };
  }

  scroll({ scroll_id: id }: Json): object {
    const place = this.#scrolls.get(String(id));
    if (!place) throw new QueryError('search_context_missing_exception', 'No search context found');
    const hits = toHits(place.found.slice(place.at, place.at + place.size), place.found.length);
    place.at += place.size;
    return { _scroll_id: id, took: 1, timed_out: false, hits };
  }

  leave({ scroll_id: ids }: Json): object {
    for (const id of ids as string[]) this.#scrolls.delete(id);
    return { succeeded: true };
  }

  #keep(found: readonly StoredRecord<object>[], size: number): string {
    const id = `scroll-${++this.#scrollCount}`;
    this.#scrolls.set(id, { found, size, at: size });
    return id;
  }
}

function toHits(records: readonly StoredRecord<object>[], total: number): object {
  const hits = records.map(({ document, at, index, id }) => ({
    _index: index,
    _id: id,
    _source: document,
    sort: [at],
  }));
  return { total: { value: total, relation: 'eq' }, hits };
}

/** Returns a test for the days of indices. A prefix matches every day, a list of names only the days in it. */
function indexPattern(indices: string): (day: string) => boolean {
  if (indices.endsWith('*')) return () => true;
  const days = new Set(indices.split(',').map((name) => name.slice(-'YYYY.MM.DD'.length)));
  return (day) => days.has(day);
}
