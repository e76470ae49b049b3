import { onAbort } from '../../runtime/abort.ts';
import type { Clock } from '../../runtime/clock.ts';
import { FairSeats } from '../../runtime/limits/fair-seats.ts';
import type { StoreAnswer } from '../../stores/store-client.ts';
import type { Page } from '../document-query.ts';
import { mergeNewestFirst } from '../merged.ts';
import { type Bucket, type Interval, lengthOf, MOST_BUCKETS } from '../query/interval.ts';
import { intervalOfCalendar, tooManyBucketsFound } from '../refusals.ts';
import type {
  DocumentSearch,
  DocumentStore,
  Found,
  FoundMessage,
  FoundRecord,
  Histogram,
  Statistics,
} from '../store/document-store.ts';
import type { LogStoreClient } from '../store/store-requests.ts';
import { countsIn, entriesIn, type LokiEntry, numberIn, streamsIn } from './loki-answer.ts';
import type { LokiKind, LokiQuestions } from './loki-kind.ts';
import { type EntriesRequest, pagesOf } from './loki-pages.ts';
import { NANOSECONDS_OF_MS, toCount, toCounts } from './loki-query.ts';
import { lengthMs, type Slice, slicesOf, toMs, toNs } from './loki-slice.ts';
import { spanOf } from './loki-span.ts';

export interface LokiStoreParts {
  readonly client: Pick<LogStoreClient, 'json'>;
  /** Gives the end of a time range that has none. */
  readonly clock: Pick<Clock, 'now'>;
  readonly kind: LokiKind;
}

interface LokiRequest {
  readonly path: 'query' | 'query_range' | 'series';
  readonly form: Readonly<Record<string, string>>;
}

/** The number of entries in the first page of a slice, and the most in any page. */
interface PageSizes {
  readonly first: number;
  readonly most: number;
}

/** The most records in a page, as in Loki's own limit. */
const RECORDS_AT_ONCE = 5_000;
/** The most messages in a page, as for the other stores: 100 kB of usual messages. */
const MESSAGES_AT_ONCE = 500;
/** The smallest page of a slice. One page of each slice is in memory at the same time. */
const FEWEST_AT_ONCE = 20;
/**
 * The most requests in flight. Loki splits each into several and queues a hundred of them for a user, and all of our callers are
 * the same user to it.
 */
const MOST_REQUESTS = 32;
/** The most requests in flight for one search, so that it does not keep others out. */
const MOST_REQUESTS_OF_ONE = 8;

/**
 * A store with the HTTP API of Loki 3. A query has one span of time, so each namespace that is younger than the span of the search is
 * queried separately.
 */
export class LokiStore implements DocumentStore {
  readonly #parts: LokiStoreParts;
  readonly #seats = new FairSeats({ count: MOST_REQUESTS, allows: (_, held) => held < MOST_REQUESTS_OF_ONE });
  #searches = 0;

  constructor(parts: LokiStoreParts) {
    this.#parts = parts;
  }

