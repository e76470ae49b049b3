import { describe, expect, test } from 'vitest';
import { LOGS } from '../../../src/documents/kinds/log-kind.ts';
import { DIALECTS } from '../../../src/documents/search/dialects.ts';
import { byTime, toStoreQuery } from '../../../src/documents/search/search-body.ts';
import type { DocumentSearch } from '../../../src/documents/store/document-store.ts';
import { type LogLists, logConditions } from '../../support/logs/log-conditions.ts';

const filtersOf = (
  search: Partial<Omit<DocumentSearch, 'conditions'>> & { filter?: LogLists },
  mostClauses = Number.POSITIVE_INFINITY,
): unknown => {
  const { filter = {}, time = {}, ...rest } = search;
  return (
    toStoreQuery({ ...rest, time, conditions: logConditions(filter) }, { kind: LOGS, mostClauses }) as {
      bool: { filter: unknown };
    }
  ).bool.filter;
};

const anyOf = (...should: unknown[]) => ({ bool: { should, minimum_should_match: 1 } });
const phrase = (field: string, query: string) => ({
  match_phrase_prefix: { [field]: { query, max_expansions: 1_000 } },
});

describe('the query of a search', () => {
  test('of everything has no clause', () => {
    expect(filtersOf({})).toEqual([]);
  });

  test.each<[keyof LogLists, unknown]>([
    ['pods', { terms: { 'kubernetes.pod_name.keyword': ['a', 'b'] } }],
    ['containers', { terms: { 'kubernetes.container_name.keyword': ['a', 'b'] } }],
    ['pod_query', anyOf(phrase('kubernetes.pod_name', 'a'), phrase('kubernetes.pod_name', 'b'))],
    ['workload_query', anyOf(phrase('kubernetes.pod_name', 'a'), phrase('kubernetes.pod_name', 'b'))],
    ['container_query', anyOf(phrase('kubernetes.container_name', 'a'), phrase('kubernetes.container_name', 'b'))],
    ['log_query', anyOf(phrase('log', 'a'), phrase('log', 'b'))],
  ])('has the elements of %s as alternatives', (name, clause) => {
    expect(filtersOf({ filter: { [name]: ['a', 'b'] } })).toEqual([clause]);
  });

  test('has workloads as patterns of whole names', () => {
    expect(JSON.stringify(filtersOf({ filter: { workloads: ['a.b'] } }))).toContain(
      String.raw`{"regexp":{"kubernetes.pod_name.keyword":{"value":"a\\.b-`,
    );
  });

  test('holds all lists together', () => {
    expect(
      filtersOf({ filter: { pods: ['a'], containers: ['b'], log_query: ['c'] }, time: { start: 0 } }),
    ).toHaveLength(4);
  });

  test('A-45 has values of callers as JSON values alone', () => {
    const value = '"}},{"match_all":{}},{"a":{"b":"*';
    for (const name of Object.keys(LOGS.conditions)) {
      const [clause] = JSON.parse(JSON.stringify(filtersOf({ filter: { [name]: [value] } }))) as [object];
      expect(JSON.stringify(clause)).not.toContain('"match_all":{}');
    }
  });

  test.each([
    [{}, []],
    [{ start: 0 }, [{ range: { time: { gte: '1970-01-01T00:00:00.000Z' } } }]],
    [{ end: 0 }, [{ range: { time: { lt: '1970-01-01T00:00:01.000Z' } } }]],
    [
      { start: -62_135_596_800, end: -1 },
      [{ range: { time: { gte: '0001-01-01T00:00:00.000Z', lt: '1970-01-01T00:00:00.000Z' } } }],
    ],
    [{ start: 1, end: 253_402_300_799 }, [{ range: { time: { gte: '1970-01-01T00:00:01.000Z' } } }]],
  ])('LT-01 has the time %o, the end with its whole second', (time, wanted) => {
    expect(filtersOf({ time })).toEqual(wanted);
  });

  test('L-05 dates each young namespace', () => {
    const young = [{ name: 'b', since: 1_500 }];
    const since = { range: { time: { gte: '1970-01-01T00:00:01.500Z' } } };
    const ofB = { bool: { filter: [{ term: { 'kubernetes.namespace_name.keyword': 'b' } }, since] } };
    const ofA = { terms: { 'kubernetes.namespace_name.keyword': ['a'] } };
    expect(filtersOf({ namespaces: { whole: ['a'], young } })).toEqual([anyOf(ofA, ofB)]);
    expect(filtersOf({ namespaces: { whole: [], young } })).toEqual([anyOf(ofB)]);
  });

  test('without any namespace finds nothing', () => {
    expect(filtersOf({ namespaces: { whole: [], young: [] } })).toEqual([anyOf()]);
  });
});

