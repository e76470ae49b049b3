import { onAbort } from '../../runtime/abort.ts';
import type { Clock } from '../../runtime/clock.ts';
import { FairSlots } from '../../runtime/fair-slots.ts';
import type { Page } from '../log-query.ts';
import { mergeNewestFirst } from '../merged.ts';
import { type Bucket, type Interval, lengthOf, MOST_BUCKETS } from '../query/interval.ts';
import { intervalOfCalendar, tooManyBucketsFound } from '../refusals.ts';
import {
  type Found,
  type FoundMessage,
  type FoundRecord,
  type Histogram,
  type LogSearch,
  type LogStore,
  type Statistics,
  StoreError,
} from './log-store.ts';
import { countsIn, entriesIn, type LokiEntry, numberIn, recordOf, streamsIn } from './loki-answer.ts';
import { type EntriesQuestion, pagesOf } from './loki-pages.ts';
import {
  type LokiLabels,
  NANOSECONDS_OF_MS,
  toContainerCount,
  toCount,
  toCounts,
  toLogQuery,
  toSelector,
} from './loki-query.ts';
import { lengthMs, type Slice, slicesOf, toMs, toNs } from './loki-slice.ts';
import { spanOf } from './loki-span.ts';
import type { StoreAnswer, StoreClient } from './store-client.ts';

export interface LokiStoreParts {
  readonly client: Pick<StoreClient, 'json'>;
  /** Says what an open end is. */
  readonly clock: Pick<Clock, 'now'>;
  readonly labels: LokiLabels;
}

/** A request to Loki. */
interface Question {
  readonly path: 'query' | 'query_range' | 'series';
  readonly form: Readonly<Record<string, string>>;
}

/** How many entries a slice is asked for at first, and at most in one piece. */
interface PieceSizes {
  readonly first: number;
  readonly most: number;
}

/** Records of a page; Loki's own limit is as high. */
const RECORDS_AT_ONCE = 5_000;
/** Messages of a page, as for the other stores: 100 kB of usual messages. */
const MESSAGES_AT_ONCE = 500;
/** The smallest page per slice; one page of every slice is in memory. */
const FEWEST_AT_ONCE = 20;
/** Loki splits each question into several and queues a hundred of them for a user, who is the same one for all of our callers. */
const QUESTIONS_OF_ALL = 32;
/** Questions that one search may have open, so that it keeps nobody out. */
const QUESTIONS_OF_ONE = 8;
/** Half of the series that Loki allows in one query (`max_query_series`). */
const CONTAINERS_AT_ONCE = 250;

/**
 * A store that speaks the HTTP API of Loki 3. It has no query for several spans of time, so each namespace that is younger than the
 * span is asked for by itself.
 */
export class LokiStore implements LogStore {
  readonly #parts: LokiStoreParts;
  readonly #turns = new FairSlots({ count: QUESTIONS_OF_ALL, allows: (_, held) => held < QUESTIONS_OF_ONE });
  #searches = 0;

  constructor(parts: LokiStoreParts) {
    this.#parts = parts;
  }

