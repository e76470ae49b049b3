import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { ADMINS_ROLE } from '../../support/observed/people.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { type ConsoleStand, startConsole } from './console-stand.ts';
import { type StandIn, startStandIn, vector } from './stand-in-prometheus.ts';

const MONITORING = '/kapis/monitoring.kubesphere.io/v1alpha3';

async function start(more: object = {}): Promise<{ readonly prometheus: StandIn; readonly stand: ConsoleStand }> {
  const prometheus = await startStandIn();
  const stand = await startConsole({ config: { monitoring: { prometheus: prometheus.url, ...more } } });
  return { prometheus, stand };
}

const one = (node: string, value: string, at = 1_700_000_000) => ({ metric: { node }, value: [at, value] });
const names = (prometheus: StandIn): string[] => prometheus.asked.map(({ form }) => form['query'] ?? '');

describe('metrics with Prometheus', () => {
  test('CO-20 a metric has what Prometheus says, in the form of 3.4', async () => {
    const { prometheus, stand } = await start();
    prometheus.answers = async () => vector([one('worker-a-1', '1.25'), one('worker-a-2', 'NaN')]);
    const { status, text, headers } = await stand.ask(
      `${MONITORING}/nodes?metrics_filter=node_cpu_usage%7Cnode_gpu_usage%24&resources_filter=worker-a-1%7Cworker.b%24&type=rank`,
      'ada',
    );
    expect([status, headers.get('cache-control')]).toEqual([200, 'private, no-cache']);
    expect(text).toBe(
      '{"results":[{"metric_name":"node_cpu_usage","data":{"resultType":"vector","result":[{"metric":{"node":"worker-a-1"},"value":[1700000000,"1.25"]}]}}]}',
    );
    const [asked] = prometheus.asked;
    expect([asked?.path, asked?.form['timeout'], asked?.form['time']]).toEqual(['/api/v1/query', '10000ms', undefined]);
    expect(asked?.form['query']).toContain(String.raw`node=~"worker-a-1|worker\\.b"`);
  });

  test('CO-20 a range is asked for with its start, end and step, and has a matrix', async () => {
    const { prometheus, stand } = await start();
    const result = [
      {
        metric: {},
        values: [
          [100, '1'],
          [700, '+Inf'],
          [1_300, '2'],
        ],
      },
    ];
    prometheus.answers = async () => [200, { status: 'success', data: { resultType: 'matrix', result } }];
    const { body } = await stand.ask(
      `${MONITORING}/cluster?metrics_filter=cluster_cpu_usage$&start=100&end=1300&step=10m&times=2`,
      'ada',
    );
    const values = [
      [100, '1'],
      [1_300, '2'],
    ];
    expect(body.results[0].data).toEqual({ resultType: 'matrix', result: [{ metric: {}, values }] });
    const { path, form } = prometheus.asked[0] ?? {};
    expect([path, form?.['start'], form?.['end'], form?.['step']]).toEqual([
      '/api/v1/query_range',
      '100',
      '1300',
      '600',
    ]);
  });

  test('CO-09 they need the right to list nodes, and every other path is empty for who is signed in', async () => {
    const { prometheus, stand } = await start();
    for (const path of ['cluster', 'nodes', 'nodes/node-a']) {
      const { status, body } = await stand.ask(`${MONITORING}/${path}?metrics_filter=%22%7D`, 'joe');
      expect([status, body.kind, body.reason]).toEqual([403, 'Status', 'Forbidden']);
    }
    for (const path of ['namespaces/red/pods', 'nodes/node-a/pods', 'apiserver']) {
      const { status, text } = await stand.ask(`${MONITORING}/${path}?metrics_filter=x`, 'joe');
      expect([status, text]).toEqual([200, '{"results":[]}']);
    }
    expect(prometheus.asked).toEqual([]);
  });

  test.each([
    ['metrics_filter', 'node_cpu_usage%22%7D'],
    ['metrics_filter', 'node_.*'],
    ['resources_filter', 'a%22%7D%20or%20up'],
    ['resources_filter', '.*'],
    ['resources_filter', 'x%7C'],
    ['time', 'now'],
    ['time', '1700000000000'],
    ['start', '-1&end=5'],
    ['end', '5'],
    ['end', '1&start=2'],
    ['step', '0s&start=1&end=2'],
    ['step', '1s&start=0&end=11000'],
    ['sort_metric', 'node_cpu'],
    ['sort_type', 'up'],
    ['page', '0'],
    ['limit', '501'],
  ])('CO-09 a bad %s is 400 and names it: %s', async (parameter, value) => {
    const { prometheus, stand } = await start();
    const { status, body } = await stand.ask(`${MONITORING}/nodes?${parameter}=${value}`, 'ada');
    const field = parameter === 'end' && value === '5' ? 'start' : parameter;
    expect([status, body.details.causes.map((cause: { field: string }) => cause.field)]).toEqual([400, [field]]);
    expect(prometheus.asked).toEqual([]);
  });

  test('CO-09 a name that no node can have is 404, and nobody is asked', async () => {
    const { prometheus, stand } = await start();
    const { status } = await stand.ask(`${MONITORING}/nodes/a%22b?metrics_filter=node_cpu_usage`, 'ada');
    expect([status, prometheus.asked]).toEqual([404, []]);
  });
});

