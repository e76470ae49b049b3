import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Canned, type CannedStore, startCannedStore } from '../../support/logs/canned-store.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import {
  type LogsUnderTest,
  letJoeRead,
  namespace,
  signInJoe,
  startLogs,
  startOwnClusterWithRights,
  startOwnLogs,
  startOwnStore,
} from './logs-under-test.ts';

const RANGE = '/loki/api/v1/query_range';
const INSTANT = '/loki/api/v1/query';
const BUILD = '/loki/api/v1/status/buildinfo';

const DAY_S = 86_400;
const HOUR_NS = 3_600n * 1_000_000_000n;
/** A Monday. */
const START = Date.parse('2026-03-09T00:00:00Z') / 1_000;
/** Two weeks later. */
const END = `${START + 14 * DAY_S - 1}`;
const ns = (seconds: number): string => `${BigInt(seconds) * 1_000_000_000n}`;

const good = (result: readonly unknown[]): Canned => ({ body: { status: 'success', data: { result } } });
const number = (count: number): Canned => good(count === 0 ? [] : [{ metric: {}, value: [1, `${count}`] }]);
type Value = readonly [string, string];
const stream = (pod: string, values: readonly Value[], namespace = 'shop') => ({
  stream: { namespace, pod, container: 'c', app: 'x' },
  values,
});

let store: CannedStore;
let logs: LogsUnderTest;
beforeAll(async () => {
  store = await startCannedStore(() => number(0), { version: 'its own' });
  logs = await startLogs({ logging: { host: store.url, version: 'loki' } });
});
afterAll(async () => {
  await logs?.stop();
  await store?.stop();
});
afterEach(() => void store.asked.splice(0));

const asked = (path: string) => store.asked.filter((one) => one.path === path).map(({ form }) => form);

/** A Loki that has these lines of one stream, the oldest first. */
const holding =
  (lines: readonly Value[]): CannedStore['answer'] =>
  ({ path, form }) => {
    if (path === INSTANT) return number(lines.length);
    const { start = '', end = '', limit, direction } = form;
    const within = lines.filter(([at]) => BigInt(at) >= BigInt(start) && BigInt(at) < BigInt(end));
    return good([stream('p', (direction === 'forward' ? within : within.toReversed()).slice(0, Number(limit)))]);
  };

