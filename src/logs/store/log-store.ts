import type { LogFilter, Page } from '../log-query.ts';
import type { Bucket, Interval } from '../query/interval.ts';
import type { TimeRange } from '../query/times.ts';

/** One question to a store: which records. */
export interface LogSearch {
  readonly filter: LogFilter;
  readonly time: TimeRange;
  /** Absent when records of all namespaces are wanted, deleted namespaces included. */
  readonly namespaces?: SearchedNamespaces;
}

/** Records of any of these. */
export interface SearchedNamespaces {
  /** Namespaces whose records all count. */
  readonly whole: readonly string[];
  /** Namespaces whose records count only from `since` on, in milliseconds since 1970. */
  readonly young: readonly { readonly name: string; readonly since: number }[];
}

/** A record as it is answered. A member that is empty in the store is absent. */
export interface LogRecord {
  readonly log?: string;
  readonly time?: string;
  readonly namespace?: string;
  readonly pod?: string;
  readonly container?: string;
}

/** The record of these members, as texts: of those that are not empty. */
export const toRecord = (members: Readonly<Record<keyof LogRecord, unknown>>): LogRecord =>
  Object.fromEntries(
    Object.entries(members)
      .map(([name, value]) => [name, textOf(value)] as const)
      .filter(([, text]) => text !== ''),
  );

/** What a store has for a text: numbers and booleans as they are written, lists and objects as JSON, nothing as an empty text. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  const isNothing = value === undefined || value === null || (Array.isArray(value) && value.length === 0);
  return isNothing ? '' : JSON.stringify(value);
}

/** A record and its place in the order: milliseconds since 1970. */
export interface FoundRecord {
  readonly at: number;
  readonly record: LogRecord;
}

export interface Found {
  /** How many messages the search found in all. */
  readonly total: number;
  /** The messages of the page. */
  readonly records: readonly FoundRecord[];
}

/** How many containers wrote how many records. The number of containers is what the store thinks it is. */
export interface Statistics {
  readonly containers: number;
  readonly logs: number;
}

export interface Histogram {
  readonly total: number;
  /** In any order; those without a record may be absent. */
  readonly buckets: readonly Bucket[];
}

/** The message of a record and its place in the order. */
export interface FoundMessage {
  readonly at: number;
  readonly log: string;
}

/**
 * What a store of logs must be able to do. Every method asks anew, gives up when the signal aborts, and rejects with a
 * `StoreError`.
 * @example
 * ```ts
 * const kept = [{ at: 5_000, record: { log: 'started', namespace: 'shop' } }];
 * // The caller may read `namespaces` only. A real store applies the filter, the time, the order and the signal as well.
 * const hits = ({ namespaces }: LogSearch) =>
 *   kept.filter(({ record }) => namespaces?.whole.includes(record.namespace) ?? true);
 * const store: LogStore = {
 *   find: async (asked, { from, size }) => ({ total: hits(asked).length, records: hits(asked).slice(from, from + size) }),
 *   count: async (asked) => ({ containers: 1, logs: hits(asked).length }),
 *   histogram: () => Promise.reject(new StoreError('refused', 'this store makes no histograms')),
 *   async *messages(asked) {
 *     yield hits(asked).map(({ at, record }) => ({ at, log: record.log }));
 *   },
 * };
 *
 * const search = (name: string) => ({ filter: NO_FILTER, time: {}, namespaces: { whole: [name], young: [] } });
 * assert.equal((await store.count(search('shop'), AbortSignal.timeout(1_000))).logs, 1);
 * assert.equal((await store.count(search('kube-system'), AbortSignal.timeout(1_000))).logs, 0);
 * ```
 */
export interface LogStore {
  find(search: LogSearch, page: Page, signal: AbortSignal): Promise<Found>;
  count(search: LogSearch, signal: AbortSignal): Promise<Statistics>;
  histogram(search: LogSearch, interval: Interval, signal: AbortSignal): Promise<Histogram>;
  /**
   * The messages, the newest first, in pieces as the store gives them; a piece is asked for when the one before was taken.
   * What the store keeps for the search (a scroll) is released when the loop over it ends, for any reason.
   */
  messages(search: LogSearch, signal: AbortSignal): AsyncGenerator<readonly FoundMessage[], void>;
}

/**
 * Why a store gave no answer.
 * - `refused`: it understood and said no; `message` is public.
 * - `away`: it cannot be reached or trusted, does not trust us, or cannot work now; message and cause are private.
 * - `slow`: it gave up at the time limit that it got.
 * - `full`: we have no room for its answer beside those of others.
 * - `unsupported`: it is a store that we do not know; `message` is public.
 */
export class StoreError extends Error {
  readonly kind: 'refused' | 'away' | 'slow' | 'full' | 'unsupported';

  constructor(kind: StoreError['kind'], message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'StoreError';
    this.kind = kind;
  }
}

/** An answer that is longer than we take: a refusal, after which fewer records may be asked for. */
export class TooLongAnswer extends StoreError {
  /** The first part of the answer. */
  readonly beginning: string;

  constructor(beginning: string, cause: unknown) {
    super('refused', 'the answer of the log store is too long; ask for fewer records', cause);
    this.name = 'TooLongAnswer';
    this.beginning = beginning;
  }
}
