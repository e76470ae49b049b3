import { asObject } from '../../kubernetes/object.ts';
import { hasFixedLength, type Interval, intervalText } from '../query/interval.ts';
import { StoreError } from './log-store.ts';

/** The stores that speak the search API of Elasticsearch, as far as they differ for us. */
export interface Dialect {
  readonly name: string;
  /** The members that give the length of the buckets of a `date_histogram`. */
  bucketLength(interval: Interval): Readonly<Record<string, string>>;
  /** How many clauses a query may have in all, every ending of a word that stands alone counted. */
  readonly mostClauses: number;
}

/** Elasticsearch 7.2 and later, and OpenSearch: one member for lengths, one for what the calendar says. */
const byKindOfLength = (interval: Interval): Readonly<Record<string, string>> => ({
  [hasFixedLength(interval) ? 'fixed_interval' : 'calendar_interval']: intervalText(interval),
});

/** Elasticsearch 6 knows no other member; 8 does not know this one. */
const byOneMember = (interval: Interval): Readonly<Record<string, string>> => ({ interval: intervalText(interval) });

/** Clauses are counted one `bool` at a time, and no `bool` of ours comes near the limit. */
const UNCOUNTED = Number.POSITIVE_INFINITY;
/** `indices.query.bool.max_clause_count`, unless the operator has set another. */
const COUNTED = 1_024;

export const DIALECTS = {
  '6': { name: 'Elasticsearch 6', bucketLength: byOneMember, mostClauses: UNCOUNTED },
  '7': { name: 'Elasticsearch 7', bucketLength: byKindOfLength, mostClauses: UNCOUNTED },
  '8': { name: 'Elasticsearch 8', bucketLength: byKindOfLength, mostClauses: UNCOUNTED },
  opensearchv1: { name: 'OpenSearch 1', bucketLength: byKindOfLength, mostClauses: UNCOUNTED },
  opensearchv2: { name: 'OpenSearch 2', bucketLength: byKindOfLength, mostClauses: COUNTED },
} as const satisfies Record<string, Dialect>;

export type DialectName = keyof typeof DIALECTS;

/** The name of the dialect of a store that answers `GET /` with this. Throws a `StoreError` for any other store. */
export function dialectIn(body: unknown): DialectName {
  const { number, distribution } = asObject(asObject(body)['version']);
  const major = typeof number === 'string' ? number.split('.')[0] : undefined;
  const name = distribution === 'opensearch' ? `opensearchv${major}` : `${major}`;
  if (isDialect(name)) return name;
  throw new StoreError('away', `the log store has a version that is not supported: ${String(number).slice(0, 32)}`);
}

const isDialect = (name: string): name is DialectName => Object.hasOwn(DIALECTS, name);