describe('L-01 Loki answers', () => {
  test('a query: lines of all streams in the order of time, and how many there are', async () => {
    store.answer = ({ path }) =>
      path === INSTANT
        ? number(7)
        : good([
            stream('a', [
              ['1773050411123000000', 'third\n'],
              ['1773050410000000000', 'first'],
            ]),
            stream('b', [['1773050410500000001', 'second']]),
          ]);
    const { status, body } = await logs.ask({
      start_time: `${START}`,
      end_time: `${START + DAY_S - 1}`,
      size: '3',
    });
    const record = { namespace: 'shop', container: 'c' };
    expect([status, body]).toEqual([
      200,
      {
        query: {
          total: 7,
          records: [
            { log: 'third\n', time: '2026-03-09T10:00:11.123Z', ...record, pod: 'a' },
            { log: 'second', time: '2026-03-09T10:00:10.500000001Z', ...record, pod: 'b' },
            { log: 'first', time: '2026-03-09T10:00:10.000Z', ...record, pod: 'a' },
          ],
        },
      },
    ]);
    expect(asked(RANGE)).toEqual([
      { query: '{namespace=~".+"}', start: ns(START), end: ns(START + DAY_S), limit: '4', direction: 'backward' },
    ]);
    const query = 'sum(count_over_time({namespace=~".+"}[86400000ms] offset 1ns))';
    expect(asked(INSTANT)).toEqual([{ query, time: ns(START + DAY_S) }]);
  });

  test('the total alone, without a line', async () => {
    store.answer = () => number(1_000_000);
    expect((await logs.ask({ size: '0' })).body).toEqual({ query: { total: 1_000_000, records: [] } });
    expect(asked(RANGE)).toEqual([]);
  });

  test('statistics: distinct containers, and lines', async () => {
    store.answer = ({ form }) => number(form['query']?.startsWith('count(') ? 48 : 9_726);
    const { body } = await logs.ask({ operation: 'statistics', start_time: `${START}`, end_time: `${START}` });
    expect(body).toEqual({ statistics: { containers: 48, logs: 9_726 } });
    expect(asked(INSTANT).map(({ query }) => query)).toContain(
      'count(sum by (namespace,pod,container) (count_over_time({namespace=~".+"}[1000ms] offset 1ns)))',
    );
  });

  test('statistics: of more containers than it counts apart, those of some pods after those of others', async () => {
    const streams = Array.from({ length: 600 }, (_, at) => ({ namespace: 'shop', pod: `p-${at}`, container: 'c' }));
    store.answer = ({ path, form }) => {
      if (path === '/loki/api/v1/series') return { body: { status: 'success', data: streams } };
      if (!form['query']?.startsWith('count(')) return number(9_726);
      const [, pods] = /,pod=~"([^"]*)"/.exec(form['query']) ?? [];
      if (!pods) return { status: 400, text: 'maximum number of series (500) reached for a single query' };
      return number(pods.split('|').length);
    };
    const { body } = await logs.ask({ operation: 'statistics', log_query: 'x' });
    expect(body).toEqual({ statistics: { containers: 600, logs: 9_726 } });
    expect(asked('/loki/api/v1/series').map((form) => form['match[]'])).toEqual(['{namespace=~".+"}']);
    expect(asked(INSTANT).filter(({ query }) => query?.includes(',pod=~')).length).toBe(3);
  });

  test('a histogram: the total, the first and the last bucket in a question each, and all others in one', async () => {
    const [from, to] = [START + 1_800, START + 5 * 3_600 + 599];
    store.answer = ({ path, form }) => {
      const [, length] = /\[(\d+)ms\]/.exec(form['query'] ?? '') ?? [];
      if (path === INSTANT) return number({ '1800000': 2, '600000': 3 }[length ?? ''] ?? 35);
      return good([
        {
          metric: {},
          values: [
            [START + 2 * 3_600, '10'],
            [START + 4 * 3_600, '20'],
          ],
        },
      ]);
    };
    const { body } = await logs.ask({
      ...{ operation: 'histogram', interval: '1h', start_time: `${from}`, end_time: `${to}` },
    });
    const bucket = (hour: number, count: number) => ({ time: (START + hour * 3_600) * 1_000, count });
    expect(body).toEqual({
      histogram: {
        total: 35,
        histograms: [bucket(0, 2), bucket(1, 10), bucket(2, 0), bucket(3, 20), bucket(4, 0), bucket(5, 3)],
      },
    });
    expect(asked(RANGE)).toEqual([
      {
        query: 'sum(count_over_time({namespace=~".+"}[3600000ms] offset 1ms))',
        ...{ start: ns(START + 2 * 3_600), end: ns(START + 5 * 3_600), step: '3600' },
      },
    ]);
    expect(
      asked(INSTANT)
        .map(({ query = '', time }) => [/\[(\d+)ms\]/.exec(query)?.[1], time])
        .sort(),
    ).toEqual([
      ['16800000', ns(START + 5 * 3_600 + 600)],
      ['1800000', ns(START + 3_600)],
      ['600000', ns(START + 5 * 3_600 + 600)],
    ]);
  });

  test('a histogram within one bucket', async () => {
    store.answer = () => number(4);
    const times = { start_time: `${START + 60}`, end_time: `${START + 119}` };
    const { body } = await logs.ask({ operation: 'histogram', interval: '1h', ...times });
    expect(body).toEqual({ histogram: { total: 4, histograms: [{ time: START * 1_000, count: 4 }] } });
    expect(asked(INSTANT).map(({ time }) => time)).toEqual([ns(START + 120), ns(START + 120)]);
    expect(asked(RANGE)).toEqual([]);
  });

  test('an export: the newest first, each line with its end', async () => {
    store.answer = holding([
      ['1773050410000000001', 'one\n'],
      ['1773050410000000002', '\u001b[33mtwo\u001b[0m'],
    ]);
    const { status, text } = await logs.ask({ operation: 'export', start_time: `${START}`, end_time: END });
    expect([status, text]).toEqual([200, 'two\none\n']);
  });

  test('nothing: L-02, L-03', async () => {
    store.answer = () => good([]);
    expect((await logs.ask()).body).toEqual({ query: { total: 0, records: [] } });
    expect((await logs.ask({ operation: 'statistics' })).body).toEqual({ statistics: { containers: 0, logs: 0 } });
    expect((await logs.ask({ operation: 'histogram' })).body).toEqual({ histogram: { total: 0, histograms: [] } });
    expect((await logs.ask({ operation: 'export' })).text).toBe('');
  });
});

