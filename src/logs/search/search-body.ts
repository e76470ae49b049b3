import type { LogFilter, Page } from '../log-query.ts';
import { podNamesOf } from '../query/pod-names.ts';
import { LAST_SECOND, type TimeRange } from '../query/times.ts';
import type { LogSearch, SearchedNamespaces } from '../store/log-store.ts';
import type { Dialect } from './dialects.ts';

/** The fields of a record, as collectors write them for KubeSphere 3.4. The subfield `.keyword` has the exact text. */
export const FIELDS = {
  log: 'log',
  time: 'time',
  namespace: 'kubernetes.namespace_name',
  pod: 'kubernetes.pod_name',
  container: 'kubernetes.container_name',
  containerId: 'kubernetes.docker_id',
} as const;

/** The most completions of the last word of a phrase in each index; the stores' default is 50. */
const MOST_ENDINGS = 1_000;

const exact = (field: string): string => `${field}.keyword`;

/** A clause of the query DSL. Values of callers are only JSON values in it, never syntax. */
type Clause = Readonly<Record<string, unknown>>;

interface QueryOptions extends Pick<Dialect, 'mostClauses'> {
  /** Only records up to this place in the order of time (milliseconds since 1970) are found. */
  readonly from?: number | undefined;
}

/** The `query` of a search: filter clauses without scores, at most `mostClauses` in a store that counts them. */
export const toStoreQuery = (search: LogSearch, options: QueryOptions): Clause => {
  const { from } = options;
  const { filter, time, namespaces } = search;
  const clauses = filters(filter, endingsFor(search, options));
  const all = [...(namespaces ? [inNamespaces(namespaces)] : []), ...clauses, ...within(time)];
  return { bool: { filter: all, ...(from === undefined ? {} : { must_not: [above(from)] }) } };
};

/** The `sort` of a search. It also works for an index without records, which has no mapping. */
export const byTime = (order: Page['order'], { timeOrder }: Pick<Dialect, 'timeOrder'>): Clause[] => [
  { [FIELDS.time]: { order, unmapped_type: 'date', ...timeOrder } },
];

/** Matches the records after this place. Records without a time come before all others. */
const above = (place: number): Clause =>
  Math.abs(place) > LAST_TIME_MS
    ? { exists: { field: FIELDS.time } }
    : { range: { [FIELDS.time]: { gte: timeText(place + 1) } } };

/** One millisecond before the last time that a `Date` can hold (ECMA-262, 21.4.1.1). */
const LAST_TIME_MS = 8.64e15 - 1;

/** A `terms` clause of up to this many names counts as one clause for each name, a longer one as a single clause. */
const NAMES_APART = 16;
/** Matches white space between letters or digits, at which every analyzer of a store splits a text into words. */
const SEVERAL_WORDS = /[\p{L}\p{N}]\S*\s+\S*[\p{L}\p{N}]/u;
/** Matches at least as many words as the store's analyzer finds. */
const WORDS = /[\p{sc=Han}\p{sc=Hiragana}]|[^\s\p{P}\p{sc=Han}\p{sc=Hiragana}]+/gu;

/**
 * The most completions of each last word. In a phrase of one word every completion counts as a clause. So all phrases of one word share
 * the clauses that the rest of the query leaves.
 */
function endingsFor({ filter, namespaces }: LogSearch, { mostClauses, from }: QueryOptions): number {
  const { workloads, workloadQueries, pods, podQueries, containers, containerQueries, phrases } = filter;
  const { whole = [], young = [] } = namespaces ?? {};
  const all = [workloadQueries, podQueries, containerQueries, phrases].flat();
  const long = all.filter((text) => SEVERAL_WORDS.test(text));
  const names = [pods, containers, whole].map(({ length }) => Math.min(length, NAMES_APART));
  const words = long.map((text) => text.match(WORDS)?.length ?? 0);
  const others =
    (from === undefined ? 1 : 2) +
    workloads.length +
    2 * young.length +
    [...names, ...words].reduce((sum, count) => sum + count, 0);
  const room = Math.floor((mostClauses - others) / Math.max(all.length - long.length, 1));
  return Math.min(MOST_ENDINGS, Math.max(room, 1));
}

function filters(filter: LogFilter, endings: number): Clause[] {
  const { workloads, workloadQueries, pods, podQueries, containers, containerQueries, phrases } = filter;
  return [
    anyOf(workloads.map((name) => ({ regexp: { [exact(FIELDS.pod)]: { value: podNamesOf(name) } } }))),
    anyOf(workloadQueries.map(phraseIn(FIELDS.pod, endings))),
    oneOf(pods, FIELDS.pod),
    anyOf(podQueries.map(phraseIn(FIELDS.pod, endings))),
    oneOf(containers, FIELDS.container),
    anyOf(containerQueries.map(phraseIn(FIELDS.container, endings))),
    anyOf(phrases.map(phraseIn(FIELDS.log, endings))),
  ].flat();
}

const oneOf = (names: readonly string[], field: string): Clause[] =>
  names.length === 0 ? [] : [{ terms: { [exact(field)]: names } }];

const anyOf = (clauses: readonly Clause[]): Clause[] =>
  clauses.length === 0 ? [] : [{ bool: { should: clauses, minimum_should_match: 1 } }];

const phraseIn =
  (field: string, endings: number) =>
  (query: string): Clause => ({ match_phrase_prefix: { [field]: { query, max_expansions: endings } } });

function inNamespaces({ whole, young }: SearchedNamespaces): Clause {
  const clauses = [
    ...oneOf(whole, FIELDS.namespace),
    ...young.map(({ name, since }) => ({
      bool: {
        filter: [{ term: { [exact(FIELDS.namespace)]: name } }, { range: { [FIELDS.time]: { gte: timeText(since) } } }],
      },
    })),
  ];
  return { bool: { should: clauses, minimum_should_match: 1 } };
}

/**
 * Matches times within the range, which includes its whole last second. It uses `lt` with the next second. With `lte` the stores would
 * round up a time without a fraction, but not a time in milliseconds.
 */
function within({ start, end }: TimeRange): Clause[] {
  if (start === undefined && end === undefined) return [];
  const after = start === undefined ? {} : { gte: timeText(start * 1_000) };
  // The stores cannot parse a time in the year 10000, and have no records of it.
  const before = end === undefined || end >= LAST_SECOND ? {} : { lt: timeText((end + 1) * 1_000) };
  return [{ range: { [FIELDS.time]: { ...after, ...before } } }];
}

/** RFC 3339 with milliseconds. Epoch milliseconds before 1970 are refused by some stores. */
const timeText = (ms: number): string => new Date(ms).toISOString();
