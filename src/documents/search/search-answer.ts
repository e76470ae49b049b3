import { asArray, asObject } from '../../runtime/text/json-value.ts';
import { publicText } from '../../stores/public-text.ts';
import type { StoreAnswer } from '../../stores/store-client.ts';
import { StoreError } from '../../stores/store-error.ts';
import type { DocumentKind } from '../document-kind.ts';
import { MESSAGE } from '../kinds/log-kind.ts';
import type { Bucket } from '../query/interval.ts';
import { type FoundMessage, type FoundRecord, textOf } from '../store/document-store.ts';
import { forbids, refusesUser } from '../store/rejected-account.ts';

/** The part of a search's answer that we read. */
export interface SearchAnswer {
  readonly total: number;
  readonly hits: readonly unknown[];
  readonly aggregations: Readonly<Record<string, unknown>>;
  /** The scroll to continue, if the search asked for one. */
  readonly scrollId: string | undefined;
}

const NOTHING: SearchAnswer = { total: 0, hits: [], aggregations: {}, scrollId: undefined };

/** Reads the answer to a search. If none of its indices exists, the result is empty. Throws a `StoreError` for every other failure. */
export function readSearchAnswer(answer: StoreAnswer): SearchAnswer {
  if (isWithoutIndex(answer)) return NOTHING;
  const body = asObject(readAnswer(answer));
  if (body['timed_out'] === true) throw gaveUp();
  // A search forbids partial results by a parameter; the request for the next piece of a scroll has no such parameter.
  if (Number(asObject(body['_shards'])['failed'] ?? 0) > 0)
    throw new StoreError('away', 'the log store has answered for some of its shards only');
  const { total, hits } = asObject(body['hits']);
  // A number in Elasticsearch 6, an object since 7.
  const count = typeof total === 'number' ? total : asObject(total)['value'];
  if (typeof count !== 'number') throw unreadable();
  const scrollId = body['_scroll_id'];
  return {
    total: count,
    hits: asArray(hits),
    aggregations: asObject(body['aggregations']),
    scrollId: typeof scrollId === 'string' ? scrollId : undefined,
  };
}

/** The body of a good answer. Throws a `StoreError` for any other. */
export function readAnswer({ status, body }: StoreAnswer): unknown {
  if (status >= 200 && status < 300 && body !== undefined) return body;
  if (status >= 200 && status < 300) throw unreadable();
  const { type, reason } = causeIn(body);
  if (type === 'search_timeout_exception' || reason.startsWith('Time exceeded')) throw gaveUp();
  if (status === 401) throw refusesUser();
  if (status === 403) throw forbids(`${type}: ${reason}`);
  if (type === '' || BUSY.has(type))
    throw new StoreError('away', `the log store answers ${status} ${publicText(`${type}: ${reason}`)}`);
  throw new StoreError('refused', publicText(`${type}: ${reason}`));
}

const gaveUp = (): StoreError => new StoreError('slow', 'the log store gave up at its time limit');
const unreadable = (): StoreError => new StoreError('away', 'the log store answers what cannot be read');

/** Errors that are about the store and not about the query: callers get a 503. */
const BUSY: ReadonlySet<string> = new Set([
  'es_rejected_execution_exception',
  'rejected_execution_exception',
  'circuit_breaking_exception',
  'cluster_block_exception',
  'master_not_discovered_exception',
  'no_shard_available_action_exception',
  'security_exception',
  'task_cancelled_exception',
]);

const isWithoutIndex = ({ status, body }: StoreAnswer): boolean =>
  status === 404 && causeIn(body).type === 'index_not_found_exception';

/** The root cause, else that of the first failed shard, else `caused_by`, else the error itself: the stores leave some of these empty. */
function causeIn(body: unknown): { readonly type: string; readonly reason: string } {
  const error = asObject(asObject(body)['error']);
  const { root_cause: roots, failed_shards: shards, caused_by: cause } = error;
  const candidates = [asArray(roots)[0], asObject(asArray(shards)[0])['reason'], cause, error];
  for (const candidate of candidates) {
    const { type, reason } = asObject(candidate);
    if (typeof type === 'string' && type !== '') return { type, reason: typeof reason === 'string' ? reason : '' };
  }
  return { type: '', reason: '' };
}

/** The records in the hits of a search that is sorted by time. */
export const recordsIn = (hits: readonly unknown[], { toRecord }: Pick<DocumentKind, 'toRecord'>): FoundRecord[] =>
  hits.map((hit) => ({ at: placeOf(hit), record: toRecord(asObject(asObject(hit)['_source'])) }));

/** The messages in the hits of a search that is sorted by time. The message of a record without one is empty. */
export const messagesIn = (hits: readonly unknown[]): FoundMessage[] =>
  hits.map((hit) => ({ at: placeOf(hit), log: textOf(asObject(asObject(hit)['_source'])[MESSAGE]) }));

/** The buckets of a `date_histogram`. */
export function bucketsOf(aggregation: unknown): Bucket[] {
  return asArray(asObject(aggregation)['buckets']).map((bucket) => {
    const { key, doc_count: count } = asObject(bucket);
    if (!isTime(key) || typeof count !== 'number') throw unreadable();
    return { time: key, count };
  });
}

/** Whether a `Date` can hold this time (ECMA-262, 21.4.1.1): otherwise the bucket after it could not be computed. */
const isTime = (value: unknown): value is number => Number.isInteger(value) && Math.abs(value as number) <= 8.64e15;

/** The values of a `terms` aggregation. */
export const termsIn = (aggregation: unknown): unknown[] =>
  asArray(asObject(aggregation)['buckets']).map((bucket) => asObject(bucket)['key']);

/** The scroll id in the beginning of an answer, where it comes before the records. */
export const scrollIdIn = (beginning: string): string | undefined => /"_scroll_id":"([^"\\]+)"/.exec(beginning)?.[1];

export function cardinalityIn(aggregation: unknown): number {
  const { value = 0 } = asObject(aggregation);
  return typeof value === 'number' ? value : 0;
}

/** The place of a record in the order of time. */
export function placeOf(hit: unknown): number {
  const at = asArray(asObject(hit)['sort'])[0];
  return typeof at === 'number' ? at : Number.NEGATIVE_INFINITY;
}