describe('the load on Prometheus', () => {
  test('CO-09 four queries are in flight at a time, and the same question of two people is asked once', async () => {
    const { prometheus, stand } = await start();
    const held: (() => void)[] = [];
    prometheus.answers = () => new Promise((resolve) => held.push(() => resolve(vector([]))));
    stand.bind({
      name: 'joe',
      role: `ClusterRole/${ADMINS_ROLE.metadata.name}`,
      subject: { kind: 'User', name: 'joe' },
    });
    const both = Promise.all((['ada', 'joe'] as const).map((person) => stand.ask(`${MONITORING}/cluster`, person)));
    const ending = { already: false };
    void both.finally(() => {
      ending.already = true;
    });
    while (!ending.already) {
      if (held.length >= 4 || prometheus.asked.length > 45) for (const end of held.splice(0)) end();
      await setImmediate();
    }
    const [ada, joe] = await both;
    expect([ada?.status, joe?.status, ada?.text === joe?.text]).toEqual([200, 200, true]);
    expect(prometheus.most()).toBe(4);
    expect(names(prometheus)).toHaveLength(new Set(names(prometheus)).size);
    expect(ada?.body.results).toHaveLength(prometheus.asked.length);
  });

  test('CO-09 an answer is used for three seconds', async () => {
    const { prometheus, stand } = await start();
    const ask = () => stand.ask(`${MONITORING}/cluster?metrics_filter=cluster_cpu_usage`, 'ada');
    await ask();
    await ask();
    expect(prometheus.asked).toHaveLength(1);
    await stand.clock.spend(3_000);
    await ask();
    expect(prometheus.asked).toHaveLength(2);
  });

  test('CO-09 a ranking asks for the other metrics of its page only', async () => {
    const { prometheus, stand } = await start();
    prometheus.answers = async ({ form }) => {
      const query = form['query'] ?? '';
      if (query.includes('kube_node_info')) return vector(['a', 'b', 'c', 'd'].map((name) => one(name, '1')));
      if (query.includes('node_load1')) return vector([one('b', '3'), one('a', '3'), one('c', '7')]);
      return vector([one('d', '5')]);
    };
    const ask = (more: string) =>
      stand.ask(
        `${MONITORING}/nodes?metrics_filter=node_load1|node_pod_quota$&sort_metric=node_load1&limit=2&${more}`,
        'ada',
      );
    const places = (body: { results: { data: { result: { metric: { node: string }; value?: string[] }[] } }[] }) =>
      body.results.map(({ data }) => data.result.map(({ metric, value }) => [metric.node, value?.[1]]));
    const first = await ask('page=1');
    expect(places(first.body)).toEqual([
      [
        ['c', '7'],
        ['a', '3'],
      ],
      [
        ['c', undefined],
        ['a', undefined],
      ],
    ]);
    expect([first.body.page, first.body.total_page, first.body.total_item]).toEqual([1, 2, 4]);
    expect(names(prometheus).at(-1)).toContain('node=~"c|a"');
    expect(places((await ask('page=2')).body)).toEqual([
      [
        ['b', '3'],
        ['d', undefined],
      ],
      [
        ['b', undefined],
        ['d', '5'],
      ],
    ]);
    expect((await ask('page=9')).body).toEqual({ results: [], page: 9, total_page: 2, total_item: 4 });
  });
});