describe('pages of Loki', () => {
  /** Three lines of each time: pages end within what has one time. */
  const lines = (count: number): Value[] =>
    Array.from({ length: count }, (_, at) => [`${BigInt(ns(START)) + BigInt(Math.floor(at / 3))}`, `line ${at}`]);

  test.each([
    ['desc', 9_990, 10],
    ['asc', 4_999, 2],
    ['asc', 0, 10_000],
  ])('L-07 are put together %s from %i, %i records', async (sort, from, size) => {
    const all = lines(12_000);
    store.answer = holding(all);
    const { body } = await logs.ask({ start_time: `${START}`, end_time: END, sort, from: `${from}`, size: `${size}` });
    const wanted = (sort === 'asc' ? all : all.toReversed()).slice(from, from + size).map(([, log]) => log);
    expect(body.query.records.map(({ log }: { log: string }) => log)).toEqual(wanted);
    for (const { limit } of asked(RANGE)) expect(Number(limit)).toBeLessThanOrEqual(5_000);
  });

  test('L-10 make an export whole, up to its limit', async () => {
    const all = lines(2_500);
    store.answer = holding(all);
    const { text } = await logs.ask({ operation: 'export', start_time: `${START}`, end_time: END });
    expect(text.split('\n').slice(0, -1)).toEqual(all.toReversed().map(([, log]) => log));
    expect(asked(RANGE).length).toBeLessThanOrEqual(7);
    expect(asked(RANGE).every(({ limit }) => Number(limit) <= 501)).toBe(true);
  });

  test('are the same whatever a page ends with, when lines of several pods have one time', async () => {
    const pods = ['a', 'b', 'c'].map((pod) =>
      [0, 1, 2]
        .flatMap((at) => Array.from({ length: 8 }, (_, n): Value => [ns(START + at), `${pod} ${at} ${n}`]))
        .map((value) => ({ pod, value })),
    );
    // Pod by pod where one time is cut, and another pod first each time.
    let turn = 0;
    store.answer = ({ path, form }) => {
      if (path === INSTANT) return number(72);
      const { start = '', end = '', limit } = form;
      const all = [...pods.slice(turn % 3), ...pods.slice(0, turn++ % 3)].flat();
      const within = all
        .filter(({ value: [at] }) => BigInt(at) >= BigInt(start) && BigInt(at) < BigInt(end))
        .sort((a, b) => Number(BigInt(b.value[0]) - BigInt(a.value[0])))
        .slice(0, Number(limit));
      return good(
        [...Map.groupBy(within, ({ pod }) => pod)].map(([pod, some]) =>
          stream(
            pod,
            some.map(({ value }) => value),
          ),
        ),
      );
    };
    const found: string[] = [];
    for (let from = 0; from < 72; from += 10) {
      const { body } = await logs.ask({ start_time: `${START}`, end_time: END, from: `${from}`, size: '10' });
      found.push(...body.query.records.map(({ log }: { log: string }) => log));
    }
    expect([found.length, new Set(found).size]).toEqual([72, 72]);
  });

  test('are asked for in smaller pieces where they are too long, which an export cannot ask for itself', async () => {
    const all = lines(300);
    const long = 'x'.repeat(100_000);
    store.answer = holding(all.map(([at, text]) => [at, `${text} ${long}`]));
    const { status, text } = await logs.ask({ operation: 'export', start_time: `${START}`, end_time: END });
    expect([
      status,
      text
        .split('\n')
        .slice(0, -1)
        .map((line) => line.slice(0, -long.length - 1)),
    ]).toEqual([200, all.toReversed().map(([, log]) => log)]);
  });

  test('do not go round for ever where more lines than a page have one time', async () => {
    store.answer = holding(Array.from({ length: 6_000 }, (_, at) => [ns(START), `line ${at}`]));
    const { status, body } = await logs.ask({ start_time: `${START}`, end_time: END, size: '10000' });
    expect([status, body.message]).toEqual([
      502,
      'the log store refuses the query: 5000 lines or more have one time; ask for another time',
    ]);
  });
});

