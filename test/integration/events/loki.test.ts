import { describe, expect, test } from 'vitest';
import type { Canned, CannedStore } from '../../support/logs/canned-store.ts';
import { startOwnStore } from '../logs/logs-under-test.ts';
import { SearchStand } from './search-stand.ts';

const good = (result: readonly unknown[]): Canned => ({ body: { status: 'success', data: { result } } });
const number = (count: number): Canned => good([{ metric: {}, value: [1, `${count}`] }]);
const EVENT = { involvedObject: { kind: 'Pod', namespace: 'red', name: 'web-1' }, reason: 'BackOff', type: 'Warning' };
const LABELS = { namespace: 'red', kind: 'Pod', type: 'Warning' };
/** The name of Loki is found by what it answers. */
const DETECTED: Readonly<Record<string, Canned>> = {
  '/': { status: 404, text: 'not found' },
  '/loki/api/v1/status/buildinfo': { body: { version: '3.5.0' } },
};
const DAY = 'start_time=1773014400&end_time=1773100799';

async function startWithLoki(answer: CannedStore['answer'], more: object = {}) {
  const store = await startOwnStore((asked) => DETECTED[asked.path] ?? answer(asked), { version: 'its own' });
  const stand = await SearchStand.start({ events: { host: store.url, ...more } });
  const queries = () => store.asked.flatMap(({ form }) => form['query'] ?? []);
  return { store, stand, queries };
}

describe('events in Loki', () => {
  test('E-06 are answered as their lines say, by their labels and members', async () => {
    const { stand, queries } = await startWithLoki(({ path }) =>
      path.endsWith('/query')
        ? number(1)
        : good([{ stream: LABELS, values: [['1773050400000000000', JSON.stringify(EVENT)]] }]),
    );
    const words =
      'involved_object_name_filter=web-1,a.b&involved_object_kind_filter=pod&reason_search=ack&message_search=x%20"y&type_filter=Warning';
    const { status, body } = await stand.events(`${DAY}&${words}`);
    expect([status, body]).toEqual([200, { query: { total: 1, records: [EVENT] } }]);
    const selector = '{kind=~".+",type=~".+",kind=~"(?i).*(?:pod).*",type=~"(?i).*(?:Warning).*"}';
    const filter = (places: string[], pattern: string): string => {
      const names = places.map((_, at) => `found_${at}`);
      const reads = names.map((name, at) => `${name}=${JSON.stringify(places[at])}`).join(', ');
      return ` | json ${reads} | __error__="" | ${names.map((name) => `${name}=~${JSON.stringify(`^(?:${pattern})$`)}`).join(' or ')} | drop ${names.join(', ')}`;
    };
    const query = [
      selector,
      filter(['involvedObject.name', 'regarding.name'], 'web-1|a\\.b'),
      filter(['reason'], '(?s).*(?:ack).*'),
      filter(['message', 'note'], '(?is).*(?:x "y).*'),
    ].join('');
    expect(new Set(queries())).toEqual(new Set([query, `sum(count_over_time(${query}[86400000ms] offset 1ns))`]));
  });

  test('E-06 are asked for in the namespaces of the caller only', async () => {
    const { stand, queries, store } = await startWithLoki(() => number(0));
    stand.allowEverywhere('tenant.gatehouse.io', 'events');
    expect((await stand.events(DAY, 'joe')).body).toEqual({ query: { total: 0, records: [] } });
    expect(store.asked).toEqual([]);
    stand.kinds.allow('red', { resource: 'events' });
    await stand.kinds.clock.spend(60_000); // the refusals are remembered for a while
    await stand.events(`operation=statistics`, 'joe');
    expect(queries().length).toBeGreaterThan(0);
    for (const query of queries()) expect(query).toContain('{kind=~".+",type=~".+",namespace=~"red"}');
  });

  test('E-06 of a namespace that was not asked for make the answer unreadable', async () => {
    const { stand } = await startWithLoki(({ path }) =>
      path.endsWith('/query')
        ? number(1)
        : good([{ stream: LABELS, values: [['1773050400000000000', JSON.stringify(EVENT)]] }]),
    );
    const { status } = await stand.events(`${DAY}&involved_object_namespace_filter=green`);
    expect(status).toBe(503);
  });

  test('E-06 are counted by the digits of their uids where Loki counts no more of them', async () => {
    const tooMany: Canned = { status: 400, text: 'maximum number of series (500) reached for a single query' };
    const { stand, queries } = await startWithLoki(({ form }) => {
      const { query = '' } = form;
      if (!query.startsWith('count(')) return number(900);
      return query.includes('=~".+"') && query.includes('found_0=~"^(?:.+)$"') ? tooMany : number(3);
    });
    const { body } = await stand.events(`${DAY}&operation=statistics`);
    expect(body).toEqual({ statistics: { resources: 17 * 3, events: 900 } });
    const counted = queries().filter((query) => query.startsWith('count(sum by (uid_0,uid_1)'));
    expect(counted).toHaveLength(18);
    expect(counted.filter((query) => query.includes('found_0=~"^(?:[^0123456789abcdef].*)$"'))).toHaveLength(1);
  });

  test('E-06 are asked for with the tenant of Loki', async () => {
    const { stand, store } = await startWithLoki(() => number(0), { version: 'loki', lokiTenant: 'team' });
    await stand.events(DAY);
    expect(store.asked[0]?.headers['x-scope-orgid']).toBe('team');
  });
});

describe('audit records', () => {
  test('E-06 are not read from Loki, and the answer says so', async () => {
    const store = await startOwnStore(({ path }) => DETECTED[path] ?? number(0), { version: 'its own' });
    const stand = await SearchStand.start({ auditing: { host: store.url } });
    const { status, body } = await stand.auditRecords('');
    expect([status, body.message]).toEqual([
      502,
      'the store of audit records is Loki, which is supported for logs and events only',
    ]);
  });
});
