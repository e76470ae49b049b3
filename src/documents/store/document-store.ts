import type { DocumentCondition } from '../document-kind.ts';
import type { Page } from '../document-query.ts';
import type { Bucket, Interval } from '../query/interval.ts';
import type { TimeRange } from '../query/times.ts';

/** Selects the records of one search. */
export interface DocumentSearch {
  readonly conditions: readonly DocumentCondition[];
  readonly time: TimeRange;
  /** Absent: all namespaces, deleted ones included. */
  readonly namespaces?: SearchedNamespaces;
}

/** The namespaces whose records a search may find. */
export interface SearchedNamespaces {
  /** Namespaces whose records all count. */
  readonly whole: readonly string[];
  /** Namespaces whose records count only from `since` on, in milliseconds since 1970. */
  readonly young: readonly { readonly name: string; readonly since: number }[];
}

/** Makes a record of these members, as texts. Members that are empty in the store are left out. */
export const toRecord = (members: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(members)
      .map(([name, value]) => [name, textOf(value)] as const)
      .filter(([, text]) => text !== ''),
  );

/** A value of the store as a text. `null`, an empty list and an absent value become ''; other values that are not text become JSON. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  const isNothing = value === undefined || value === null || (Array.isArray(value) && value.length === 0);
  return isNothing ? '' : JSON.stringify(value);
}

/** A record and its place in the order of time, in milliseconds since 1970. */
export interface FoundRecord {
  readonly at: number;
  /** What the answer has of it (`DocumentKind.toRecord`). */
  readonly record: object;
}

export interface Found {
  /** The number of all records that match the search. */
  readonly total: number;
  /** The records of the page. */
  readonly records: readonly FoundRecord[];
}

/** The number of different ids (containers for logs), as exact as the store counts them, and of documents. */
export interface Statistics {
  readonly counted: number;
  readonly total: number;
}

export interface Histogram {
  readonly total: number;
  /** In any order; empty buckets may be absent. */
  readonly buckets: readonly Bucket[];
}

/** The message of a record and its place in the order of time. */
export interface FoundMessage {
  readonly at: number;
  readonly log: string;
}

/**
 * A store of one kind of documents. Every method sends new requests, gives up when the signal aborts, and rejects with a `StoreError`.
 * @example
 * ```ts
 * const kept = [{ at: 5_000, record: { log: 'started', namespace: 'shop' } }];
 * // The caller may read `namespaces` only. A real store applies the filter, the time, the order and the signal as well.
 * const hits = ({ namespaces }: DocumentSearch) =>
 *   kept.filter(({ record }) => namespaces?.whole.includes(record.namespace) ?? true);
 * const store: DocumentStore = {
 *   find: async (asked, { from, size }) => ({ total: hits(asked).length, records: hits(asked).slice(from, from + size) }),
 *   count: async (asked) => ({ counted: 1, total: hits(asked).length }),
 *   histogram: () => Promise.reject(new StoreError('refused', 'this store makes no histograms')),
 *   async *messages(asked) {
 *     yield hits(asked).map(({ at, record }) => ({ at, log: record.log }));
 *   },
 * };
 *
 * const search = (name: string) => ({ conditions: [], time: {}, namespaces: { whole: [name], young: [] } });
 * assert.equal((await store.count(search('shop'), AbortSignal.timeout(1_000))).total, 1);
 * assert.equal((await store.count(search('kube-system'), AbortSignal.timeout(1_000))).total, 0);
 * ```
 */
export interface DocumentStore {
  find(search: DocumentSearch, page: Page, signal: AbortSignal): Promise<Found>;
  count(search: DocumentSearch, signal: AbortSignal): Promise<Statistics>;
  histogram(search: DocumentSearch, interval: Interval, signal: AbortSignal): Promise<Histogram>;
  /**
   * The messages, the newest first, in pieces as the store sends them; the next piece is requested when the previous one has been
   * consumed. State that the store keeps for the search (a scroll) is released when the loop ends, for any reason.
   */
  messages(search: DocumentSearch, signal: AbortSignal): AsyncGenerator<readonly FoundMessage[], void>;
}
