import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type SimulatedLogStore, startSimulatedLogStore } from '../../../dev/log-store/log-store.ts';
import type { LogDocument } from '../../../dev/log-store/stored-record.ts';
import { atEnd } from '../../support/at-end.ts';
import { type CannedStore, foundBody, hit, startCannedStore } from '../../support/logs/canned-store.ts';
import { LOGS, type LogsUnderTest, startLogs, startOwnLogs, startOwnStore } from './logs-under-test.ts';

const AT = Date.parse('2026-03-09T10:00:11.123Z');

describe.each([
  ['Elasticsearch 6', { number: '6.8.23' }],
  ['Elasticsearch 7', { number: '7.17.29' }],
  ['Elasticsearch 8', { number: '8.19.2' }],
  ['OpenSearch 1', { distribution: 'opensearch', number: '1.3.20' }],
  ['OpenSearch 2', { distribution: 'opensearch', number: '2.19.4' }],
])('an answer of %s', (name, version) => {
  const isSix = name === 'Elasticsearch 6';
  let store: CannedStore;
  let logs: LogsUnderTest;
  beforeAll(async () => {
    store = await startCannedStore(() => undefined, { version });
    logs = await startLogs({ logging: { host: store.url } });
  });
  afterAll(async () => {
    await logs?.stop();
    await store?.stop();
  });

  /** Elasticsearch 6 gives a total as a number. */
  const found = (hits: readonly unknown[], total: number, aggregations?: object) => {
    const body = foundBody(hits, total, aggregations ? { aggregations } : {});
    store.answer = () => ({ body: isSix ? { ...body, hits: { total, max_score: null, hits } } : body });
  };

  test('L-01 to a query is its total and its records', async () => {
    const kubernetes = { namespace_name: 'shop', pod_name: 'cart-7d9f8c6b5-x2x9p', container_name: 'cart', host: 'n1' };
    const time = '2026-03-09T10:00:11.123456789Z';
    found([{ _id: '1', _source: { log: 'started\n', time, kubernetes, stream: 'stdout' }, sort: [AT] }], 2);
    const { status, headers, text } = await logs.ask();
    expect([status, headers.get('content-type'), headers.get('cache-control'), headers.get('etag')]).toEqual([
      200,
      'application/json',
      'no-store',
      null,
    ]);
    expect(text).toBe(
      '{"query":{"total":2,"records":[{"log":"started\\n","time":"2026-03-09T10:00:11.123456789Z","namespace":"shop","pod":"cart-7d9f8c6b5-x2x9p","container":"cart"}]}}',
    );
  });

  test('L-01 L-02 to statistics is the numbers of containers and of logs', async () => {
    found([], 9_726, { counted0: { value: 48 } });
    const { status, text } = await logs.ask({ operation: 'statistics' });
    expect([status, text]).toEqual([200, '{"statistics":{"containers":48,"logs":9726}}']);
  });

  test('L-01 L-02 to a histogram is a total of 10,000 in three buckets', async () => {
    const time = Date.parse('2026-03-09T10:00:00Z');
    const buckets = [6_000, 3_000, 1_000].map((doc_count, at) => ({ key: time + at * 900_000, doc_count }));
    found([], 10_000, { buckets: { buckets } });
    const { status, body } = await logs.ask({ operation: 'histogram' });
    const histograms = buckets.map(({ key, doc_count }) => ({ time: key, count: doc_count }));
    expect([status, body]).toEqual([200, { histogram: { total: 10_000, histograms } }]);
    const asked = store.asked.at(-1)?.body['aggs'] as { buckets: { date_histogram: object } };
    expect(asked.buckets.date_histogram).toEqual({
      field: 'time',
      min_doc_count: 1,
      ...(isSix ? { interval: '15m' } : { fixed_interval: '15m' }),
    });
  });

  test('L-01 to an export is the messages', async () => {
    found([hit(AT, 'b\n'), hit(AT - 1, 'a')], 2);
    const { status, text } = await logs.ask({ operation: 'export' });
    expect([status, text]).toEqual([200, 'b\na\n']);
  });

  test.each([
    ['query', '{"query":{"total":0,"records":[]}}'],
    ['statistics', '{"statistics":{"containers":0,"logs":0}}'],
    ['histogram', '{"histogram":{"total":0,"histograms":[]}}'],
    ['export', ''],
  ])('L-02 without a hit is empty: %s', async (operation, wanted) => {
    found([], 0, operation === 'query' ? undefined : { counted0: { value: 0 }, buckets: { buckets: [] } });
    const { status, text } = await logs.ask({ operation });
    expect([status, text]).toEqual([200, wanted]);
  });
});