describe('the time asked of Loki', () => {
  const span = async (parameters: Readonly<Record<string, string>>): Promise<readonly [bigint, bigint]> => {
    store.answer = () => good([]);
    store.asked.splice(0);
    expect((await logs.ask(parameters)).status).toBe(200);
    const { start = '', end = '' } = asked(RANGE)[0] ?? {};
    return [BigInt(start), BigInt(end)];
  };
  const near = (a: bigint, b: bigint): boolean => (a > b ? a - b : b - a) < HOUR_NS / 10n;
  const now = (): bigint => BigInt(Date.now()) * 1_000_000n;

  test('of an open range is that of thirty days, never 0', async () => {
    const [start, end] = await span({});
    expect([near(end, now() + HOUR_NS), end - start]).toEqual([true, 30n * 24n * HOUR_NS]);
  });

  test('of an open start goes back from the end', async () => {
    const [start, end] = await span({ end_time: `${START}` });
    expect([end, end - start]).toEqual([BigInt(ns(START + 1)), 30n * 24n * HOUR_NS]);
  });

  test.each([{}, { end_time: '253402300799' }])(
    'of an end in the years to come, %j, is an hour from now',
    async (more) => {
      const yesterday = Math.floor(Date.now() / 1_000) - DAY_S;
      const [start, end] = await span({ start_time: `${yesterday}`, ...more });
      expect([start, near(end, now() + HOUR_NS)]).toEqual([BigInt(ns(yesterday)), true]);
    },
  );

  test.each(['0', '-1', '5'])('LT-01 of a start at %s is no number that Loki reads as seconds', async (time) => {
    const [start] = await span({ start_time: time, end_time: `${2 * DAY_S}` });
    expect(start).toBe(BigInt(ns(DAY_S)));
  });

  test.each(['query', 'statistics', 'histogram', 'export'])(
    'is not longer than 92 days: a %s of more is 400, because Loki would take the memory of its machine for it',
    async (operation) => {
      store.answer = () => number(0);
      const ask = (start: number) =>
        logs.ask({ operation, interval: '7d', start_time: `${start}`, end_time: `${START - 1}` });
      const earliest = START - 92 * DAY_S;
      expect((await ask(earliest)).status).toBe(200);
      store.asked.splice(0);
      const { status, body } = await ask(earliest - 1);
      expect([status, body.message, store.asked.length]).toEqual([
        400,
        'invalid query parameter "start_time": this log store is asked about 92 days at most; ask for a shorter time',
        0,
      ]);
    },
  );

  test('LT-01 before all of it is that of nothing: Loki is not asked', async () => {
    const { body } = await logs.ask({ end_time: '-5' });
    expect([body, store.asked]).toEqual([{ query: { total: 0, records: [] } }, []]);
  });
});

