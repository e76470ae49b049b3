import { type Clock, withTimeLimit } from '../../runtime/clock.ts';
import type { Page } from '../log-query.ts';
import type { Interval } from '../query/interval.ts';
import type { Dialect } from './dialects.ts';
import { indicesOf } from './indices.ts';
import type { Found, FoundMessage, Histogram, LogSearch, LogStore, Statistics } from './log-store.ts';
import {
  bucketsOf,
  cardinalityIn,
  messagesIn,
  readSearchAnswer,
  recordsIn,
  type SearchAnswer,
} from './search-answer.ts';
import { byTime, FIELDS, toStoreQuery } from './search-body.ts';
import type { StoreClient } from './store-client.ts';

export interface SearchStoreOptions {
  /** What the names of the indices begin with. */
  readonly indexPrefix: string;
  readonly dialect: Dialect;
  /** What the store is told of how long it may search. */
  readonly timeLimitMs: number;
}

export interface SearchStoreParts {
  readonly client: Pick<StoreClient, 'json'>;
  readonly clock: Clock;
}

/**
 * 100 kB of usual messages. Runtimes cut lines at 16 KiB: of such, with what JSON adds to them, twice as many would be more than
 * the longest answer.
 */
const MESSAGES_AT_ONCE = 500;
/** How long the store keeps a place. A client that takes nothing is cut off long before. */
const KEEP = '2m';
/** Containers up to here are counted nearly exactly, at some 80 kB of the store's memory. */
const EXACT_UP_TO = 10_000;

const RECORD_FIELDS = [FIELDS.log, FIELDS.time, FIELDS.namespace, FIELDS.pod, FIELDS.container];

/**
 * Missing indices are no error, partial answers are. Totals are exact: Elasticsearch 6 reads that from the query string only.
 */
const PARAMETERS = 'ignore_unavailable=true&allow_partial_search_results=false&track_total_hits=true';

/** A store that speaks the search API of Elasticsearch 6 to 8 or OpenSearch 1 and 2. */
export class SearchStore implements LogStore {
  readonly #client: Pick<StoreClient, 'json'>;
  readonly #clock: Clock;
  readonly #options: SearchStoreOptions;

  constructor(options: SearchStoreOptions, { client, clock }: SearchStoreParts) {
    this.#client = client;
    this.#clock = clock;
    this.#options = options;
  }

  async find(search: LogSearch, { order, from, size }: Page, signal: AbortSignal): Promise<Found> {
    const body = { from, size, sort: byTime(order), _source: RECORD_FIELDS };
    const { total, hits } = await this.#search(search, body, signal);
    return { total, records: recordsIn(hits) };
  }

  async count(search: LogSearch, signal: AbortSignal): Promise<Statistics> {
    const containers = {
      cardinality: { field: `${FIELDS.containerId}.keyword`, precision_threshold: EXACT_UP_TO },
    };
    const { total, aggregations } = await this.#search(search, { size: 0, aggs: { containers } }, signal);
    return { containers: cardinalityIn(aggregations['containers']), logs: total };
  }

  /** Empty buckets are not asked for: between today and one stray record of 2036 there are 300 million of a second each. */
  async histogram(search: LogSearch, interval: Interval, signal: AbortSignal): Promise<Histogram> {
    const { bucketLength } = this.#options.dialect;
    const buckets = { date_histogram: { field: FIELDS.time, ...bucketLength(interval), min_doc_count: 1 } };
    const { total, aggregations } = await this.#search(search, { size: 0, aggs: { buckets } }, signal);
    return { total, buckets: bucketsOf(aggregations['buckets']) };
  }

  /** By scroll, which all of these stores have (decision 26). */
  async *messages(search: LogSearch, signal: AbortSignal): AsyncGenerator<readonly FoundMessage[], void> {
    const body = { size: MESSAGES_AT_ONCE, sort: byTime('desc'), _source: [FIELDS.log] };
    let answer = await this.#search(search, body, signal, `&scroll=${KEEP}`);
    try {
      while (answer.hits.length > 0) {
        yield messagesIn(answer.hits);
        if (answer.hits.length < MESSAGES_AT_ONCE || answer.scrollId === undefined) return;
        answer = await this.#scroll(answer.scrollId, signal);
      }
    } finally {
      if (answer.scrollId !== undefined) this.#leave(answer.scrollId);
    }
  }

  async #search(search: LogSearch, body: object, signal: AbortSignal, more = ''): Promise<SearchAnswer> {
    const { indexPrefix, timeLimitMs, dialect } = this.#options;
    const path = `/${indicesOf(indexPrefix, search.time)}/_search?${PARAMETERS}${more}`;
    const asked = { ...body, query: toStoreQuery(search, dialect.mostClauses), timeout: `${timeLimitMs}ms` };
    const request = { purpose: 'search', method: 'POST', path, body: asked } as const;
    return readSearchAnswer(await this.#client.json(request, signal));
  }

  async #scroll(id: string, signal: AbortSignal): Promise<SearchAnswer> {
    const body = { scroll: KEEP, scroll_id: id };
    return readSearchAnswer(
      await this.#client.json({ purpose: 'scroll', method: 'POST', path: '/_search/scroll', body }, signal),
    );
  }

  /** Nobody waits for it, and whoever asked may be gone. A place that is not given back ends after `KEEP`. */
  #leave(id: string): void {
    const body = { scroll_id: [id] };
    const request = { purpose: 'close', method: 'DELETE', path: '/_search/scroll', body } as const;
    const limits = { ms: this.#options.timeLimitMs, signals: [] };
    withTimeLimit(this.#clock, limits, (signal) => this.#client.json(request, signal)).catch(() => undefined);
  }
}
