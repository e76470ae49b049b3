import { describe, expect, test } from 'vitest';
import { startTestCluster, type TestCluster } from './test-cluster.ts';

const FAILURE = { status: 503 };
const statuses = async (cluster: TestCluster, paths: readonly string[]): Promise<number[]> => {
  const answers: number[] = [];
  for (const path of paths) answers.push((await cluster.call(path)).status);
  return answers;
};
const NODES = '/api/v1/nodes';
const PODS = '/api/v1/pods';

describe('the fault script', () => {
  test('meets the next matching request only', async () => {
    const cluster = await startTestCluster();
    cluster.faults.next({ verb: 'list', kind: 'nodes' }, FAILURE);
    expect(await statuses(cluster, [PODS, NODES, NODES])).toEqual([200, 503, 200]);
  });

  test('meets a number of requests', async () => {
    const cluster = await startTestCluster();
    cluster.faults.times(2, { kind: 'nodes' }, FAILURE);
    expect(await statuses(cluster, [NODES, NODES, NODES])).toEqual([503, 503, 200]);
  });

  test('meets every request until released', async () => {
    const cluster = await startTestCluster();
    const release = cluster.faults.until({}, FAILURE);
    expect(await statuses(cluster, [NODES, PODS, '/version'])).toEqual([503, 503, 503]);
    release();
    expect(await statuses(cluster, [NODES])).toEqual([200]);
  });

  test('lets some matching requests pass first', async () => {
    const cluster = await startTestCluster();
    cluster.faults.next({ kind: 'nodes', skip: 2 }, FAILURE);
    expect(await statuses(cluster, [NODES, PODS, NODES, NODES, NODES])).toEqual([200, 200, 200, 503, 200]);
  });

  test('goes through its rules in the order in which they were given', async () => {
    const cluster = await startTestCluster();
    cluster.faults.next({}, { status: 500 });
    cluster.faults.next({}, { status: 503 });
    expect(await statuses(cluster, [NODES, NODES, NODES])).toEqual([500, 503, 200]);
  });

  test('matches namespace, name, subresource and any condition', async () => {
    const cluster = await startTestCluster();
    cluster.faults.until({ namespace: 'default', name: 's' }, { status: 500 });
    cluster.faults.until({ subresource: 'status' }, { status: 502 });
    cluster.faults.until({ when: ({ query }) => query.has('continue') }, { status: 410 });
    const paths = ['/api/v1/namespaces/default/secrets/s', `${NODES}/a/status`, `${NODES}?continue=x`, NODES];
    expect(await statuses(cluster, paths)).toEqual([500, 502, 410, 200]);
  });

  test('is empty after clear', async () => {
    const cluster = await startTestCluster();
    cluster.faults.until({}, FAILURE);
    cluster.faults.clear();
    expect(await statuses(cluster, [NODES])).toEqual([200]);
  });
});
