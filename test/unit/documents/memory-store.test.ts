import { describe, expect, test } from 'vitest';
import type { DocumentCondition } from '../../../src/documents/document-kind.ts';
import { EVENTS } from '../../../src/documents/kinds/event-kind.ts';
import { textAt, textsOf } from '../../../src/documents/memory/kept-document.ts';
import { MemoryStore } from '../../../src/documents/memory/memory-store.ts';
import { beginningOf, parseInterval } from '../../../src/documents/query/interval.ts';
import type { DocumentSearch } from '../../../src/documents/store/document-store.ts';
import { TimeSlices } from '../../../src/runtime/time-slices.ts';

const PAGE = { order: 'asc', from: 0, size: 100 } as const;

const storeOf = (sources: readonly { readonly at: number; readonly [member: string]: unknown }[]) =>
  new MemoryStore({
    kind: EVENTS,
    slices: new TimeSlices({ monotonic: () => 0 }),
    documents: async () =>
      sources.map((source) => ({
        at: source.at,
        id: textAt(source, 'involvedObject.uid') || textAt(source, 'regarding.uid'),
        texts: textsOf(source, EVENTS),
        read: () => source,
      })),
  });

const inNamespace = (namespace: string, at: number) => ({ at, involvedObject: { namespace, uid: namespace } });
const timesOf = async (store: MemoryStore, search: Partial<DocumentSearch>): Promise<unknown[]> =>
  (await store.find({ conditions: [], time: {}, ...search }, PAGE)).records.map(({ at }) => at);

describe('a search in memory', () => {
  const store = storeOf([
    inNamespace('a', 999),
    inNamespace('a', 1_000),
    inNamespace('b', 2_999),
    inNamespace('', 3_000),
  ]);

  test('takes the first and the whole last second', async () => {
    expect(await timesOf(store, { time: { start: 1, end: 2 } })).toEqual([1_000, 2_999]);
    expect(await timesOf(store, { time: { start: 3 } })).toEqual([3_000]);
    expect(await timesOf(store, {})).toEqual([999, 1_000, 2_999, 3_000]);
  });

  test('E-01 finds nothing of other namespaces, nor what is older than a young one', async () => {
    const young = [{ name: 'a', since: 1_000 }];
    expect(await timesOf(store, { namespaces: { whole: ['b'], young } })).toEqual([1_000, 2_999]);
    expect(await timesOf(store, { namespaces: { whole: [], young: [] } })).toEqual([]);
  });

  test('counts ids once, and documents in their buckets', async () => {
    const all = { conditions: [], time: {} };
    expect(await store.count(all)).toEqual({ counted: 2, total: 4 });
    const { total, buckets } = await store.histogram(all, { count: 1, unit: 's' });
    expect([total, buckets.map(({ time }) => time)]).toEqual([4, [0, 1_000, 2_000, 3_000]]);
  });

  test('exports nothing', async () => {
    await expect(store.messages().next()).rejects.toThrow('only logs can be exported');
  });

  test.each<[Omit<DocumentCondition, 'field'>, string, boolean]>([
    [{ match: 'exact', values: ['x', 'Back-off'] }, 'Back-off', true],
    [{ match: 'exact', values: ['back-off'] }, 'Back-off', false],
    [{ match: 'part', values: ['k-o'] }, 'Back-off', true],
    [{ match: 'part', values: ['K-o'] }, 'Back-off', false],
    [{ match: 'phrase', values: ['BACK off pul'] }, 'Back-off pulling image', true],
    [{ match: 'phrase', values: ['back pulling'] }, 'Back-off pulling image', false],
    [{ match: 'phrase', values: ['off image'] }, 'Back-off pulling image', false],
    [{ match: 'phrase', values: ['image x'] }, 'Back-off pulling image', false],
    [{ match: 'phrase', values: ['*'] }, 'Back-off pulling image *', false],
  ])('compares %o with %j', async (condition, message, isFound) => {
    const one = storeOf([{ at: 5, message }]);
    expect(await timesOf(one, { conditions: [{ ...condition, field: 'message' }] })).toEqual(isFound ? [5] : []);
  });

  test('E-04 reads both forms', async () => {
    const conditions: DocumentCondition[] = [{ field: 'name', match: 'exact', values: ['web'] }];
    const both = storeOf([
      { at: 1, involvedObject: { name: 'web' } },
      { at: 2, regarding: { name: 'web' } },
      { at: 3, involvedObject: { name: 'other' } },
    ]);
    expect(await timesOf(both, { conditions })).toEqual([1, 2]);
    await expect(both.count({ conditions, time: {} })).resolves.toEqual({ counted: 0, total: 2 });
  });
});

test.each([
  ['15m', '2026-03-09T10:00:00Z'],
  ['1w', '2026-03-09T00:00:00Z'],
  ['1M', '2026-03-01T00:00:00Z'],
  ['1q', '2026-01-01T00:00:00Z'],
  ['1y', '2026-01-01T00:00:00Z'],
])('a bucket of %s begins where its calendar says', (text, begins) => {
  const interval = parseInterval(text, 'interval');
  if ('reason' in interval) throw new Error(interval.message);
  expect(beginningOf(Date.parse('2026-03-09T10:14:59.999Z'), interval)).toBe(Date.parse(begins));
});
