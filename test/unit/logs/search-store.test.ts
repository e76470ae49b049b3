import { expect, test } from 'vitest';
import { parseLogQuery } from '../../../src/logs/query/parse-log-query.ts';
import { DIALECTS } from '../../../src/logs/store/dialects.ts';
import { SearchStore } from '../../../src/logs/store/search-store.ts';
import type { StoreRequest } from '../../../src/logs/store/store-client.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { foundBody } from '../../support/logs/canned-store.ts';

const { signal } = new AbortController();
const { filter } = parseLogQuery('', 0);
const SEARCH = { filter, time: {} };

/** A store that answers this, and what it was asked. */
function storeOn(body: object) {
  const asked: StoreRequest[] = [];
  const json = async (request: StoreRequest) => {
    asked.push(request);
    return { status: 200, body };
  };
  const options = { indexPrefix: 'logs', dialect: DIALECTS['7'], timeLimitMs: 30_000 };
  return { store: new SearchStore(options, { client: { json }, clock: new FakeClock() }), asked };
}

test('L-02 containers are counted without a record, nearly exactly up to ten thousand of them', async () => {
  const { store, asked } = storeOn(foundBody([], 9_726, { aggregations: { containers: { value: 48 } } }));
  expect(await store.count(SEARCH, signal)).toEqual({ containers: 48, logs: 9_726 });
  const cardinality = { field: 'kubernetes.docker_id.keyword', precision_threshold: 10_000 };
  expect(asked.map(({ body }) => body)).toMatchObject([{ size: 0, aggs: { containers: { cardinality } } }]);
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