describe('an interval of Loki', () => {
  test.each(['1w', '1M', '1q', '1y'])('L-13 %s is 400: it knows no calendar', async (interval) => {
    const { status, body } = await logs.ask({ operation: 'histogram', interval });
    expect([status, body.details.causes]).toEqual([
      400,
      [
        {
          reason: 'FieldValueInvalid',
          field: 'interval',
          message:
            'invalid query parameter "interval": this log store knows no weeks, months, quarters and years; ask for days such as 7d',
        },
      ],
    ]);
    expect(store.asked).toEqual([]);
  });

  test('that makes more than 10,000 buckets of an open range is 400', async () => {
    const { status, body } = await logs.ask({ operation: 'histogram', interval: '1s' });
    expect([status, body.details.causes[0].field, store.asked]).toEqual([400, 'interval', []]);
  });
});

describe('the namespaces asked of Loki', () => {
  const named = (query = ''): string => /\{namespace=~"([^"]*)"/.exec(query)?.[1] ?? '';

  test('L-04, L-05 are those of the caller; one that is younger than the range is asked for by itself, from its creation on', async () => {
    const cluster = await startOwnClusterWithRights();
    for (const [name, day] of [
      ['a', '01'],
      ['b', '02'],
      ['young', '10'],
      ['c', '01'],
    ] as const)
      cluster.objects.create('namespaces', namespace(name, `2026-03-${day}T00:00:00Z`));
    letJoeRead(cluster, ['a', 'b', 'young']);
    const own = await startOwnLogs({ cluster, logging: { host: store.url, version: 'loki' } });
    store.answer = ({ path, form }) => {
      if (path === INSTANT) return number(named(form['query']) === 'young' ? 1 : 2);
      const at = BigInt(form['start'] ?? '');
      const values: Value[] =
        named(form['query']) === 'young'
          ? [[`${at}`, 'y']]
          : [
              [`${at + 3n}`, 'o2'],
              [`${at}`, 'o1'],
            ];
      return good([stream('p', values, named(form['query']).split('|')[0])]);
    };
    const { body } = await own.ask({ start_time: `${START}`, end_time: END }, { token: await signInJoe(own) });
    expect(body.query.total).toBe(3);
    expect(body.query.records.map(({ log }: { log: string }) => log)).toEqual(['y', 'o2', 'o1']);
    const young = ns(Date.parse('2026-03-10T00:00:00Z') / 1_000);
    // Both are asked for at once: which of them arrives first is up to the network.
    expect(
      asked(RANGE)
        .map(({ query, start }) => [named(query), start])
        .sort(),
    ).toEqual([
      ['a|b', ns(START)],
      ['young', young],
    ]);
    store.asked.splice(0);
    const exported = await own.ask(
      { operation: 'export', start_time: `${START}`, end_time: END },
      { token: await signInJoe(own) },
    );
    expect(exported.text).toBe('y\no2\no1\n');
  });

  test('L-06 1,500 are asked for in pieces, and of 300 young ones, two searches, never more than 8 at once of each', async () => {
    const cluster = await startOwnClusterWithRights();
    const names = Array.from({ length: 1_500 }, (_, at) => `team-${at}`);
    for (const [at, name] of names.entries())
      cluster.objects.create('namespaces', namespace(name, at < 300 ? '2026-03-10T00:00:00Z' : '2026-01-01T00:00:00Z'));
    letJoeRead(cluster, names);
    const own = await startOwnLogs({ cluster, logging: { host: store.url, version: 'loki' } });
    let [open, most] = [0, 0];
    store.answer = ({ response }) => {
      most = Math.max(most, ++open);
      setTimeout(() => {
        open--;
        response.setHeader('content-type', 'application/json').end(JSON.stringify(number(1)?.body));
      }, 2);
      return undefined;
    };
    const { status, body } = await own.ask(
      { start_time: `${START}`, end_time: END, size: '0' },
      { token: await signInJoe(own) },
    );
    expect([status, body.query.total, store.asked.length]).toEqual([200, 303, 303]);
    expect(most).toBeLessThanOrEqual(16);
    for (const { form } of store.asked) expect(form['query']?.length).toBeLessThan(64 * 1_024);
  });
});

