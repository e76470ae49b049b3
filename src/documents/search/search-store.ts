import { type Clock, withTimeLimit } from '../../runtime/clock.ts';
import { asObject } from '../../runtime/text/json-value.ts';
import { StoreError, TooLongAnswer } from '../../stores/store-error.ts';
import type { DocumentKind } from '../document-kind.ts';
import type { Page } from '../document-query.ts';
import { MESSAGE } from '../kinds/log-kind.ts';
import type { Interval } from '../query/interval.ts';
import type { TimeRange } from '../query/times.ts';
import type {
  DocumentSearch,
  DocumentStore,
  Found,
  FoundMessage,
  Histogram,
  Statistics,
} from '../store/document-store.ts';
import type { LogStoreClient } from '../store/store-requests.ts';
import type { Dialect } from './dialects.ts';
import { areOfDays, indicesOf } from './indices.ts';
import { ReadMessages } from './read-messages.ts';
import {
  bucketsOf,
  cardinalityIn,
  messagesIn,
  readAnswer,
  readSearchAnswer,
  recordsIn,
  type SearchAnswer,
  scrollIdIn,
  termsIn,
} from './search-answer.ts';
import { byTime, exact, toStoreQuery } from './search-body.ts';

export interface SearchStoreOptions {
  readonly kind: DocumentKind;
  readonly indexPrefix: string;
  readonly dialect: Dialect;
  /** The time limit that is sent to the store. */
  readonly timeLimitMs: number;
}

export interface SearchStoreParts {
  readonly client: Pick<LogStoreClient, 'json'>;
  readonly clock: Clock;
}

/** The messages of a piece: 100 kB of usual messages. With longer ones, fewer are requested at once. */
const MESSAGES_AT_ONCE = 500;
/** How long the store keeps a scroll. A client that does not read is cut off long before that. */
const KEEP = '2m';
/** Up to this number, different ids are counted nearly exactly, with about 80 kB of the store's memory. */
const EXACT_UP_TO = 10_000;

/** How long we remember whether there is one index for each day. */
const KNOWN_MS = 60_000;
/** After a failed request for the indices, the next one is sent only after this time, because searches wait for it. */
const FAILED_MS = 5_000;
/** After this time the store answers the request for the indices for the shards that are ready. */
const NAMES_LIMIT_MS = 2_000;
/** The most indices that are listed; ten years have 3,653 days. */
const MOST_INDICES = 5_000;

/**
 * A missing index is not an error, but a partial answer is. Totals are exact; Elasticsearch 6 reads this option only from the query
 * string.
 */
const PARAMETERS = 'ignore_unavailable=true&allow_partial_search_results=false&track_total_hits=true';

/** The size of an export's pieces, and the place in the order of time at which they begin. */
interface Piece {
  readonly size: number;
  readonly from: number | undefined;
}

interface SearchRequest {
  readonly body: object;
  readonly from?: number | undefined;
  /** Further query parameters. */
  readonly more?: string;
}

/** A store with the search API of Elasticsearch 6 to 9 or OpenSearch 1 to 3. */
export class SearchStore implements DocumentStore {
  readonly #client: Pick<LogStoreClient, 'json'>;
  readonly #clock: Clock;
  readonly #options: SearchStoreOptions;
  /** What is known about the indices, and until when. */
  #layout: { readonly areOfDays: boolean; readonly until: number } | undefined;
  #asking: Promise<boolean> | undefined;

  constructor(options: SearchStoreOptions, { client, clock }: SearchStoreParts) {
    this.#client = client;
    this.#clock = clock;
    this.#options = options;
  }

