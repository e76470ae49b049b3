import { describe, expect, test } from 'vitest';
import { LOGS } from '../../../src/documents/kinds/log-kind.ts';
import { DIALECTS } from '../../../src/documents/search/dialects.ts';
import { SearchStore } from '../../../src/documents/search/search-store.ts';
import type { LogStoreRequest } from '../../../src/documents/store/store-requests.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { foundBody } from '../../support/logs/canned-store.ts';

const { signal } = new AbortController();
const SEARCH = { conditions: [], time: {} };

/** A store that answers this, and what it was asked. */
function storeOn(body: object) {
  const asked: LogStoreRequest[] = [];
  const json = async (request: LogStoreRequest) => {
    asked.push(request);
    return { status: 200, body };
  };
  const options = { kind: LOGS, indexPrefix: 'logs', dialect: DIALECTS['7'], timeLimitMs: 30_000 };
  return { store: new SearchStore(options, { client: { json }, clock: new FakeClock() }), asked };
}

test('L-02 containers are counted without a record, nearly exactly up to ten thousand of them', async () => {
  const { store, asked } = storeOn(foundBody([], 9_726, { aggregations: { counted0: { value: 48 } } }));
  expect(await store.count(SEARCH, signal)).toEqual({ counted: 48, total: 9_726 });
  const cardinality = { field: 'kubernetes.docker_id.keyword', precision_threshold: 10_000 };
  expect(asked.map(({ body }) => body)).toMatchObject([{ size: 0, aggs: { counted0: { cardinality } } }]);
});

test('L-07 totals are asked for exactly, and no answer may be that of some shards', async () => {
  const { store, asked } = storeOn(foundBody([], 7));
  expect(await store.find(SEARCH, { order: 'asc', from: 20, size: 10 }, signal)).toEqual({ total: 7, records: [] });
  expect(asked[0]?.path.split('?')).toEqual([
    '/logs*/_search',
    'ignore_unavailable=true&allow_partial_search_results=false&track_total_hits=true',
  ]);
  expect(asked[0]).toMatchObject({
    purpose: 'search',
    method: 'POST',
    body: { from: 20, size: 10, timeout: '30000ms' },
  });
});

describe('L-14 the indices of a search of some days', () => {
  const DAYS = { conditions: [], time: { start: 1_773_050_400, end: 1_773_054_000 } };
  const PAGE = { order: 'asc', from: 0, size: 10 } as const;
  const named = (...indices: string[]) => ({
    aggregations: { indices: { buckets: indices.map((key) => ({ key, doc_count: 1 })) } },
  });

  /** A store with these answers to the question for its indices. */
  function storeWith(...answers: { status?: number; body: object }[]) {
    const asked: string[] = [];
    const clock = new FakeClock();
    let [last] = answers;
    const json = async ({ purpose, path }: LogStoreRequest) => {
      asked.push(`${purpose} ${path.split('?')[0]}`);
      if (purpose === 'search') return { status: 200, body: foundBody([], 0) };
      last = answers.shift() ?? last;
      return { status: 200, ...last } as { status: number; body: unknown };
    };
    const options = { kind: LOGS, indexPrefix: 'logs', dialect: DIALECTS['7'], timeLimitMs: 30_000 };
    const store = new SearchStore(options, { client: { json }, clock });
    return { find: () => store.find(DAYS, PAGE, signal), asked, clock };
  }

  test('are asked for once a minute, without a right but to search', async () => {
    const { find, asked, clock } = storeWith({ body: named('logs-2026.03.08') }, { body: named('logs-000001') });
    for (let time = 0; time < 2; time++) await find();
    expect(asked).toEqual(['indices /logs*/_search', ...Array(2).fill('search /logs-2026.03.09/_search')]);
    await clock.advance(60_000);
    await find();
    expect(asked.slice(3)).toEqual(['indices /logs*/_search', 'search /logs*/_search']);
  });

  test.each([
    ['of a rollover', 'logs-000001'],
    ['of a data stream', '.ds-logs-2026.03.09-000001'],
    ['behind an alias', 'app-000007'],
  ])('are all where there is one %s', async (_, name) => {
    const { find, asked } = storeWith({ body: named('logs-2026.03.09', name) });
    await find();
    expect(asked.at(-1)).toBe('search /logs*/_search');
  });

  test('are those of days where the question is refused, and it is asked again five seconds later', async () => {
    const { find, asked, clock } = storeWith({ status: 403, body: {} });
    for (let time = 0; time < 2; time++) await find();
    const search = 'search /logs-2026.03.09/_search';
    expect(asked).toEqual(['indices /logs*/_search', search, search]);
    await clock.advance(5_000);
    await find();
    expect(asked.slice(3)).toEqual(['indices /logs*/_search', search]);
  });

  test.each([
    ['it timed out', { timed_out: true }],
    ['shards failed', { _shards: { total: 90, failed: 60 } }],
  ])('are all, and are asked for again, where the answer is that of some shards: %s', async (_, part) => {
    const days = named('logs-2026.03.09');
    const { find, asked } = storeWith({ body: { ...part, ...days } }, { body: { ...part, ...named('logs-000001') } });
    for (let time = 0; time < 3; time++) await find();
    const all = 'search /logs*/_search';
    expect(asked).toEqual(['indices /logs*/_search', all, 'indices /logs*/_search', all, all]);
  });
});
