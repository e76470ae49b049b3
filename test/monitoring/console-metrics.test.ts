import { describe, expect, test } from 'vitest';
import { CLUSTER_QUERIES, NODE_QUERIES } from '../../src/monitoring/named-queries.ts';
import { nodeMatcher } from '../../src/monitoring/node-matcher.ts';
import { type Service, startCluster, startService } from '../integration/service/stand.ts';
import { kubeStateSeries, type Machine, type MadeUpPod, nodeExporterSeries, toOpenMetrics } from './node-series.ts';
import { runPrometheus } from './prometheus.ts';

const GI = 2 ** 30;

const BIG: Machine = {
  ...{ name: 'worker-a.1', cpus: 4, usedCpus: 1.25, podQuota: 110, isReady: true, load: [2, 1, 0.5] },
  memory: { total: 16 * GI, available: 10 * GI },
  disk: { size: 1_000_000, available: 400_000, inodes: 5_000, free: 4_000 },
  io: { reads: 10, writes: 20, readBytes: 1_000, writtenBytes: 2_000 },
  net: { received: 300, transmitted: 100 },
};
const SMALL: Machine = {
  ...{ name: 'worker-a-1', cpus: 2, usedCpus: 1.5, podQuota: 50, isReady: false, load: [1, 1, 1] },
  memory: { total: 8 * GI, available: 2 * GI },
  disk: { size: 500_000, available: 100_000, inodes: 1_000, free: 900 },
  io: { reads: 1, writes: 2, readBytes: 3, writtenBytes: 4 },
  net: { received: 5, transmitted: 6 },
};
/** Beside an exporter on each node, which runs and is ready. */
const PODS: readonly MadeUpPod[] = [
  { name: 'web-1', node: BIG.name, phase: 'Running', ready: true },
  { name: 'web-2', node: BIG.name, phase: 'Running' },
  { name: 'job-1', node: BIG.name, phase: 'Succeeded' },
  { name: 'new-1', node: BIG.name, phase: 'Pending', starting: true },
  { name: 'bad-1', node: SMALL.name, phase: 'Failed' },
  { name: 'lost-1', node: '', phase: 'Pending' },
];

/** Twenty minutes before now, each 30 s. */
const END = Math.floor(Date.now() / 1_000) - 60;
const TIMES = Array.from({ length: 41 }, (_, at) => END - (40 - at) * 30);

/** By the end of the name: what the big and the small node have. */
const EXPECTED: Readonly<Record<string, readonly [big: number, small: number]>> = {
  cpu_usage: [1.25, 1.5],
  cpu_total: [4, 2],
  cpu_utilisation: [1.25 / 4, 0.75],
  memory_usage_wo_cache: [6 * GI, 6 * GI],
  memory_available: [10 * GI, 2 * GI],
  memory_total: [16 * GI, 8 * GI],
  memory_utilisation: [0.375, 0.75],
  net_utilisation: [400, 11],
  net_bytes_transmitted: [100, 6],
  net_bytes_received: [300, 5],
  disk_read_iops: [10, 1],
  disk_write_iops: [20, 2],
  disk_read_throughput: [1_000, 3],
  disk_write_throughput: [2_000, 4],
  disk_size_usage: [600_000, 400_000],
  disk_size_capacity: [1_000_000, 500_000],
  disk_size_available: [400_000, 100_000],
  disk_size_utilisation: [0.6, 0.8],
  disk_inode_total: [5_000, 1_000],
  disk_inode_usage: [1_000, 100],
  disk_inode_utilisation: [0.2, 0.1],
  pod_quota: [110, 50],
  pod_count: [4, 1],
  pod_running_count: [3, 1],
  pod_succeeded_count: [1, 0],
  pod_abnormal_count: [1, 1],
  pod_abnormal_ratio: [1 / 4, 1 / 2],
  pod_utilisation: [3 / 110, 1 / 50],
  load1: [0.5, 0.5],
  load5: [0.25, 0.5],
  load15: [0.125, 0.5],
};

const CLUSTER: Readonly<Record<string, number>> = {
  cpu_usage: 2.75,
  cpu_total: 6,
  cpu_utilisation: 2.75 / 6,
  memory_usage_wo_cache: 12 * GI,
  memory_available: 12 * GI,
  memory_total: 24 * GI,
  memory_utilisation: 0.5,
  net_utilisation: 411,
  net_bytes_transmitted: 106,
  net_bytes_received: 305,
  disk_read_iops: 11,
  disk_write_iops: 22,
  disk_read_throughput: 1_003,
  disk_write_throughput: 2_004,
  disk_size_usage: 1_000_000,
  disk_size_capacity: 1_500_000,
  disk_size_available: 500_000,
  disk_size_utilisation: 2 / 3,
  disk_inode_total: 6_000,
  disk_inode_usage: 1_100,
  disk_inode_utilisation: 1_100 / 6_000,
  pod_quota: 160,
  pod_count: 6,
  pod_running_count: 4,
  pod_succeeded_count: 1,
  pod_abnormal_count: 3,
  pod_abnormal_ratio: 3 / 7,
  pod_utilisation: 4 / 160,
  load1: 3 / 6,
  load5: 2 / 6,
  load15: 1.5 / 6,
  node_total: 2,
  node_online: 1,
  node_offline: 1,
  node_offline_ratio: 0.5,
  namespace_count: 2,
  deployment_count: 1,
  daemonset_count: 1,
  service_count: 1,
  ...Object.fromEntries(
    [
      'cronjob',
      'pvc',
      'endpoint',
      'hpa',
      'job',
      'statefulset',
      'replicaset',
      'secret',
      'pv',
      'ingresses_extensions',
    ].map((object) => [`${object}_count`, 0]),
  ),
};