describe('the endings of last words', () => {
  const endingsOf = (filter: LogLists, mostClauses: number, young = 0): number[] => {
    const names = Array.from({ length: young }, (_, at) => ({ name: `n-${at}`, since: 1 }));
    const text = JSON.stringify(
      filtersOf({ filter, ...(young ? { namespaces: { whole: [], young: names } } : {}) }, mostClauses),
    );
    return [...text.matchAll(/"max_expansions":(\d+)/g)].map(([, count]) => Number(count));
  };

  test.each([
    [{ log_query: ['a'] }, 0],
    [{ log_query: ['a', 'b'] }, 0],
    [{ log_query: Array(64).fill('a'), pod_query: Array(64).fill('b') }, 0],
    [{ log_query: ['a'], pods: Array(64).fill('p') }, 250],
    [{ log_query: ['several words', 'a'] }, 0],
  ])('share what a store that counts clauses allows: %#', (filter, young) => {
    const endings = endingsOf(filter, 1_024, young);
    const single = Object.values(filter)
      .flat()
      .filter((text) => text.length === 1 && text !== 'p').length;
    expect(Math.min(...endings)).toBeGreaterThanOrEqual(1);
    expect((endings[0] ?? 0) * single + 2 * young).toBeLessThanOrEqual(1_024);
    expect(Math.max(...endings)).toBeLessThanOrEqual(1_000);
  });

  test.each<[string, LogLists, number, number?]>([
    ['one word has all that the other clauses leave', { log_query: ['a'] }, 499],
    ['two words have half of it each', { log_query: ['a', 'b'] }, 249],
    ['a phrase takes a clause for each of its words', { log_query: ['a', 'of several words'] }, 496],
    ['a word has one at least', { log_query: ['a'], workloads: Array(64).fill('w'), pods: ['p'] }, 1, 60],
    ['a phrase alone has what its words leave', { log_query: ['of several words'] }, 496],
  ])('are as many as there is room for: %s', (_, filter, count, mostClauses = 500) => {
    expect(new Set(endingsOf(filter, mostClauses))).toEqual(new Set([count]));
  });

  test('are 1,000 for a store that does not', () => {
    expect(endingsOf({ log_query: ['a', 'b'] }, Number.POSITIVE_INFINITY, 250)).toEqual([1_000, 1_000]);
  });
});

describe('the order of a page', () => {
  const minded = { order: 'asc', unmapped_type: 'date' };

  test('minds no index without a record', () => {
    for (const version of ['6', '7.1'] as const)
      expect(byTime('asc', { kind: LOGS, dialect: DIALECTS[version] })).toEqual([{ time: minded }]);
  });

  test.each(['7', '8', '9', 'opensearchv1', 'opensearchv2', 'opensearchv3'] as const)(
    'L-14 takes times in nanoseconds for times: %s',
    (version) => {
      expect(byTime('asc', { kind: LOGS, dialect: DIALECTS[version] })).toEqual([
        { time: { ...minded, numeric_type: 'date' } },
      ]);
    },
  );
});

describe('a search that goes on from a place', () => {
  const notOf = (from: number): unknown =>
    (
      toStoreQuery({ conditions: [], time: {} }, { kind: LOGS, mostClauses: 500, from }) as {
        bool: { must_not: unknown };
      }
    ).bool.must_not;

  test('leaves out what is newer, and keeps what has no time', () => {
    expect(notOf(1_500)).toEqual([{ range: { time: { gte: '1970-01-01T00:00:01.501Z' } } }]);
  });

  test.each([-(2 ** 63), Number.NEGATIVE_INFINITY])(
    'has no record with a time where those without one have begun: %d',
    (place) => {
      expect(notOf(place)).toEqual([{ exists: { field: 'time' } }]);
    },
  );

  test('has a clause more, which counts', () => {
    const conditions = logConditions({ log_query: ['a'] });
    const text = JSON.stringify(toStoreQuery({ conditions, time: {} }, { kind: LOGS, mostClauses: 500, from: 1 }));
    expect(text).toContain('"max_expansions":498');
  });
});
