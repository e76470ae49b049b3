import { describe, expect, test } from 'vitest';
import { listing, object } from './worded-kind.ts';

const createdAt = (day: number) => ({ creationTimestamp: `2026-01-0${day}T00:00:00Z` });

/** The worked example of docs/contract/kinds.md, in another order. */
const { put, keys, total } = listing('pods.');
put(object('b/six', {}, createdAt(1)), object('a/one', {}, createdAt(2)), object('a/two', {}, createdAt(1)));
put(object('b/one', {}, createdAt(2)));

describe('order and pages over two namespaces', () => {
  test.each([
    ['KO-01', '', 'b/one a/one a/two b/six'],
    ['KO-02', 'ascending=true', 'b/six a/two a/one b/one'],
    ['KO-03', 'sortBy=createTime', 'b/one a/one a/two b/six'],
    ['KO-03', 'sortBy=creationTimestamp', 'b/one a/one a/two b/six'],
    ['KO-03', 'sortBy=startTime', 'b/one a/one a/two b/six'],
    ['KO-03', 'sortBy=updateTime', 'b/one a/one a/two b/six'],
    ['KO-04', 'sortBy=name', 'a/two b/six b/one a/one'],
    ['KO-04', 'sortBy=name&ascending=1', 'a/one b/one b/six a/two'],
    ['KO-05', 'limit=2', 'b/one a/one'],
    ['KO-05', 'limit=2&page=', 'b/one a/one'],
    ['KO-06', 'limit=2&page=2', 'a/two b/six'],
    ['KO-06', 'limit=3&page=2', 'b/six'],
    ['KO-06', 'limit=3&page=2&ascending=true', 'b/one'],
    ['KO-07', 'limit=2&page=3', ''],
    ['KO-07', 'limit=2&page=9', ''],
    ['KO-07', 'limit=2&page=0', ''],
    ['KO-07', 'limit=2&page=-1', ''],
    ['KO-07', 'limit=2&page=9223372036854775807', ''],
    ['KO-07', 'limit=0', ''],
    ['KO-07', 'limit=0&page=2', ''],
    ['KO-07', 'limit=-2', ''],
    ['KO-07', 'limit=-2&page=-3', ''],
    ['KO-08', 'limit=-1&page=7', 'b/one a/one a/two b/six'],
    ['KO-08', 'page=5', 'b/one a/one a/two b/six'],
    ['KO-08', 'limit=9223372036854775807', 'b/one a/one a/two b/six'],
    ['KO-09', 'limit=4&page=4611686018427387905', ''],
  ])('%s ?%s answers "%s" of 4', (_id, query, wanted) => {
    expect([keys(query), total(query)]).toEqual([wanted, 4]);
  });

  test.each([1, 2, 3, 4, 5])('KO-10 a walk in pages of %i meets every object once, in order', (limit) => {
    const pages = [1, 2, 3, 4, 5].map((page) => keys(`limit=${limit}&page=${page}`)).filter((page) => page !== '');
    expect(pages.join(' ')).toBe('b/one a/one a/two b/six');
  });

  test.each([
    ['KO-11', 'namespace=a', 'a/one a/two'],
    ['KO-11', 'names=one', 'b/one a/one'],
    ['KO-11', 'namespace=b&limit=1&page=2', 'b/six'],
  ])('%s ?%s answers "%s" of 2', (_id, query, wanted) => {
    expect([keys(query), total(query)]).toEqual([wanted, 2]);
  });
});

describe('KO-12 an order by a value of the kind', () => {
  const updated = (day: number) => ({
    status: { conditions: [{ lastUpdateTime: `2026-01-0${day}T00:00:00Z` }, { lastTransitionTime: null }] },
  });

  test('is by the value, then by name and namespace, and its reverse is exact', () => {
    const { put, keys } = listing('deployments.apps');
    put(object('a/one', updated(5)), object('b/one', updated(5)), object('a/two', updated(9)), object('b/six'));
    expect(keys('sortBy=updateTime')).toBe('a/two b/one a/one b/six');
    expect(keys('sortBy=updateTime&ascending=true')).toBe('b/six a/one b/one a/two');
    expect(keys('sortBy=updateTime&limit=2&page=2')).toBe('a/one b/six');
    expect(keys('sortBy=updateTime&namespace=b')).toBe('b/one b/six');
  });

  test('follows every change of the value, and objects that go and come back', () => {
    const { put, keys, remove } = listing('deployments.apps');
    put(object('a/one', updated(5)), object('b/one', updated(4)));
    expect(keys('sortBy=updateTime')).toBe('a/one b/one');
    put(object('b/one', updated(6)));
    expect(keys('sortBy=updateTime')).toBe('b/one a/one');
    remove('b/one');
    expect(keys('sortBy=updateTime')).toBe('a/one');
    put(object('b/one', updated(4)));
    expect(keys('sortBy=updateTime')).toBe('a/one b/one');
  });

  test('is that of a whole list, too', () => {
    const { relist, keys } = listing('deployments.apps');
    relist(object('a/one', updated(5)), object('b/one', updated(6)));
    expect(keys('sortBy=updateTime')).toBe('b/one a/one');
    relist(object('a/one', updated(7)), object('b/one', updated(6)));
    expect(keys('sortBy=updateTime')).toBe('a/one b/one');
  });

  test('is that of a list in which little changed', () => {
    const { relist, keys } = listing('deployments.apps');
    const same = [1, 2, 3, 4].map((day) => object(`a/day-${day}`, updated(day)));
    relist(...same, object('a/new', updated(9)));
    relist(...same, object('a/new', updated(1)));
    expect(keys('sortBy=updateTime')).toBe('a/day-4 a/day-3 a/day-2 a/new a/day-1');
  });

  test('has pages of its own beside those of another order', () => {
    const { put, keys } = listing('jobs.batch');
    const ended = (type: string, day: number) => ({
      status: { conditions: [{ type, status: 'True', lastTransitionTime: `2026-01-0${day}T00:00:00Z` }] },
    });
    put(object('a/done', ended('Complete', 5)), object('a/bad', ended('Failed', 4)));
    expect([keys('sortBy=status&limit=1'), keys('sortBy=updateTime&limit=1')]).toEqual(['a/bad', 'a/done']);
  });

  test('may be one of texts', () => {
    const { put, keys } = listing('jobs.batch');
    const ended = (type: string) => ({ status: { conditions: [{ type, status: 'True' }] } });
    put(object('a/x', ended('Complete')), object('b/x', ended('Failed')), object('a/y'), object('b/y'));
    expect(keys('sortBy=status')).toBe('b/y a/y b/x a/x');
    expect(keys('sortBy=status&ascending=true')).toBe('a/x b/x a/y b/y');
  });

  test('takes an object without the time for the oldest', () => {
    const { put, keys } = listing('cronjobs.batch');
    const scheduled = (lastScheduleTime: unknown) => ({ status: { lastScheduleTime } });
    put(object('a/x', scheduled('1960-01-01T00:00:00Z')), object('a/y', scheduled(null)), object('a/z'));
    expect(keys('sortBy=lastScheduleTime')).toBe('a/x a/z a/y');
  });
});
