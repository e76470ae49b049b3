import { asObject } from '../../kubernetes/object.ts';
import { hasFixedLength, type Interval, intervalText } from '../query/interval.ts';
import { StoreError } from './log-store.ts';
import { publicText } from './public-text.ts';

/** The stores that speak the search API of Elasticsearch, as far as they differ for us. */
export interface Dialect {
  readonly name: string;
  /** The members that give the length of the buckets of a `date_histogram`. */
  bucketLength(interval: Interval): Readonly<Record<string, string>>;
  /** The most clauses of a query; each completion of a prefix counts as one. */
  readonly mostClauses: number;
  /**
   * What a sort by time needs so that indices whose times have nanoseconds (`date_nanos`) are ordered among the others: without it
   * each index is ordered by numbers in its own unit, and those of nanoseconds are the newest.
   */
  readonly timeOrder: Readonly<Record<string, string>>;
}

/** Elasticsearch 7.2 and later, and OpenSearch: one member for fixed lengths, one for calendar units. */
const byKindOfLength = (interval: Interval): Readonly<Record<string, string>> => ({
  [hasFixedLength(interval) ? 'fixed_interval' : 'calendar_interval']: intervalText(interval),
});

/** Elasticsearch before 7.2 knows no other member; 8 does not know this one. */
const byOneMember = (interval: Interval): Readonly<Record<string, string>> => ({ interval: intervalText(interval) });

/** Clauses are counted one `bool` at a time, and no `bool` of ours comes near the limit. */
const UNCOUNTED = Number.POSITIVE_INFINITY;
/** `indices.query.bool.max_clause_count`, unless the operator has set another. */
const COUNTED = 1_024;

/** Elasticsearch 7.2 and later, and OpenSearch. */
const AS_DATE = { numeric_type: 'date' };
/** Elasticsearch before 7.2 refuses a search with the member. 6 has no times in nanoseconds; 7.0 and 7.1 sort them apart. */
const AS_IT_IS = {};

const NEWER = { bucketLength: byKindOfLength, timeOrder: AS_DATE };

export const DIALECTS = {
  '6': { name: 'Elasticsearch 6', bucketLength: byOneMember, timeOrder: AS_IT_IS, mostClauses: UNCOUNTED },
  '7': { name: 'Elasticsearch 7', ...NEWER, mostClauses: UNCOUNTED },
  '7.1': {
    name: 'Elasticsearch 7.0 or 7.1',
    bucketLength: byOneMember,
    timeOrder: AS_IT_IS,
    mostClauses: UNCOUNTED,
  },
  '8': { name: 'Elasticsearch 8', ...NEWER, mostClauses: UNCOUNTED },
  '9': { name: 'Elasticsearch 9', ...NEWER, mostClauses: UNCOUNTED },
  opensearchv1: { name: 'OpenSearch 1', ...NEWER, mostClauses: UNCOUNTED },
  opensearchv2: { name: 'OpenSearch 2', ...NEWER, mostClauses: COUNTED },
  opensearchv3: { name: 'OpenSearch 3', ...NEWER, mostClauses: COUNTED },
} as const satisfies Record<string, Dialect>;

export type DialectName = keyof typeof DIALECTS;

/**
 * The name of the dialect of a store that answers `GET /` with this. Throws a `StoreError`: `unsupported` for a store of another
 * version, `away` for what says no version.
 */
export function dialectIn(body: unknown): DialectName {
  const { version, tagline } = asObject(body);
  const { number, distribution, lucene_version: lucene } = asObject(version);
  const release = majorOf(number);
  if (release === undefined) throw new StoreError('away', 'the log store does not say its version');
  const library = majorOf(lucene);
  const isOpenSearch =
    distribution === 'opensearch' || `${tagline}`.includes('OpenSearch') || isDisguised(release, library);
  const major = isOpenSearch && release === DISGUISE ? BY_LUCENE[library ?? ''] : release;
  const name = isOpenSearch ? `opensearchv${major}` : BEFORE_7_2.test(String(number)) ? '7.1' : release;
  if (isDialect(name)) return name;
  const found = publicText(`${isOpenSearch ? 'OpenSearch' : 'Elasticsearch'} ${String(number).slice(0, 32)}`);
  throw new StoreError(
    'unsupported',
    `the log store is ${found}, which is not supported; Elasticsearch 6 to 9, OpenSearch 1 to 3 and Loki 3 are`,
  );
}

/** What OpenSearch says it is in compatibility mode (`compatibility.override_main_response_version`): an Elasticsearch 7.10.2. */
const DISGUISE = '7';
/** The release of OpenSearch by the version of Lucene, which is the true one in that mode too. */
const BY_LUCENE: Readonly<Record<string, string>> = { '8': '1', '9': '2', '10': '3' };

/** No Elasticsearch 7 has a Lucene 9. */
const isDisguised = (release: string, library: string | undefined): boolean =>
  release === DISGUISE && Number(library ?? 0) > 8;

/** The releases of Elasticsearch 7 that know neither `fixed_interval` nor `numeric_type`. */
const BEFORE_7_2 = /^7\.[01](?:\.|$)/;

const majorOf = (version: unknown): string | undefined =>
  typeof version === 'string' ? /^(\d{1,4})(?:\.|$)/.exec(version)?.[1] : undefined;

const isDialect = (name: string): name is DialectName => Object.hasOwn(DIALECTS, name);