const MONITORING = '/kapis/monitoring.gatehouse.io/v1alpha3';

/** A Prometheus that has what these machines and pods told, and Gatehouse in front of it. */
async function startStand(): Promise<Stand> {
  const series = [...[BIG, SMALL].flatMap(nodeExporterSeries), ...kubeStateSeries([BIG, SMALL], PODS)];
  const prometheus = await runPrometheus(toOpenMetrics(series, TIMES));
  const service = await startService(await startCluster(), { config: { monitoring: { prometheus } } });
  return { service, token: (await service.signIn('ada')).access_token };
}

interface Stand {
  readonly service: Service;
  readonly token: string;
}

/** By metric and node: the value, or the values of a range. A metric of the cluster has the node `''`. */
async function ask(
  { service, token }: Stand,
  path: string,
): Promise<Readonly<Record<string, Readonly<Record<string, unknown>>>>> {
  const { status, body } = await service.call(`${MONITORING}/${path}`, { token });
  expect([status, body.results.filter(({ error }: { error?: string }) => error)]).toEqual([200, []]);
  return Object.fromEntries(
    body.results.map(({ metric_name: name, data }: ResultBody) => [
      name,
      Object.fromEntries(
        data.result.map(({ metric, value, values }) => [
          metric['node'] ?? '',
          value ? Number(value[1]) : values?.map(([at, text]) => [at, Number(text)]),
        ]),
      ),
    ]),
  );
}

interface ResultBody {
  readonly metric_name: string;
  readonly data: {
    readonly result: readonly {
      readonly metric: Readonly<Record<string, string>>;
      readonly value?: readonly [number, string];
      readonly values?: readonly (readonly [number, string])[];
    }[];
  };
}

test('CO-09 a real Prometheus takes every query, those with names of nodes too', async () => {
  const prometheus = await runPrometheus('# EOF\n');
  const matcher = nodeMatcher(['worker-a.1', 'worker-a-1']);
  const queries = [...CLUSTER_QUERIES, ...[...NODE_QUERIES].map(([name, query]) => [name, query(matcher)] as const)];
  const outcomes = queries.map(async ([name, query]) => {
    const answer = await fetch(`${prometheus}/api/v1/query`, { method: 'POST', body: new URLSearchParams({ query }) });
    const { status, data, error } = (await answer.json()) as QueryAnswer;
    return [name, status, data?.resultType, error];
  });
  expect(await Promise.all(outcomes)).toEqual(queries.map(([name]) => [name, 'success', 'vector', undefined]));
});

interface QueryAnswer {
  readonly status: string;
  readonly data?: { readonly resultType: string };
  readonly error?: string;
}

describe('the numbers of a real Prometheus', () => {
  test('CO-20 every metric of nodes has what its node told', async () => {
    const found = await ask(await startStand(), `nodes?time=${END}`);
    expect(Object.keys(found).toSorted()).toEqual(
      Object.keys(EXPECTED)
        .map((name) => `node_${name}`)
        .toSorted(),
    );
    for (const [name, [big, small]] of Object.entries(EXPECTED)) {
      expect(found[`node_${name}`], name).toEqual({
        [BIG.name]: expect.closeTo(big, 6),
        [SMALL.name]: expect.closeTo(small, 6),
      });
    }
  });

  test('CO-09 every metric of the cluster is the sum of its nodes, or the number of its objects', async () => {
    const found = await ask(await startStand(), `cluster?time=${END}`);
    expect(Object.keys(found).toSorted()).toEqual(
      Object.keys(CLUSTER)
        .map((name) => `cluster_${name}`)
        .toSorted(),
    );
    for (const [name, value] of Object.entries(CLUSTER))
      expect(found[`cluster_${name}`], name).toEqual({ '': expect.closeTo(value, 6) });
  });

  test('CO-20 a range has a value for each step, at exactly the asked times', async () => {
    const start = END - 600;
    const range = `start=${start}&end=${END}&step=300s&times=2`;
    const found = await ask(
      await startStand(),
      `nodes/${BIG.name}?metrics_filter=node_cpu_usage|node_memory_total$&${range}`,
    );
    const points = (value: number) => [start, start + 300, END].map((at) => [at, expect.closeTo(value, 6)]);
    expect(found).toEqual({
      node_cpu_usage: { [BIG.name]: points(1.25) },
      node_memory_total: { [BIG.name]: points(16 * GI) },
    });
  });

  test('CO-09 a name of a node is that name, and no pattern', async () => {
    const found = await ask(
      await startStand(),
      `nodes?metrics_filter=node_cpu_total$&resources_filter=${BIG.name}$&time=${END}`,
    );
    expect(found).toEqual({ node_cpu_total: { [BIG.name]: 4 } });
  });

  test('CO-09 a ranking has its order and pages from the values', async () => {
    const { service, token } = await startStand();
    const ranked = async (more: string) => {
      const query = `metrics_filter=node_cpu_total|node_cpu_utilisation$&sort_metric=node_cpu_utilisation&time=${END}`;
      const { body } = await service.call(`${MONITORING}/nodes?${query}&${more}`, { token });
      const { results, ...pages } = body;
      const nodes = results.map(({ data }: ResultBody) => data.result.map(({ metric }) => metric['node']));
      return { nodes, pages };
    };
    expect(await ranked('limit=10')).toEqual({
      nodes: [
        [SMALL.name, BIG.name],
        [SMALL.name, BIG.name],
      ],
      pages: { page: 1, total_page: 1, total_item: 2 },
    });
    expect(await ranked('limit=1&page=2&sort_type=asc')).toEqual({
      nodes: [[SMALL.name], [SMALL.name]],
      pages: { page: 2, total_page: 2, total_item: 2 },
    });
  });
});