describe('a Prometheus that fails', () => {
  const CLUSTER_CPU = `${MONITORING}/cluster?metrics_filter=cluster_cpu_usage|cluster_cpu_total$`;

  test('CO-09 is told in each metric, with 200, once in the log, and in the metrics', async () => {
    const { prometheus, stand } = await start();
    prometheus.answers = async () => [503, { status: 'error', errorType: 'unavailable', error: 'at 10.0.0.7:9090' }];
    const { status, body } = await stand.ask(CLUSTER_CPU, 'ada');
    const away = (name: string) => ({
      metric_name: name,
      data: { resultType: 'vector', result: [] },
      error: 'Prometheus is not available',
    });
    expect([status, body]).toEqual([200, { results: [away('cluster_cpu_usage'), away('cluster_cpu_total')] }]);
    await stand.ask(CLUSTER_CPU, 'ada');
    const { log, metricsPort } = stand.service.gatehouse;
    expect(log.filter(({ level, msg }) => level === 'warn' && msg === 'queries to Prometheus fail')).toHaveLength(1);
    const page = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    expect(page).toMatch(/gatehouse_prometheus_results_total\{result="failed"\} 4\n/);
    expect(page).toMatch(/gatehouse_prometheus_request_duration_seconds_count\{purpose="instant",code="5xx"\} \d/);
    prometheus.answers = async () => vector([{ metric: {}, value: [1, '2'] }]);
    await stand.clock.until(
      async () => (await stand.ask(CLUSTER_CPU, 'ada')).body.results,
      (results) => results.every(({ error }: { error?: string }) => error === undefined),
    );
  });

  test('CO-09 that answers nothing is given up after ten seconds', async () => {
    const { prometheus, stand } = await start();
    prometheus.answers = () => new Promise(() => {});
    const { status, body } = await stand.ask(CLUSTER_CPU, 'ada');
    expect([status, body.results.map(({ error }: { error: string }) => error)]).toEqual([
      200,
      Array(2).fill('Prometheus did not answer within 10000 ms'),
    ]);
  });

  test('CO-09 a query that it refuses says why, without an address, and the others are answered', async () => {
    const { prometheus, stand } = await start();
    prometheus.answers = async ({ form }) =>
      form['query']?.startsWith('sum(max by (node) ((count')
        ? [
            422,
            { status: 'error', errorType: 'execution', error: 'too many samples at prometheus.monitoring.svc:9090' },
          ]
        : vector([]);
    const { body } = await stand.ask(CLUSTER_CPU, 'ada');
    expect(body.results.map(({ error }: { error?: string }) => error)).toEqual([
      undefined,
      'Prometheus refuses the query: 422 too many samples at …',
    ]);
  });

  test('CO-09 too many values for our memory is an error of that metric', async () => {
    const { prometheus, stand } = await start();
    const many = Array.from({ length: 60_000 }, (_, at) => one(`node-${at}`, `${at}.123456789012345`));
    prometheus.answers = async () => vector(many);
    const { status, body } = await stand.ask(CLUSTER_CPU, 'ada');
    const error = 'too many values; ask for fewer metrics or nodes, or for a longer step';
    expect([status, body.results.map((result: { error?: string }) => result.error)]).toEqual([200, [error, error]]);
  });
});

test('CO-09 the token of its file is sent to Prometheus', async () => {
  const { write } = temporaryFolder();
  const { prometheus, stand } = await start({ tokenFile: write('token', 'made-up-token\n') });
  await stand.ask(`${MONITORING}/cluster?metrics_filter=cluster_cpu_usage`, 'ada');
  expect(prometheus.asked[0]?.headers.authorization).toBe('Bearer made-up-token');
});