describe('a query', () => {
  let store: CannedStore;
  let logs: LogsUnderTest;
  beforeAll(async () => {
    store = await startCannedStore(() => undefined);
    logs = await startLogs({ logging: { host: store.url } });
  });
  beforeEach(() => {
    store.answer = ({ body }) => ({
      body: foundBody(
        Array.from({ length: Number(body['size'] ?? 0) }, (_, at) => hit(AT - at)),
        1_000_000,
      ),
    });
  });
  afterAll(async () => {
    await logs?.stop();
    await store?.stop();
  });

  const fieldsOf = (body: { details: { causes: { field: string }[] } }): string[] =>
    body.details.causes.map(({ field }) => field);

  test.each([
    ['from=9990&size=10', 10],
    ['size=10000', 10_000],
    ['size=0', 0],
    ['', 10],
  ])('L-07 of a million records, "%s", is answered with %i of them and the exact total', async (parameters, count) => {
    const { status, body } = await logs.ask(parameters);
    expect([status, body.query.total, body.query.records.length]).toEqual([200, 1_000_000, count]);
  });

  test.each([
    ['from=9991&size=10', 'from'],
    ['size=1000000', 'size'],
    ['size=10001', 'size'],
    ['from=10000', 'from'],
    ['size=99999999999999999999999999', 'size'],
    ['size=-1', 'size'],
    ['from=1e3', 'from'],
  ])('L-07 A-45 %s is 400, and the store is not asked', async (parameters, field) => {
    const before = store.asked.length;
    const { status, body } = await logs.ask(parameters);
    expect([status, fieldsOf(body), store.asked.length]).toEqual([400, [field], before]);
  });

  const element = (length: number): string => 'x'.repeat(length);
  test.each([
    ['an element of 257 bytes', element(257)],
    ['an element of 8 KiB', element(8 * 1024)],
    ['65 elements', Array(65).fill('x').join(',')],
  ])('L-08 with %s is 400', async (_, value) => {
    for (const name of ['log_query', 'pods', 'namespaces', 'workloads']) {
      const { status, body } = await logs.ask({ [name]: value });
      expect([status, fieldsOf(body)]).toEqual([400, [name]]);
    }
  });

  test('L-08 with a value of 64 KiB is refused before it is read', async () => {
    expect((await logs.ask({ log_query: element(64 * 1024) })).status).toBe(431);
  });

  test.each([
    ['1w', 200],
    ['2w', 400],
    ['7d', 200],
    ['15m', 200],
    ['0m', 400],
    ['15', 400],
    ['1ms', 400],
  ])('L-13 with the interval %s is %i', async (interval, wanted) => {
    store.answer = () => ({ body: foundBody([], 0, { aggregations: { buckets: { buckets: [] } } }) });
    const { status, body } = await logs.ask({ operation: 'histogram', interval });
    expect([status, body.details ? fieldsOf(body) : []]).toEqual([wanted, wanted === 400 ? ['interval'] : []]);
  });
});

