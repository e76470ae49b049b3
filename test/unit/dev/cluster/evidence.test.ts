import { describe, expect, test } from 'vitest';
import { startTestCluster, WATCH_NODES } from './test-cluster.ts';

describe('the evidence', () => {
  test('counts requests by verb and kind, and a paged list once', async () => {
    const cluster = await startTestCluster();
    for (const name of ['a', 'b', 'c']) cluster.objects.create('nodes', { metadata: { name } });
    const { body } = await cluster.call('/api/v1/nodes?limit=2');
    await cluster.call(`/api/v1/nodes?limit=2&continue=${body.metadata.continue}`);
    await cluster.call('/api/v1/nodes/a');
    const { evidence } = cluster;
    expect([evidence.count('list', 'nodes'), evidence.listStarts('nodes'), evidence.count('get', 'nodes')]).toEqual([
      2, 1, 1,
    ]);
    evidence.reset();
    expect([evidence.count('list', 'nodes'), evidence.listStarts('nodes'), evidence.requests.length]).toEqual([
      0, 0, 0,
    ]);
  });

  test('counts a request whatever its answer', async () => {
    const cluster = await startTestCluster();
    cluster.faults.next({}, { status: 500 });
    await cluster.call('/api/v1/nodes');
    await cluster.call('/api/v1/nodes', { token: 'unknown' });
    expect(cluster.evidence.count('list', 'nodes')).toBe(2);
  });

  test('keeps requests with exact headers and body', async () => {
    const cluster = await startTestCluster();
    const body = { metadata: { name: 'a' } };
    await cluster.call('/api/v1/nodes?x=%20y', { method: 'POST', body, headers: { 'Impersonate-User': 'Jane' } });
    const [request] = cluster.evidence.requests;
    expect(request).toMatchObject({ method: 'POST', url: '/api/v1/nodes?x=%20y', verb: 'create', connection: 1 });
    expect(request?.rawHeaders).toContain('Impersonate-User');
    expect(request?.body.toString()).toBe('{"metadata":{"name":"a"}}');
  });

  test('counts watches while they are open', async () => {
    const cluster = await startTestCluster();
    const { evidence } = cluster;
    const watch = await cluster.stream(`${WATCH_NODES}1`);
    expect([evidence.openWatches('nodes'), evidence.openWatches('pods'), evidence.openWatches()]).toEqual([1, 0, 1]);
    watch.leave();
    await evidence.until(() => evidence.openWatches() === 0);
  });

  test('counts TCP connections, not requests', async () => {
    const cluster = await startTestCluster();
    for (let request = 0; request < 3; request++) await cluster.call('/version');
    expect(cluster.evidence.connections).toBe(1);
    expect(cluster.evidence.openConnections).toBe(1);
  });

  test('says when what was waited for does not come', async () => {
    const cluster = await startTestCluster();
    const waiting = cluster.evidence.until(() => false, AbortSignal.abort());
    await expect(waiting).rejects.toThrow('the simulated cluster did not see what was waited for');
  });
});