  async find(search: DocumentSearch, { order, from, size }: Page, signal: AbortSignal): Promise<Found> {
    const slices = this.#slicesOf(search);
    const [totals, records] = await Promise.all([
      Promise.all(slices.map((slice) => this.#count(slice, signal))),
      this.#records(slices, { order, from, size }, signal),
    ]);
    return { total: sum(totals), records };
  }

  async count(search: DocumentSearch, signal: AbortSignal): Promise<Statistics> {
    const slices = this.#slicesOf(search);
    const [ids, lines] = await Promise.all([
      Promise.all(slices.map((slice) => this.#parts.kind.countIds(slice, this.#questions(signal)))),
      Promise.all(slices.map((slice) => this.#count(slice, signal))),
    ]);
    return { counted: sum(ids), total: sum(lines) };
  }

  async histogram(search: DocumentSearch, interval: Interval, signal: AbortSignal): Promise<Histogram> {
    const length = lengthOf(interval);
    if (length === undefined) throw intervalOfCalendar();
    const [start, end] = spanOf(search.time, this.#parts.clock.now());
    if (Math.ceil(end / length) - Math.floor(start / length) > MOST_BUCKETS) throw tooManyBucketsFound();
    const slices = this.#slicesOf(search);
    const counts = new Map<number, number>();
    const add = ({ time, count }: Bucket): void => {
      if (count > 0) counts.set(time, (counts.get(time) ?? 0) + count);
    };
    const totals = await Promise.all(
      slices.map(async (slice) => {
        const [total, buckets] = await Promise.all([this.#count(slice, signal), this.#buckets(slice, length, signal)]);
        for (const bucket of buckets) add(bucket);
        return total;
      }),
    );
    return { total: sum(totals), buckets: Array.from(counts, ([time, count]) => ({ time, count })) };
  }

  async *messages(search: DocumentSearch, signal: AbortSignal): AsyncGenerator<readonly FoundMessage[], void> {
    const slices = this.#slicesOf(search);
    const first = Math.max(Math.floor(MESSAGES_AT_ONCE / slices.length), FEWEST_AT_ONCE);
    for await (const placed of this.#merged(slices, 'desc', { first, most: MESSAGES_AT_ONCE }, signal))
      yield placed.map(({ entry, at }) => ({ at, log: entry.line }));
  }

  async #records(slices: readonly Slice[], { order, from, size }: Page, signal: AbortSignal): Promise<FoundRecord[]> {
    const records: FoundRecord[] = [];
    if (size === 0) return records;
    const share = slices.length === 1 ? from + size : Math.max(MESSAGES_AT_ONCE / slices.length, FEWEST_AT_ONCE);
    const first = Math.min(from + size, Math.floor(share));
    let left = from;
    for await (const placed of this.#merged(slices, order, { first, most: RECORDS_AT_ONCE }, signal)) {
      for (const { entry } of placed.slice(left))
        records.push({ at: placeOf(entry), record: this.#parts.kind.recordOf(entry) });
      left = Math.max(left - placed.length, 0);
      if (records.length >= size) break;
    }
    return records.slice(0, size);
  }

  /** The entries of all slices in this order. The failure of one slice aborts the requests for the others. */
  async *#merged(slices: readonly Slice[], order: Page['order'], sizes: PageSizes, signal: AbortSignal) {
    const controller = new AbortController();
    const removeListener = onAbort(signal, () => controller.abort(signal.reason));
    const sources = slices.map((slice) => this.#placed(slice, order, sizes, controller));
    try {
      yield* mergeNewestFirst(sources);
    } finally {
      removeListener();
      controller.abort(new Error('the search is over'));
    }
  }

  /** Adds to each entry its place for the merge, where higher places come first. A failure aborts the controller. */
  async *#placed(
    slice: Slice,
    order: Page['order'],
    sizes: PageSizes,
    controller: AbortController,
  ): AsyncGenerator<readonly PlacedEntry[], void> {
    const ask = (request: EntriesRequest) => this.#entries(slice, request, controller.signal);
    try {
      for await (const entries of pagesOf({ start: slice.start, end: slice.end, order, ...sizes, ask }))
        yield entries.map((entry) => ({ entry, at: order === 'asc' ? -placeOf(entry) : placeOf(entry) }));
    } catch (error) {
      controller.abort(error);
      throw error;
    }
  }

  async #entries(slice: Slice, request: EntriesRequest, signal: AbortSignal): Promise<readonly LokiEntry[]> {
    const { start, end, order, limit } = request;
    const direction = order === 'asc' ? 'forward' : 'backward';
    const form = { query: this.#logQuery(slice), start: `${start}`, end: `${end}`, limit: `${limit}`, direction };
    const answer = await this.#ask(slice, { path: 'query_range', form }, signal);
    const namespaces = slice.namespaces && new Set<unknown>(slice.namespaces);
    return entriesIn(answer, this.#parts.kind.namespaceLabel, { start, end, limit, namespaces });
  }

  /**
   * Counts the lines in each bucket. Buckets begin at multiples of their length; the span cuts the first and the last one. The buckets
   * between them are counted by one request, where a line may be counted in the bucket after its own (see `toCounts`).
   */
  async #buckets(slice: Slice, length: number, signal: AbortSignal): Promise<Bucket[]> {
    const first = Math.floor(toMs(slice.start) / length) * length;
    const last = Math.floor(toMs(slice.end - 1n) / length) * length;
    if (first === last) return [{ time: first, count: await this.#count(slice, signal) }];
    const second = first + length;
    const [inFirst, between, inLast] = await Promise.all([
      this.#count({ ...slice, end: toNs(second) }, signal),
      second < last ? this.#wholeBuckets(slice, { first: second + length, last, step: length }, signal) : [],
      this.#count({ ...slice, start: toNs(last) }, signal),
    ]);
    return [{ time: first, count: inFirst }, ...between, { time: last, count: inLast }];
  }

  /** Counts whole buckets; `ends` are their ends. */
  async #wholeBuckets(slice: Slice, ends: Parameters<typeof countsIn>[1], signal: AbortSignal): Promise<Bucket[]> {
    const { first, last, step } = ends;
    const range = { start: `${toNs(first)}`, end: `${toNs(last)}`, step: `${step / 1_000}` };
    const form = { query: toCounts(this.#logQuery(slice), step), ...range };
    const answer = await this.#ask(slice, { path: 'query_range', form }, signal);
    return countsIn(answer, ends).map(({ at, count }) => ({ time: at - step, count }));
  }

  #count(slice: Slice, signal: AbortSignal): Promise<number> {
    return this.#number(slice, toCount(this.#logQuery(slice), lengthMs(slice)), signal);
  }

  #questions(signal: AbortSignal): LokiQuestions {
    return {
      number: (slice, query) => this.#number(slice, query, signal),
      streams: async (slice, selector) => {
        const form = { 'match[]': selector, start: `${slice.start}`, end: `${slice.end}` };
        return streamsIn(await this.#ask(slice, { path: 'series', form }, signal));
      },
    };
  }

  async #number(slice: Slice, query: string, signal: AbortSignal): Promise<number> {
    return numberIn(await this.#ask(slice, { path: 'query', form: { query, time: `${slice.end}` } }, signal));
  }

  async #ask({ flow }: Slice, { path, form }: LokiRequest, signal: AbortSignal): Promise<StoreAnswer> {
    if ((await this.#seats.take(flow, signal)) !== 'taken') throw signal.reason;
    const request = { purpose: 'search', method: 'POST', path: `/loki/api/v1/${path}`, form } as const;
    return this.#parts.client.json(request, signal).finally(() => this.#seats.release(flow));
  }

  #slicesOf(search: DocumentSearch): readonly Slice[] {
    return slicesOf(search, { flow: `${++this.#searches}`, now: this.#parts.clock.now() });
  }

  #logQuery({ conditions, namespaces }: Slice): string {
    return this.#parts.kind.toLogQuery(conditions, namespaces);
  }
}

interface PlacedEntry {
  readonly at: number;
  readonly entry: LokiEntry;
}

/** The place of an entry in the order of time: milliseconds, with their fraction. */
const placeOf = ({ at }: LokiEntry): number => Number(at) / Number(NANOSECONDS_OF_MS);

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);
