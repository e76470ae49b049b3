import type { Clock } from '../../runtime/clock.ts';
import { FairSlots } from '../../runtime/fair-slots.ts';
import type { LogFilter, Page } from '../log-query.ts';
import { mergeNewestFirst } from '../merged.ts';
import { type Bucket, type Interval, lengthOf, MOST_BUCKETS } from '../query/interval.ts';
import type { TimeRange } from '../query/times.ts';
import { intervalOfCalendar, rangeTooLong, tooManyBucketsFound } from '../refusals.ts';
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
import { countsIn, entriesIn, type LokiEntry, numberIn, recordOf } from './loki-answer.ts';
import {
  type LokiLabels,
  NANOSECONDS_OF_MS,
  type Span,
  toContainerCount,
  toCount,
  toCounts,
  toLogQuery,
} from './loki-query.ts';
import type { StoreAnswer, StoreClient } from './store-client.ts';

export interface LokiStoreParts {
  readonly client: Pick<StoreClient, 'json'>;
  /** Says what an open end is. */
  readonly clock: Pick<Clock, 'now'>;
  readonly labels: LokiLabels;
}

/** One question to Loki. */
interface Part extends Span {
  /** The search that it belongs to. */
  readonly search: string;
  readonly logQuery: string;
}

/** All times are milliseconds. */
interface Buckets {
  readonly from: number;
  readonly to: number;
  readonly length: number;
}

interface Question {
  readonly path: 'query' | 'query_range';
  readonly form: Readonly<Record<string, string>>;
}

/** Loki's own `max_entries_limit_per_query`. */
const MOST_ENTRIES = 5_000;
/** As of the other stores: 100 kB of usual messages. */
const MESSAGES_AT_ONCE = 500;
const FEWEST_MESSAGES = 20;
/** Loki splits each question into several and queues a hundred of them for a user, who is the same one for all of our callers. */
const QUESTIONS_OF_ALL = 32;
/** Of one search, so that it keeps nobody out. */
const QUESTIONS_OF_ONE = 8;
/** 32 kB of names. Loki takes 128 KiB of query, of which a caller's parameters may be two thirds. */
const MOST_NAMES = 500;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** How far an open range goes back. Loki refuses ranges of more than 30 days and an hour (`max_query_length`). */
const OPEN_RANGE_MS = 30 * DAY_MS;
/**
 * Loki makes a question of each quarter of an hour of a span, all at once in its memory: asked about half a century where its operator
 * had lifted that limit, it took 23 GB. These are some 9,000.
 */
