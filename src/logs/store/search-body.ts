import type { LogFilter, Page } from '../log-query.ts';
import { podNamesOf } from '../query/pod-names.ts';
import { LAST_SECOND, type TimeRange } from '../query/times.ts';
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

/** The `query` of a search: clauses that filter, without scores. */
export const toStoreQuery = ({ filter, time, namespaces }: LogSearch): Clause => ({
  bool: { filter: [...(namespaces ? [inNamespaces(namespaces)] : []), ...filters(filter), ...within(time)] },
});

/** The order of a page. Indices without a record, and so without a mapping, are no error. */
export const byTime = (order: Page['order']): Clause[] => [{ [FIELDS.time]: { order, unmapped_type: 'date' } }];

function filters(filter: LogFilter): Clause[] {
  const { workloads, workloadQueries, pods, podQueries, containers, containerQueries, phrases } = filter;
  return [
    anyOf(workloads.map((name) => ({ regexp: { [exact(FIELDS.pod)]: { value: podNamesOf(name) } } }))),
    anyOf(workloadQueries.map(phraseIn(FIELDS.pod))),
    oneOf(pods, FIELDS.pod),
    anyOf(podQueries.map(phraseIn(FIELDS.pod))),
    oneOf(containers, FIELDS.container),
    anyOf(containerQueries.map(phraseIn(FIELDS.container))),
    anyOf(phrases.map(phraseIn(FIELDS.log))),
  ].flat();
}

const oneOf = (names: readonly string[], field: string): Clause[] =>
  names.length === 0 ? [] : [{ terms: { [exact(field)]: names } }];

const anyOf = (clauses: readonly Clause[]): Clause[] =>
  clauses.length === 0 ? [] : [{ bool: { should: clauses, minimum_should_match: 1 } }];

const phraseIn =
  (field: string) =>
  (query: string): Clause => ({ match_phrase_prefix: { [field]: { query, max_expansions: MOST_ENDINGS } } });

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