describe('times', () => {
  let store: CannedStore;
  let logs: LogsUnderTest;
  beforeAll(async () => {
    store = await startCannedStore(() => ({ body: foundBody([]) }));
    logs = await startLogs({ logging: { host: store.url } });
  });
  afterAll(async () => {
    await logs?.stop();
    await store?.stop();
  });

  const ranges = () => {
    const { query } = (store.asked.at(-1)?.body ?? {}) as {
      query: { bool: { filter: { range?: { time: object } }[] } };
    };
    return query.bool.filter.flatMap(({ range }) => (range ? [range.time] : []));
  };

  test.each([
    ['start_time=1700000000', { gte: '2023-11-14T22:13:20.000Z' }],
    ['start_time=0', { gte: '1970-01-01T00:00:00.000Z' }],
    ['start_time=-1', { gte: '1969-12-31T23:59:59.000Z' }],
    ['start_time=%2B1700000000', { gte: '2023-11-14T22:13:20.000Z' }],
    ['start_time=253402300799', { gte: '9999-12-31T23:59:59.000Z' }],
    ['end_time=1700000000', { lt: '2023-11-14T22:13:21.000Z' }],
    ['start_time=1700000000&end_time=1700000000', { gte: '2023-11-14T22:13:20.000Z', lt: '2023-11-14T22:13:21.000Z' }],
  ])('LT-01 %s asks the store for that time', async (parameters, range) => {
    expect((await logs.ask(parameters)).status).toBe(200);
    expect(ranges()).toEqual([range]);
  });

  test.each(['', 'start_time=', 'start_time=&end_time='])('LT-02 "%s" leaves the ends open', async (parameters) => {
    expect((await logs.ask(parameters)).status).toBe(200);
    expect(ranges()).toEqual([]);
  });

  test('LT-02 the open end of a histogram is an hour ahead', async () => {
    const before = Math.floor(Date.now() / 1_000);
    await logs.ask({ operation: 'histogram' });
    const [{ lt } = { lt: '' }] = ranges() as { lt: string }[];
    const ahead = Date.parse(lt) / 1_000 - 1 - before;
    expect([ahead >= 3_600, ahead <= 3_700]).toEqual([true, true]);
  });

  const ABOVE = ' (milliseconds are not accepted)';
  test.each([
    ['LT-03', 'abc', ''],
    ['LT-03', '1700000000.5', ''],
    ['LT-03', '1.7e9', ''],
    ['LT-03', '0x10', ''],
    ['LT-03', ' 1', ''],
    ['LT-03', '2023-11-14T22:13:20Z', ''],
    ['LT-03', '-62135596801', ''],
    ['LT-03', '9223372036854775808', ABOVE],
    ['LT-04', '1700000000000', ABOVE],
    ['LT-04', '1700000000000000000', ABOVE],
    ['LT-04', '253402300800', ABOVE],
  ])('%s the time "%s" is 400', async (_, value, hint) => {
    for (const name of ['start_time', 'end_time']) {
      const { status, body } = await logs.ask({ [name]: value });
      const message = `invalid query parameter "${name}": "${value}" is not a time in whole seconds${hint}`;
      const cause = { reason: 'FieldValueInvalid', message, field: name };
      expect([status, body.message, body.details.causes]).toEqual([400, message, [cause]]);
    }
  });

  test.each([3_600, 2 * 86_400])('LT-05 A-45 an end that is %i s before the start is 400', async (seconds) => {
    const before = store.asked.length;
    const times = { start_time: '1700000000', end_time: String(1_700_000_000 - seconds) };
    const { status, body } = await logs.ask(times);
    expect([status, body.details.causes[0].field, store.asked.length]).toEqual([400, 'end_time', before]);
  });

  test('LT-06 a time that is given twice is 400', async () => {
    const { status, body } = await logs.ask('start_time=1&start_time=2');
    expect([status, body.details.causes[0].reason]).toEqual([400, 'FieldValueDuplicate']);
  });
});

const record = (pod: string, log: string, at: number, namespace = 'a'): LogDocument => ({
  log,
  time: new Date(AT + at).toISOString(),
  kubernetes: { namespace_name: namespace, pod_name: pod, container_name: 'c', docker_id: pod },
});

describe('what callers write', () => {
  let store: SimulatedLogStore;
  let logs: LogsUnderTest;
  const texts = ['alone * here', 'said " OR 1=1 and', 'closed }} braces', 'two\nlines', 'a plain one'];
  beforeAll(async () => {
    store = await startSimulatedLogStore();
    store.add(texts.map((text, at) => record(`p-${at}`, text, at)));
    logs = await startLogs({ logging: { host: store.url } });
  });
  afterAll(async () => {
    await logs?.stop();
    await store?.stop();
  });

  const FIELDS = ['log_query', 'pod_query', 'workload_query', 'container_query', 'pods', 'containers', 'workloads'];

  test.each<[string, readonly string[]]>([
    ['*', []],
    ['**', []],
    ['"', []],
    ['}}', []],
    ['\n', []],
    ['" OR 1=1', ['said " OR 1=1 and']],
    ['closed }} braces', ['closed }} braces']],
    ['two\nlines', ['two\nlines']],
    ['alone OR plain', []],
    ['alone AND here', []],
    ['log:alone', []],
    ['a*', ['alone * here', 'said " OR 1=1 and', 'a plain one']],
  ])('L-08 A-45 %j is words in their order, never syntax', async (value, wanted) => {
    const { status, body } = await logs.ask({ log_query: value, sort: 'asc' });
    expect([status, body.query.records.map(({ log }: { log: string }) => log)]).toEqual([200, wanted]);
  });

  test.each(['*', '.*', '" OR 1=1', '}}', '\n', 'p-.', 'p-0|p-1', '(', '[', '\\', '"}}],"must":[{"match_all":{}'])(
    'L-08 A-45 %j finds nothing by name',
    async (value) => {
      for (const field of FIELDS.filter((name) => !name.endsWith('_query'))) {
        const { status, body } = await logs.ask({ [field]: value });
        expect([status, body.query.total]).toEqual([200, 0]);
      }
    },
  );
});