test('a refusal about one namespace ends the questions about the others at once', async () => {
  const cluster = await startOwnClusterWithRights();
  const names = Array.from({ length: 30 }, (_, at) => `team-${at}`);
  for (const name of names) cluster.objects.create('namespaces', namespace(name, '2026-03-10T00:00:00Z'));
  letJoeRead(cluster, names);
  const own = await startOwnLogs({ cluster, logging: { host: store.url, version: 'loki' } });
  store.answer = () => (store.asked.length === 1 ? { status: 400, text: 'no' } : undefined);
  const parameters = { operation: 'export', start_time: `${START}`, end_time: END };
  expect((await own.ask(parameters, { token: await signInJoe(own) })).status).toBe(502);
  await expect.poll(() => store.open()).toBe(0);
  expect(store.asked.length).toBeLessThanOrEqual(9);
});

describe('what Loki is', () => {
  const isLoki =
    (root: Canned): CannedStore['answer'] =>
    ({ path }) => {
      if (path === '/') return root;
      return path === BUILD ? { body: { version: '3.7.8', goVersion: 'go1.26' } } : number(5);
    };

  test.each<[string, Canned]>([
    ['it has no root', { status: 404, text: '404 page not found\n' }],
    ['what is before it answers its root', { text: 'OK' }],
  ])('is found out at the first query, also where %s', async (_, root) => {
    const own = await startOwnStore(isLoki(root), { version: 'its own' });
    const { ask } = await startOwnLogs({ logging: { host: own.url } });
    expect(own.asked).toEqual([]);
    for (let time = 0; time < 2; time++) expect((await ask({ size: '0' })).body.query.total).toBe(5);
    expect(own.asked.map(({ path }) => path)).toEqual(['/', BUILD, INSTANT, INSTANT]);
  });

  test.each<[string, CannedStore['answer']]>([
    ['some other server', () => ({ text: '<html>welcome</html>' })],
    ['a server without anything', () => ({ status: 404, text: 'not found' })],
    ['one that says no version', ({ path }) => (path === BUILD ? { body: {} } : { status: 404, text: '' })],
  ])('is not %s', async (_, answer) => {
    const own = await startOwnStore(answer, { version: 'its own' });
    const { ask } = await startOwnLogs({ logging: { host: own.url } });
    expect((await ask()).status).toBe(503);
  });

  test('is found out again after it was away', async () => {
    const own = await startOwnStore(isLoki({ status: 404, text: '' }), { version: 'its own' });
    const { ask } = await startOwnLogs({ logging: { host: own.url } });
    expect((await ask({ size: '0' })).status).toBe(200);
    own.answer = () => ({ status: 503, text: 'not ready' });
    expect((await ask({ size: '0' })).status).toBe(503);
    own.answer = isLoki({ status: 404, text: '' });
    own.asked.splice(0);
    expect((await ask({ size: '0' })).status).toBe(200);
    expect(own.asked.map(({ path }) => path)).toEqual(['/', BUILD, INSTANT]);
  });
});