  async find(search: DocumentSearch, { order, from, size }: Page, signal: AbortSignal): Promise<Found> {
    const { kind } = this.#options;
    const body = { from, size, sort: byTime(order, this.#options), _source: kind.source };
    const { total, hits } = await this.#search(search, { body }, signal);
    return { total, records: recordsIn(hits, kind) };
  }

  /** Documents of one form have their ids in one place, so the counts of all places are added up. */
  async count(search: DocumentSearch, signal: AbortSignal): Promise<Statistics> {
    const { counted } = this.#options.kind;
    const countOf = (place: string) => ({ cardinality: { field: exact(place), precision_threshold: EXACT_UP_TO } });
    const aggs = Object.fromEntries(counted.map((place, at) => [`counted${at}`, countOf(place)]));
    const { total, aggregations } = await this.#search(search, { body: { size: 0, aggs } }, signal);
    return { counted: Object.keys(aggs).reduce((sum, name) => sum + cardinalityIn(aggregations[name]), 0), total };
  }

  /** Empty buckets are not requested: between today and one stray record of 2036 there are 300 million buckets of a second. */
  async histogram(search: DocumentSearch, interval: Interval, signal: AbortSignal): Promise<Histogram> {
    const { kind, dialect } = this.#options;
    const buckets = { date_histogram: { field: kind.time, ...dialect.bucketLength(interval), min_doc_count: 1 } };
    const { total, aggregations } = await this.#search(search, { body: { size: 0, aggs: { buckets } } }, signal);
    return { total, buckets: bucketsOf(aggregations['buckets']) };
  }

  /**
   * Reads with a scroll, which all of these stores have (decision 26). The size of its pieces cannot be changed. So after a piece that
   * is too long, we open a new scroll with half the size after the messages that were read.
   */
  async *messages(search: DocumentSearch, signal: AbortSignal): AsyncGenerator<readonly FoundMessage[], void> {
    const read = new ReadMessages();
    for (let size = MESSAGES_AT_ONCE; ; size = Math.floor(size / 2)) {
      try {
        for await (const hits of this.#pieces(search, { size, from: read.place }, signal))
          yield messagesIn(read.take(hits));
        return;
      } catch (error) {
        if (!(error instanceof TooLongAnswer)) throw error;
        if (size === 1) throw new StoreError('refused', 'a message of the log store is too long', error);
      }
    }
  }

  async *#pieces(
    search: DocumentSearch,
    { size, from }: Piece,
    signal: AbortSignal,
  ): AsyncGenerator<readonly unknown[], void> {
    const body = { size, sort: byTime('desc', this.#options), _source: [MESSAGE] };
    let answer = await this.#search(search, { body, from, more: `&scroll=${KEEP}` }, signal).catch((error) => {
      const id = error instanceof TooLongAnswer ? scrollIdIn(error.beginning) : undefined;
      if (id !== undefined) this.#closeScroll(id);
      throw error;
    });
    try {
      while (answer.hits.length > 0) {
        yield answer.hits;
        if (answer.hits.length < size || answer.scrollId === undefined) return;
        answer = await this.#scroll(answer.scrollId, signal);
      }
    } finally {
      if (answer.scrollId !== undefined) this.#closeScroll(answer.scrollId);
    }
  }

  async #search(
    search: DocumentSearch,
    { body, from, more = '' }: SearchRequest,
    signal: AbortSignal,
  ): Promise<SearchAnswer> {
    const { timeLimitMs, kind, dialect } = this.#options;
    const path = `/${await this.#indices(search.time)}/_search?${PARAMETERS}${more}`;
    const query = toStoreQuery(search, { kind, mostClauses: dialect.mostClauses, from });
    const asked = { ...body, query, timeout: `${timeLimitMs}ms` };
    const request = { purpose: 'search', method: 'POST', path, body: asked } as const;
    return readSearchAnswer(await this.#client.json(request, signal));
  }

  /** The indices for a search: those of the days in the range if there is one for each day, else all of the prefix. */
  async #indices(time: TimeRange): Promise<string> {
    const { indexPrefix } = this.#options;
    const all = `${indexPrefix}*`;
    const ofDays = indicesOf(indexPrefix, time);
    if (ofDays === all) return all;
    return (await this.#areOfDays()) ? ofDays : all;
  }

  /** Whether there is one index for each day. Concurrent searches share one request. */
  async #areOfDays(): Promise<boolean> {
    if (this.#layout && this.#clock.monotonic() < this.#layout.until) return this.#layout.areOfDays;
    this.#asking ??= this.#askForIndices().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  /**
   * Finds the names of the indices with a search, because a user who may read the logs has the right to search. Each shard stops at its
   * first record, which gives the name of its index. If the request fails, the answer is `true`, and the search itself reports what is
   * wrong with the store. A `true` needs the answers of all shards; otherwise the answer is `false`.
   */
  async #askForIndices(): Promise<boolean> {
    const { indexPrefix } = this.#options;
    const aggs = { indices: { terms: { field: '_index', size: MOST_INDICES } } };
    const body = { size: 0, terminate_after: 1, timeout: `${NAMES_LIMIT_MS}ms`, aggs };
    const path = `/${indexPrefix}*/_search?ignore_unavailable=true`;
    const request = { purpose: 'indices', method: 'POST', path, body } as const;
    try {
      const limits = { ms: 2 * NAMES_LIMIT_MS, signals: [] };
      const found = await withTimeLimit(this.#clock, limits, (signal) => this.#client.json(request, signal));
      const answer = asObject(readAnswer(found));
      const names = termsIn(asObject(asObject(answer['aggregations'])['indices']));
      const are = areOfDays(indexPrefix, names);
      if (are && isPartial(answer)) return false;
      this.#remember(are, KNOWN_MS);
      return are;
    } catch {
      this.#remember(true, FAILED_MS);
      return true;
    }
  }

  #remember(are: boolean, ms: number): void {
    this.#layout = { areOfDays: are, until: this.#clock.monotonic() + ms };
  }

  async #scroll(id: string, signal: AbortSignal): Promise<SearchAnswer> {
    const body = { scroll: KEEP, scroll_id: id };
    return readSearchAnswer(
      await this.#client.json({ purpose: 'scroll', method: 'POST', path: '/_search/scroll', body }, signal),
    );
  }

  /** Closes the scroll in the background, because the caller may be gone. A scroll that is not closed expires after `KEEP`. */
  #closeScroll(id: string): void {
    const body = { scroll_id: [id] };
    const request = { purpose: 'close', method: 'DELETE', path: '/_search/scroll', body } as const;
    const limits = { ms: this.#options.timeLimitMs, signals: [] };
    withTimeLimit(this.#clock, limits, (signal) => this.#client.json(request, signal)).catch(() => undefined);
  }
}

/** Whether shards are missing in an answer, because they were too slow or failed. */
const isPartial = (answer: Readonly<Record<string, unknown>>): boolean =>
  answer['timed_out'] === true || Number(asObject(answer['_shards'])['failed'] ?? 0) > 0;