describe('the pods of a workload', () => {
  const W = (length: number): string => `${'w'.repeat(length - 3)}-ok`;
  const X5 = 'a1z9e';
  const HASH = 'bcdfghjklm';

  /** A name, its own pods, and pods of others that look like them. */
  const CASES: readonly [string, readonly string[], readonly string[]][] = [
    [
      W(46),
      [`${W(46)}-${HASH}-${X5}`, `${W(46)}-b-${X5}`, `${W(46)}-0`, `${W(46)}-12`, `${W(46)}-${X5}`],
      [
        `${W(46)}`,
        `${W(46)}-`,
        `${W(46)}-${HASH}n-${X5}`,
        `${W(46)}-abc-${X5}`,
        `${W(46)}-${HASH}-${X5}e`,
        `${W(46)}-x-0`,
      ],
    ],
    [
      W(47),
      [`${W(47)}-${HASH}${X5}`, `${W(47)}-0`, `${W(47)}-${X5}`],
      [`${W(47)}-${HASH.slice(1)}${X5}`, `${W(47)}-b-${X5}`, `${W(47)}-${HASH}-${X5}`],
    ],
    [W(57), [`${W(57)}-${X5}`, `${W(57)}-7`], [`${W(57)}-b${X5}`, `${W(57)}${X5}`]],
    [W(58), [`${W(58)}${X5}`, `${W(58)}-7`], [`${W(58)}-${X5}`, `${W(58).slice(0, 57)}-${X5}`]],
    [W(63), [`${W(63).slice(0, 58)}${X5}`, `${W(63)}-7`], [`${W(63)}${X5}`, `${W(63).slice(0, 57)}${X5}`]],
    [
      'api.v1',
      [`api.v1-${HASH}-${X5}`, 'api.v1-0', `api.v1-${X5}`],
      [`apixv1-${HASH}-${X5}`, 'apixv1-0', `api-v1-${X5}`],
    ],
  ];

  test.each(CASES)(
    'L-09 %s are those of docs/contract/logging.md, section 4.2, and no others',
    async (name, own, others) => {
      const store = await startSimulatedLogStore();
      atEnd(() => store.stop());
      store.add([...own, ...others].map((pod, at) => record(pod, pod, at)));
      const { ask } = await startOwnLogs({ logging: { host: store.url } });
      const { query } = (await ask({ workloads: name, sort: 'asc', size: '100' })).body;
      expect(query.records.map(({ pod }: { pod: string }) => pod)).toEqual(own);
    },
  );
});

describe('what was withdrawn', () => {
  const BASE = '/kapis/logging.gatehouse.io/v1alpha2';
  const USE = 'this endpoint was removed in release 3.4; use GET /kapis/tenant.gatehouse.io/v1alpha2/logs';
  const SETTINGS =
    'this endpoint was removed in release 3.4; log collection is configured in the cluster, not through this server';

  test.each([true, false])(
    'L-12 is 410, and anything else there 404, to whoever is signed in (with a store: %s)',
    async (isOn) => {
      const store = await startOwnStore(() => undefined);
      const { service, token } = await startOwnLogs({ logging: isOn ? { host: store.url } : {} });
      const joe = (await service.signIn('joe')).access_token;
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
        for (const [path, message] of [
          ['/workspaces/w', USE],
          ['/namespaces/a', `${USE}?namespaces=a`],
          ['/namespaces/a/workloads/b', `${USE}?namespaces=a&workloads=b`],
          ['/namespaces/a/pods/b', `${USE}?namespaces=a&pods=b`],
          ['/fluentbit/outputs', SETTINGS],
          ['/fluentbit/outputs/x', SETTINGS],
        ]) {
          const { status, body } = await service.call(BASE + path, { method, token: joe });
          expect([method, path, status, body.reason, body.message]).toEqual([method, path, 410, 'Gone', message]);
          expect((await service.call(BASE + path, { method })).status).toBe(401);
        }
        for (const path of ['/cluster', '/namespaces/a/pods/b/containers/c', '/x']) {
          const { status, body } = await service.call(BASE + path, { method, token });
          expect([method, path, status, body.kind]).toEqual([method, path, 404, 'Status']);
        }
      }
    },
  );

  test('without a store the log query is 404 and not in discovery', async () => {
    const { ask, service, token } = await startOwnLogs({ logging: {} });
    const { status, body } = await ask();
    expect([status, body.message]).toEqual([404, 'logging is not configured']);
    const { text } = await service.call('/kapis/tenant.gatehouse.io/v1alpha2', { token });
    expect(text).not.toContain('logs');
  });

  test('with one it is, and it takes GET and HEAD alone', async () => {
    const store = await startOwnStore(() => ({ body: foundBody([]) }));
    const { service, token } = await startOwnLogs({ logging: { host: store.url } });
    const { body } = await service.call('/kapis/tenant.gatehouse.io/v1alpha2', { token });
    expect(body.resources.map(({ name }: { name: string }) => name)).toContain('logs');
    expect((await service.call(LOGS, { token, method: 'HEAD' })).status).toBe(200);
    for (const method of ['POST', 'PUT', 'DELETE']) {
      const { status, headers } = await service.call(LOGS, { token, method });
      expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
    }
  });
});
