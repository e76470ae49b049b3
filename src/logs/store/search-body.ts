import type { LogFilter, Page } from '../log-query.ts';
import { podNamesOf } from '../query/pod-names.ts';
import { LAST_SECOND, type TimeRange } from '../query/times.ts';
import type { Dialect } from './dialects.ts';
import type { LogSearch, SearchedNamespaces } from './log-store.ts';

/** The members of a record, as collectors write them for KubeSphere 3.4. `.keyword` has the exact text. */
export const FIELDS = {
  log: 'log',
  time: 'time',
  namespace: 'kubernetes.namespace_name',
  pod: 'kubernetes.pod_name',
  container: 'kubernetes.container_name',
  containerId: 'kubernetes.docker_id',
} as const;

/** How many endings of the last word of a phrase are looked at in each index. By default 50. */
const MOST_ENDINGS = 1_000;

const exact = (field: string): string => `${field}.keyword`;

/** A clause of the query DSL. Values of callers stand in it as JSON values only. */
type Clause = Readonly<Record<string, unknown>>;

interface QueryOptions extends Pick<Dialect, 'mostClauses'> {
  /** Only records whose place in the order is not above this one, in milliseconds since 1970. */
  readonly from?: number | undefined;
}

/** The `query` of a search: clauses that filter, without scores. A store that counts clauses takes `mostClauses`. */
export const toStoreQuery = (search: LogSearch, options: QueryOptions): Clause => {
  const { from } = options;
  const { filter, time, namespaces } = search;
  const clauses = filters(filter, endingsFor(search, options));
  const all = [...(namespaces ? [inNamespaces(namespaces)] : []), ...clauses, ...within(time)];
  return { bool: { filter: all, ...(from === undefined ? {} : { must_not: [above(from)] }) } };
};

/** The order of a page. Indices without a record, and so without a mapping, are no error. */
export const byTime = (order: Page['order'], { timeOrder }: Pick<Dialect, 'timeOrder'>): Clause[] => [
  { [FIELDS.time]: { order, unmapped_type: 'date', ...timeOrder } },
];

/** Records without a time are the oldest: their place is below that of any time. */
const above = (place: number): Clause =>
  Math.abs(place) > LAST_TIME_MS
    ? { exists: { field: FIELDS.time } }
    : { range: { [FIELDS.time]: { gte: timeText(place + 1) } } };

/** The last time that a `Date` can hold (ECMA-262, 21.4.1.1) is one millisecond later. */
const LAST_TIME_MS = 8.64e15 - 1;

/** Up to this many names are searched one by one, more of them in one clause. */
const NAMES_APART = 16;
/** White space between letters or digits: every analyzer of a store makes two words or more of that. */
const SEVERAL_WORDS = /[\p{L}\p{N}]\S*\s+\S*[\p{L}\p{N}]/u;
/** No fewer words than the store finds. */
const WORDS = /[\p{sc=Han}\p{sc=Hiragana}]|[^\s\p{P}\p{sc=Han}\p{sc=Hiragana}]+/gu;

/**
 * How many endings of each last word there is room for: each is a clause where the word stands alone, which share what the other
 * clauses leave.
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
 * Both ends included, the end with its whole second. `lte` is not asked for: the stores round a time without a fraction up, and
 * a time in milliseconds not.
 */
function within({ start, end }: TimeRange): Clause[] {
  if (start === undefined && end === undefined) return [];
  const after = start === undefined ? {} : { gte: timeText(start * 1_000) };
  // No store reads the year 10000 as a time, and none has records of it.
  const before = end === undefined || end >= LAST_SECOND ? {} : { lt: timeText((end + 1) * 1_000) };
  return [{ range: { [FIELDS.time]: { ...after, ...before } } }];
}

/** RFC 3339 with milliseconds. Epoch milliseconds before 1970 are refused by some stores. */
const timeText = (ms: number): string => new Date(ms).toISOString();