  async find(search: LogSearch, { order, from, size }: Page, signal: AbortSignal): Promise<Found> {
    const slices = this.#slicesOf(search);
    const [totals, records] = await Promise.all([
      Promise.all(slices.map((slice) => this.#count(slice, signal))),
      this.#records(slices, { order, from, size }, signal),
    ]);
    return { total: sum(totals), records };
  }

  async count(search: LogSearch, signal: AbortSignal): Promise<Statistics> {
    const slices = this.#slicesOf(search);
    const [containers, logs] = await Promise.all([
      Promise.all(slices.map((slice) => this.#countContainers(slice, signal))),
      Promise.all(slices.map((slice) => this.#count(slice, signal))),
    ]);
    return { containers: sum(containers), logs: sum(logs) };
  }

  async histogram(search: LogSearch, interval: Interval, signal: AbortSignal): Promise<Histogram> {
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

  async *messages(search: LogSearch, signal: AbortSignal): AsyncGenerator<readonly FoundMessage[], void> {
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
        records.push({ at: placeOf(entry), record: recordOf(entry, this.#parts.labels) });
      left = Math.max(left - placed.length, 0);
      if (records.length >= size) break;
    }
    return records.slice(0, size);
  }

  /** The entries of all slices in this order. The failure of one slice ends the questions about the others. */
  async *#merged(slices: readonly Slice[], order: Page['order'], sizes: PieceSizes, signal: AbortSignal) {
    const controller = new AbortController();
    const letGo = onAbort(signal, () => controller.abort(signal.reason));
    const sources = slices.map((slice) => this.#placed(slice, order, sizes, controller));
    try {
      yield* mergeNewestFirst(sources);
    } finally {
      letGo();
      controller.abort(new Error('the search is over'));
    }
  }

  /** Gives each entry its place in the order: the sooner it comes, the higher the place. A failure aborts the controller. */
  async *#placed(
    slice: Slice,
    order: Page['order'],
    sizes: PieceSizes,
    controller: AbortController,
  ): AsyncGenerator<readonly PlacedEntry[], void> {
    const ask = (question: EntriesQuestion) => this.#entries(slice, question, controller.signal);
    try {
      for await (const entries of pagesOf({ start: slice.start, end: slice.end, order, ...sizes, ask }))
        yield entries.map((entry) => ({ entry, at: order === 'asc' ? -placeOf(entry) : placeOf(entry) }));
    } catch (error) {
      controller.abort(error);
      throw error;
    }
  }

  async #entries(slice: Slice, question: EntriesQuestion, signal: AbortSignal): Promise<readonly LokiEntry[]> {
    const { start, end, order, limit } = question;
    const direction = order === 'asc' ? 'forward' : 'backward';
    const form = { query: this.#logQuery(slice), start: `${start}`, end: `${end}`, limit: `${limit}`, direction };
    const answer = await this.#ask(slice, { path: 'query_range', form }, signal);
    const namespaces = slice.namespaces && new Set<unknown>(slice.namespaces);
    return entriesIn(answer, this.#parts.labels, { start, end, limit, namespaces });
  }

  /**
   * The buckets begin at multiples of their length; the first and the last one are cut by the span. Those between are asked for
   * together: of these, a line may be in the bucket after its own, as `toCounts` says.
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

  /** Each is counted at its end. */
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

  /** Loki counts a limited number of containers apart: where there are more, some are counted after the others. */
  async #countContainers(slice: Slice, signal: AbortSignal): Promise<number> {
    const ask = (some: Slice): Promise<number> =>
      this.#number(some, toContainerCount(this.#logQuery(some), lengthMs(some), this.#parts.labels), signal);
    try {
      return await ask(slice);
    } catch (error) {
      if (!(error instanceof StoreError && error.kind === 'refused' && /number of series/.test(error.message)))
        throw error;
    }
    const groups = await this.#podGroups(slice, signal);
    return sum(await Promise.all(groups.map((pods) => ask({ ...slice, filter: { ...slice.filter, pods } }))));
  }

  /** The pods of a slice, in groups with so few containers that Loki counts them apart. */
  async #podGroups({ filter, namespaces, ...slice }: Slice, signal: AbortSignal): Promise<string[][]> {
    const { labels } = this.#parts;
    const match = toSelector(filter, namespaces, labels);
    const form = { 'match[]': match, start: `${slice.start}`, end: `${slice.end}` };
    const answer = await this.#ask({ filter, namespaces, ...slice }, { path: 'series', form }, signal);
    const streams = Map.groupBy(streamsIn(answer), ({ [labels.pod]: pod }) => (typeof pod === 'string' ? pod : ''));
    const groups: string[][] = [];
    let room = 0;
    for (const [pod, { length }] of streams) {
      if (length > room) {
        groups.push([]);
        room = CONTAINERS_AT_ONCE;
      }
      groups.at(-1)?.push(pod);
      room -= length;
    }
    return groups;
  }

  async #number(slice: Slice, query: string, signal: AbortSignal): Promise<number> {
    return numberIn(await this.#ask(slice, { path: 'query', form: { query, time: `${slice.end}` } }, signal));
  }

  async #ask({ party }: Slice, { path, form }: Question, signal: AbortSignal): Promise<StoreAnswer> {
    if ((await this.#turns.take(party, signal)) !== 'taken') throw signal.reason;
    const request = { purpose: 'search', method: 'POST', path: `/loki/api/v1/${path}`, form } as const;
    return this.#parts.client.json(request, signal).finally(() => this.#turns.release(party));
  }

  #slicesOf(search: LogSearch): readonly Slice[] {
    return slicesOf(search, { party: `${++this.#searches}`, now: this.#parts.clock.now() });
  }

  #logQuery({ filter, namespaces }: Slice): string {
    return toLogQuery(filter, namespaces, this.#parts.labels);
  }
}

interface PlacedEntry {
  readonly at: number;
  readonly entry: LokiEntry;
}

/** The place of an entry: its time in milliseconds, with the fraction. */
const placeOf = ({ at }: LokiEntry): number => Number(at) / Number(NANOSECONDS_OF_MS);

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);
