import { asObject } from '../../runtime/text/json-value.ts';
import { publicText } from '../../stores/public-text.ts';
import { StoreError } from '../../stores/store-error.ts';
import { hasFixedLength, type Interval, intervalText } from '../query/interval.ts';

/** How the stores with Elasticsearch's search API differ for us. */
export interface Dialect {
  readonly name: string;
  /** The members that set the bucket length of a `date_histogram`. */
  bucketLength(interval: Interval): Readonly<Record<string, string>>;
  /** The most clauses of a query; each completion of a prefix counts as one. */
  readonly mostClauses: number;
  /**
   * The members that a sort by time needs if some indices have times in nanoseconds (`date_nanos`). Without them each index is sorted
   * by numbers in its own unit, so the records with nanoseconds would be the newest.
   */
  readonly timeOrder: Readonly<Record<string, string>>;
}

/** Elasticsearch 7.2 and later, and OpenSearch: one member for fixed lengths, one for calendar units. */
const byKindOfLength = (interval: Interval): Readonly<Record<string, string>> => ({
  [hasFixedLength(interval) ? 'fixed_interval' : 'calendar_interval']: intervalText(interval),
});

/** Elasticsearch before 7.2 has only this member; 8 no longer has it. */
const byOneMember = (interval: Interval): Readonly<Record<string, string>> => ({ interval: intervalText(interval) });

/** These stores count the clauses of each `bool` separately, and none of ours comes near the limit. */
const UNCOUNTED = Number.POSITIVE_INFINITY;
/** The default of `indices.query.bool.max_clause_count`. */
const COUNTED = 1_024;

/** Elasticsearch 7.2 and later, and OpenSearch. */
const AS_DATE = { numeric_type: 'date' };
/** Elasticsearch before 7.2 refuses a search with `numeric_type`. 6 has no times in nanoseconds; 7.0 and 7.1 sort them separately. */
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
 * The name of the dialect of a store that answers `GET /` with this body. Throws a `StoreError`: `unsupported` for another version,
 * `away` for a body without a version.
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

/** In compatibility mode (`compatibility.override_main_response_version`), OpenSearch reports that it is Elasticsearch 7.10.2. */
const DISGUISE = '7';
/** The release of OpenSearch by its version of Lucene, which is reported correctly in that mode, too. */
const BY_LUCENE: Readonly<Record<string, string>> = { '8': '1', '9': '2', '10': '3' };

/** Whether an OpenSearch reports that it is an Elasticsearch 7: no Elasticsearch 7 has Lucene 9 or later. */
const isDisguised = (release: string, library: string | undefined): boolean =>
  release === DISGUISE && Number(library ?? 0) > 8;

/** The releases of Elasticsearch 7 that have neither `fixed_interval` nor `numeric_type`. */
const BEFORE_7_2 = /^7\.[01](?:\.|$)/;

const majorOf = (version: unknown): string | undefined =>
  typeof version === 'string' ? /^(\d{1,4})(?:\.|$)/.exec(version)?.[1] : undefined;

const isDialect = (name: string): name is DialectName => Object.hasOwn(DIALECTS, name);