const LONGEST_RANGE_MS = 92 * DAY_MS;
/** The clock of a node may be ahead. Loki takes no lines that are ten minutes ahead of its own (`creation_grace_period`). */
const AHEAD_MS = HOUR_MS;
/** Loki reads a number of ten digits or fewer as seconds. */
const EARLIEST_MS = DAY_MS;
/** Nanoseconds are counted in 64 bits. */
const LATEST_MS = Number((2n ** 63n - 1n) / NANOSECONDS_OF_MS);

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
    const parts = this.#split(search);
    const wanted = size === 0 ? 0 : from + size;
    let first: FoundRecord[] = [];
    const totals = await this.#each(parts, async (part) => {
      const [total, records] = await Promise.all([this.#count(part, signal), this.#first(part, order, wanted, signal)]);
      first = [...first, ...records].sort(order === 'asc' ? (a, b) => a.at - b.at : (a, b) => b.at - a.at);
      first.length = Math.min(first.length, wanted);
      return total;
    });
    return { total: sum(totals), records: first.slice(from) };
  }

  async count(search: LogSearch, signal: AbortSignal): Promise<Statistics> {
    const { labels } = this.#parts;
    const found = await this.#each(this.#split(search), async (part) => {
      const query = toContainerCount(part.logQuery, lengthMs(part), labels);
      return Promise.all([this.#number(part, query, signal), this.#count(part, signal)]);
    });
    return { containers: sum(found.map(([containers]) => containers)), logs: sum(found.map(([, logs]) => logs)) };
  }

  async histogram(search: LogSearch, interval: Interval, signal: AbortSignal): Promise<Histogram> {
    const length = lengthOf(interval);
    if (length === undefined) throw intervalOfCalendar();
    const [start, end] = spanOf(search.time, this.#parts.clock.now());
    if (Math.ceil(end / length) - Math.floor(start / length) > MOST_BUCKETS) throw tooManyBucketsFound();
    const parts = this.#split(search);
    const found = await this.#each(parts, (part) =>
      Promise.all([this.#count(part, signal), this.#buckets(part, length, signal)]),
    );
    const buckets = found.flatMap(([, one]) => one).filter(({ count }) => count > 0);
    return { total: sum(found.map(([total]) => total)), buckets };
  }

  async *messages(search: LogSearch, signal: AbortSignal): AsyncGenerator<readonly FoundMessage[], void> {
    const parts = this.#split(search);
    // All of them have some in memory at a time.
    const limit = Math.max(Math.floor(MESSAGES_AT_ONCE / parts.length), FEWEST_MESSAGES);
    yield* mergeNewestFirst(parts.map((part) => this.#messages(part, limit, signal)));
  }

  async *#messages(part: Part, limit: number, signal: AbortSignal): AsyncGenerator<readonly FoundMessage[], void> {
    for await (const entries of this.#entries(part, 'desc', limit, signal))
      yield entries.map((entry) => ({ at: placeOf(entry), log: entry.line }));
  }

  async #first(part: Part, order: Page['order'], wanted: number, signal: AbortSignal): Promise<FoundRecord[]> {
    const found: FoundRecord[] = [];
    if (wanted === 0) return found;
    for await (const entries of this.#entries(part, order, Math.min(wanted, MOST_ENTRIES), signal)) {
      for (const entry of entries) found.push({ at: placeOf(entry), record: recordOf(entry, this.#parts.labels) });
      if (found.length >= wanted) break;
    }
    return found.slice(0, wanted);
  }

  /**
   * The entries in the order of time, `limit` at once. Each question goes on at the time of the last entry, with all that were
   * given of that time: there may be more of them.
   */
  async *#entries(
    part: Part,
    order: Page['order'],
    limit: number,
    signal: AbortSignal,
  ): AsyncGenerator<readonly LokiEntry[], void> {
    const direction = order === 'asc' ? 'forward' : 'backward';
    let { start, end } = part;
    /** Those of the last time that were given. */
    let given = new Set<string>();
    let edge: bigint | undefined;
    for (let most = limit; ; most = Math.min(limit + given.size, MOST_ENTRIES)) {
      const range = { start: `${start}`, end: `${end}`, limit: `${most}`, direction };
      const entries = entriesIn(
        await this.#ask(part, { path: 'query_range', form: { query: part.logQuery, ...range } }, signal),
      );
      entries.sort((a, b) => (order === 'asc' ? compare(a.at, b.at) : compare(b.at, a.at)));
      const fresh = entries.filter((entry) => entry.at !== edge || !given.has(identityOf(entry)));
      if (fresh.length > 0) yield fresh;
      const last = entries.at(-1);
      if (!last || entries.length < most) return;
      if (fresh.length === 0)
        throw new StoreError('refused', `more than ${most} lines have one time; ask for fewer records`);
      edge = last.at;
      given = new Set(entries.filter(({ at }) => at === edge).map(identityOf));
      if (order === 'asc') start = last.at;
      else end = last.at + 1n;
    }
  }

  /**
   * The buckets begin at multiples of their length; the first and the last one are cut by the span. Those between are asked for
   * together: of these, a line may be in the bucket after its own, as `toCounts` says.
   */
  async #buckets(part: Part, length: number, signal: AbortSignal): Promise<Bucket[]> {
    const first = Math.floor(toMs(part.start) / length) * length;
    const last = Math.floor(toMs(part.end - 1n) / length) * length;
    if (first === last) return [{ time: first, count: await this.#count(part, signal) }];
    const second = first + length;
    const [inFirst, between, inLast] = await Promise.all([
      this.#count({ ...part, end: toNs(second) }, signal),
      second < last ? this.#wholeBuckets(part, { from: second, to: last, length }, signal) : [],
      this.#count({ ...part, start: toNs(last) }, signal),
    ]);
    return [{ time: first, count: inFirst }, ...between, { time: last, count: inLast }];
  }

  /** Those that begin before `to`. Each is counted at its end. */
  async #wholeBuckets(part: Part, { from, to, length }: Buckets, signal: AbortSignal): Promise<Bucket[]> {
    const range = { start: `${toNs(from + length)}`, end: `${toNs(to)}`, step: `${length / 1_000}` };
    const form = { query: toCounts(part.logQuery, length), ...range };
    const answer = await this.#ask(part, { path: 'query_range', form }, signal);
    return countsIn(answer).map(({ at, count }) => ({ time: at - length, count }));
  }

  #count(part: Part, signal: AbortSignal): Promise<number> {
    return this.#number(part, toCount(part.logQuery, lengthMs(part)), signal);
  }

  async #number(part: Part, query: string, signal: AbortSignal): Promise<number> {
    return numberIn(await this.#ask(part, { path: 'query', form: { query, time: `${part.end}` } }, signal));
  }

  async #ask({ search }: Part, { path, form }: Question, signal: AbortSignal): Promise<StoreAnswer> {
    if ((await this.#turns.take(search, signal)) !== 'taken') throw signal.reason;
    const request = { purpose: 'search', method: 'POST', path: `/loki/api/v1/${path}`, form } as const;
    return this.#parts.client.json(request, signal).finally(() => this.#turns.release(search));
  }

  /** What one of them throws ends the search, and with its signal the others. */
  #each<Result>(parts: readonly Part[], ask: (part: Part) => Promise<Result>): Promise<Result[]> {
    return Promise.all(parts.map(ask));
  }

  /** The questions that together find what the search asks for. No line is found by two of them. */
  #split({ filter, time, namespaces }: LogSearch): Part[] {
    const [start, end] = spanOf(time, this.#parts.clock.now());
    const party = `${++this.#searches}`;
    const part = (names: readonly string[] | undefined, from: number): Part[] =>
      from < end ? [{ search: party, logQuery: this.#logQuery(filter, names), start: toNs(from), end: toNs(end) }] : [];
    if (!namespaces) return part(undefined, start);
    const young = namespaces.young.filter(({ since }) => since > start);
    const isOld = ({ since }: { readonly since: number }): boolean => since <= start;
    const whole = [...namespaces.whole, ...namespaces.young.filter(isOld).map(({ name }) => name)];
    const pieces = Array.from({ length: Math.ceil(whole.length / MOST_NAMES) }, (_, at) =>
      whole.slice(at * MOST_NAMES, (at + 1) * MOST_NAMES),
    );
    return [
      ...pieces.flatMap((names) => part(names, start)),
      ...young.flatMap(({ name, since }) => part([name], since)),
    ];
  }

  #logQuery(filter: LogFilter, names: readonly string[] | undefined): string {
    return toLogQuery(filter, names, this.#parts.labels);
  }
}

/**
 * When the span begins and when it is over, in milliseconds since 1970. An open end is now, with what clocks may be ahead, and
 * an open start is thirty days before the end; an end is not later than both of these say, because nothing is there. Throws a
 * 400 for a span that is too long.
 */
function spanOf({ start, end }: TimeRange, now: number): readonly [number, number] {
  const latest = Math.max(now + AHEAD_MS, start === undefined ? 0 : start * 1_000 + OPEN_RANGE_MS);
  const last = Math.min(end === undefined ? latest : (end + 1) * 1_000, latest, LATEST_MS);
  const first = start === undefined ? last - OPEN_RANGE_MS : start * 1_000;
  if (last - first > LONGEST_RANGE_MS) throw rangeTooLong(LONGEST_RANGE_MS / DAY_MS);
  return [Math.max(first, EARLIEST_MS), last];
}

const toNs = (ms: number): bigint => BigInt(Math.trunc(ms)) * NANOSECONDS_OF_MS;
const toMs = (ns: bigint): number => Number(ns / NANOSECONDS_OF_MS);
const lengthMs = ({ start, end }: Span): number => toMs(end - start);

/** A fraction of a millisecond counts. */
const placeOf = ({ at }: LokiEntry): number => Number(at) / Number(NANOSECONDS_OF_MS);

const identityOf = ({ at, line, labels }: LokiEntry): string => `${at} ${JSON.stringify(labels)} ${line}`;

const compare = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0);
const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);