describe('Loki is told', () => {
  test('the tenant and the credentials of the configuration', async () => {
    const passwordFile = temporaryFolder().write('password', 'open sesame\n');
    const own = await startOwnStore(() => number(0), { version: 'its own' });
    const logging = { host: own.url, version: 'loki', lokiTenant: 'team-1', username: 'gatehouse', passwordFile };
    const { ask } = await startOwnLogs({ logging });
    await ask();
    const basic = `Basic ${Buffer.from('gatehouse:open sesame').toString('base64')}`;
    for (const { headers } of own.asked)
      expect([headers['x-scope-orgid'], headers.authorization]).toEqual(['team-1', basic]);
    expect(own.asked.length).toBeGreaterThan(0);
  });

  test('no tenant where none is configured, and the labels that are', async () => {
    const own = await startOwnStore(() => number(0), { version: 'its own' });
    const labels = { lokiNamespaceLabel: 'k8s_namespace_name', lokiPodLabel: 'k8s_pod_name' };
    const { ask } = await startOwnLogs({ logging: { host: own.url, version: 'loki', ...labels } });
    await ask({ pods: 'a', size: '0' });
    const [one] = own.asked;
    expect([one?.headers['x-scope-orgid'], one?.form['query']]).toEqual([
      undefined,
      expect.stringContaining('{k8s_namespace_name=~".+",k8s_pod_name=~"a"}'),
    ]);
  });

  test('L-11 that nobody waits any more, within a second', async () => {
    store.answer = () => undefined;
    const controller = new AbortController();
    const { service, token } = logs;
    const path = '/kapis/tenant.gatehouse.io/v1alpha2/logs';
    const url = `http://127.0.0.1:${service.gatehouse.port}${path}`;
    const asking = fetch(url, { headers: { Authorization: `Bearer ${token}` }, signal: controller.signal });
    await expect.poll(() => store.open()).toBe(2);
    controller.abort();
    await expect(asking).rejects.toThrow();
    await expect.poll(() => store.open()).toBe(0);
  });
});

describe('a Loki that lies', () => {
  const bounds = { start_time: `${START}`, end_time: END };

  test.each<[string, Canned]>([
    ['lines of another time', good([stream('p', [[ns(START - 1), 'x']])])],
    [
      'more lines than it was asked for',
      good([
        stream(
          'p',
          Array.from({ length: 12 }, () => [ns(START), 'x']),
        ),
      ]),
    ],
  ])('with %s is away', async (_, canned) => {
    store.answer = ({ path }) => (path === INSTANT ? number(1) : canned);
    expect((await logs.ask({ ...bounds })).status).toBe(503);
  });

  test('with lines of a namespace that was not asked for shows none of them', async () => {
    const cluster = await startOwnClusterWithRights();
    cluster.objects.create('namespaces', namespace('a'));
    letJoeRead(cluster, ['a']);
    const own = await startOwnLogs({ cluster, logging: { host: store.url, version: 'loki' } });
    store.answer = ({ path }) =>
      path === INSTANT ? number(1) : good([stream('p', [[ns(START), 'of a secret']], 'secret')]);
    for (const operation of ['query', 'export']) {
      const { status, text } = await own.ask({ ...bounds, operation }, { token: await signInJoe(own) });
      expect([status, text.includes('of a secret')]).toEqual([503, false]);
    }
  });

  test.each([1e19, 8.64e12, -1])('with a bucket at %d is away', async (at) => {
    store.answer = ({ path }) => (path === INSTANT ? number(0) : good([{ metric: {}, values: [[at, '3']] }]));
    expect((await logs.ask({ ...bounds, operation: 'histogram', interval: '1h' })).status).toBe(503);
  });
});

describe('Loki refuses', () => {
  test.each<[string, Canned, number, string]>([
    ['the query', { status: 400, text: 'the query time range exceeds the limit' }, 502, 'BadGateway'],
    ['its tenant', { status: 401, text: 'no org id' }, 503, 'ServiceUnavailable'],
    ['for now', { status: 429, text: 'too many outstanding requests' }, 503, 'ServiceUnavailable'],
    ['for its time limit', { status: 504, text: 'context deadline exceeded' }, 504, 'Timeout'],
    ['with what cannot be read', { text: 'OK' }, 503, 'ServiceUnavailable'],
  ])('%s', async (_, canned, status, reason) => {
    store.answer = () => canned;
    for (const operation of ['query', 'statistics', 'histogram', 'export']) {
      const answer = await logs.ask({ operation });
      expect([operation, answer.status, answer.body.reason]).toEqual([operation, status, reason]);
      expect(answer.text).not.toContain('127.0.0.1');
    }
  });
});
