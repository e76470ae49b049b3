import { describe, expect, test } from 'vitest';
import { foundBody } from '../../support/logs/canned-store.ts';
import { startOwnStore } from '../logs/logs-under-test.ts';
import { SearchStand } from './search-stand.ts';

const DAYS = { start_time: '1773050400', end_time: '1773136800' };
const EVENT = {
  involvedObject: { kind: 'Pod', name: 'web-1' },
  reason: 'BackOff',
  lastTimestamp: '2026-03-09T10:00:00Z',
};
const found = foundBody([{ _index: 'i', _source: EVENT, sort: [1] }], 1);

const startWithStore = async (settings = {}) => {
  const store = await startOwnStore(() => ({ body: found }));
  return { store, stand: await SearchStand.start({ events: { host: store.url, ...settings } }) };
};

describe('events in a store', () => {
  test('E-03 are those of the days of the configured prefix, and are answered as they are stored', async () => {
    const { store, stand } = await startWithStore();
    const { headers, body } = await stand.events(`${new URLSearchParams(DAYS)}`);
    expect(body).toEqual({ query: { total: 1, records: [EVENT] } });
    expect(headers.get('warning')).toBeNull();
    expect(store.asked[0]?.path).toMatch(
      /^\/ks-logstash-events-2026\.03\.09,ks-logstash-events-2026\.03\.10\/_search\?/,
    );
    const other = await startWithStore({ indexPrefix: 'ks-whizard-events' });
    await other.stand.events('');
    expect(other.store.asked[0]?.path).toMatch(/^\/ks-whizard-events\*\/_search\?/);
  });

  test('E-04 are asked for in both forms, each value as text', async () => {
    const { store, stand } = await startWithStore();
    await stand.events('involved_object_name_filter=a*,b&reason_search=b*ck&message_search=x%20y&type_filter=Warning');
    const anyOf = (...should: object[]) => ({ bool: { should, minimum_should_match: 1 } });
    const phrase = (place: string, query: string) => ({
      match_phrase_prefix: { [place]: { query, max_expansions: expect.any(Number) } },
    });
    expect(store.asked[0]?.body['query']).toEqual({
      bool: {
        filter: [
          anyOf(
            { terms: { 'involvedObject.name.keyword': ['a*', 'b'] } },
            { terms: { 'regarding.name.keyword': ['a*', 'b'] } },
          ),
          anyOf({ wildcard: { 'reason.keyword': { value: String.raw`*b\*ck*` } } }),
          anyOf(phrase('message', 'x y'), phrase('note', 'x y')),
          anyOf(phrase('type', 'Warning')),
        ],
      },
    });
  });

  test('E-01 are asked for in the namespaces of the caller only, from when these were made', async () => {
    const { store, stand } = await startWithStore();
    stand.allowEverywhere('tenant.gatehouse.io', 'events');
    expect((await stand.events('', 'joe')).body).toEqual({ query: { total: 0, records: [] } });
    expect(store.asked).toEqual([]);
    stand.kinds.allow('red', { resource: 'events' });
    await stand.kinds.clock.spend(60_000); // the refusals are remembered for a while
    await stand.events('', 'joe');
    const query = store.asked[0]?.body['query'];
    const since = (place: string) => ({
      bool: { filter: [{ term: { [place]: 'red' } }, { range: { lastTimestamp: { gte: expect.any(String) } } }] },
    });
    const should = ['involvedObject.namespace.keyword', 'regarding.namespace.keyword'].map(since);
    expect(query).toEqual({ bool: { filter: [{ bool: { should, minimum_should_match: 1 } }] } });
  });
});
