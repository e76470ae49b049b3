import { describe, expect, test } from 'vitest';
import { grow, loseMirrors, told, unavailable } from './ageing.ts';
import { startDrivenReady } from './driven.ts';
import { eventually, NODES, node, pod, type Service, startCluster, startService } from './stand.ts';

const SUMMARY = '/kapis/resources.gatehouse.io/v1alpha3/nodesummary';

async function start(config: Readonly<Record<string, unknown>> = {}) {
  const cluster = await startCluster();
  const service = await startService(cluster, { config });
  const { access_token: token } = await service.signIn('ada');
  const ask = (headers: Readonly<Record<string, string>> = {}) => service.call(SUMMARY, { token, headers });
  await eventually(ask, ({ status }) => status === 200);
  return { cluster, service, token, ask };
}

/** The sum of a cpu annotation over the list, in milli-cores. */
async function milliCores(service: Service, token: string, figure: string): Promise<number> {
  const { items } = (await service.list(token)).body;
  const texts: string[] = items.map(({ metadata }: Item) => metadata.annotations[`node.gatehouse.io/${figure}`]);
  return texts.reduce((sum, text) => sum + toMilli(text), 0);
}

const toMilli = (text: string): number => (text.endsWith('m') ? Number.parseInt(text, 10) : Number(text) * 1_000);

interface Item {
  readonly metadata: { readonly annotations: Readonly<Record<string, string>> };
}

describe('the summary of the nodes', () => {
  test('NT-01 NT-02 follows nodes and pods, and agrees with the list', async () => {
    const { cluster, service, token, ask } = await start();
    cluster.objects.create('pods', pod('one', 'node-b', '1'));
    cluster.objects.create('pods', pod('two', 'node-c', '250m'));
    cluster.objects.patch('nodes', 'node-a', { spec: { unschedulable: true } });
    cluster.objects.create('nodes', {
      ...node('node-d'),
      status: {
        allocatable: { cpu: '3500m', memory: '6Gi', pods: '10' },
        conditions: [{ type: 'Ready', status: 'False' }],
      },
    });
    const { body } = await eventually(ask, (seen) => seen.body.nodes.total === 4 && seen.body.pods.scheduled === 2);
    expect(body).toEqual({
      nodes: { total: 4, running: 2, warning: 1, unschedulable: 1 },
      cpu: { allocatable: '15500m', requests: '1250m', limits: '0' },
      memory: { allocatable: '30Gi', requests: '0', limits: '0' },
      pods: { allocatable: '340', scheduled: 2 },
    });
    expect(toMilli(body.cpu.requests)).toBe(await milliCores(service, token, 'cpu-requests'));
    cluster.objects.remove('nodes', 'node-d');
    cluster.objects.patch('pods', 'default/one', { status: { phase: 'Succeeded' } });
    const after = await eventually(ask, (seen) => seen.body.nodes.total === 3 && seen.body.pods.scheduled === 1);
    expect([after.body.cpu, after.body.pods]).toEqual([
      { allocatable: '12', requests: '250m', limits: '0' },
      { allocatable: '330', scheduled: 1 },
    ]);
  });

  test('NT-02 has no usage with usage switched off', async () => {
    const { ask } = await start({ nodes: { usage: false } });
    expect((await ask()).body).toEqual({
      nodes: { total: 3, running: 3, warning: 0, unschedulable: 0 },
      ...{ cpu: { allocatable: '12' }, memory: { allocatable: '24Gi' }, pods: { allocatable: '330' } },
    });
  });

  test('NT-03 needs the right to list nodes, and no other', async () => {
    const { cluster, service } = await start();
    const { access_token: token } = await service.signIn('joe');
    const refused = await service.call(SUMMARY, { token });
    const list = await service.list(token);
    expect([refused.status, refused.body]).toEqual([403, list.body]);
    expect((await service.call(SUMMARY, { token, method: 'DELETE' })).body).toEqual(
      (await service.call(NODES, { token, method: 'DELETE' })).body,
    );
    const rules = [{ apiGroups: ['resources.gatehouse.io'], resources: ['nodes'], verbs: ['list'] }];
    cluster.objects.create('clusterroles', { metadata: { name: 'node-lister' }, rules });
    cluster.objects.create('clusterrolebindings', {
      metadata: { name: 'node-lister' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'node-lister' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'joe' }],
    });
    // Another caller than before, for whom no decision is remembered.
    await service.gatehouse.stop();
    const again = await startService(cluster);
    const joe = await again.signIn('joe');
    await eventually(
      () => again.call(SUMMARY, { token: joe.access_token }),
      ({ status }) => status === 200,
    );
    expect((await again.call(`${SUMMARY}/x`, { token: joe.access_token })).status).toBe(404);
  });

  test('NT-03 takes no parameter of the list, and no other method', async () => {
    const { service, token } = await start();
    const refused = await service.call(`${SUMMARY}?limit=1&watch=true&pretty=1`, { token });
    expect([refused.status, refused.body.details.causes.map(({ field }: { field: string }) => field)]).toEqual([
      400,
      ['limit', 'watch'],
    ]);
    const posted = await service.call(SUMMARY, { token, method: 'POST' });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
    const head = await service.call(`${SUMMARY}/?timeout=10s`, { token, method: 'HEAD' });
    expect([head.status, head.text, head.headers.get('cache-control')]).toEqual([200, '', 'private, no-cache']);
  });

  test('NT-04 is 304 until it says something else', async () => {
    const { cluster, service, token, ask } = await start();
    const etag = (await ask()).headers.get('etag') ?? '';
    const again = () => ask({ 'if-none-match': etag });
    const listed = (await service.list(token)).headers.get('etag');
    cluster.objects.patch('nodes', 'node-b', { metadata: { labels: { tier: 'new' } } });
    await eventually(
      () => service.list(token),
      ({ headers }) => headers.get('etag') !== listed,
    );
    const unchanged = await again();
    expect([unchanged.status, unchanged.text, unchanged.headers.get('etag')]).toEqual([304, '', etag]);
    cluster.objects.create('nodes', node('node-d'));
    expect((await eventually(again, ({ status }) => status === 200)).body.nodes.total).toBe(4);
  });

  test('NT-04 is as old as the list, and refused when the list is', async () => {
    const cluster = await startCluster();
    const { service, clock } = await startDrivenReady(cluster);
    const { access_token: token } = await service.signIn('ada');
    const ask = () => service.call(SUMMARY, { token });
    expect(told(await ask())).toEqual([200, null, null]);
    await loseMirrors(cluster);
    await grow({ service, clock }, 'nodes', 719_900);
    expect(told(await ask())).toEqual([200, '719', '110 - "Response is Stale"']);
    await clock.advance(200);
    const refused = await ask();
    expect([refused.status, refused.body]).toEqual([
      503,
      unavailable('nodes are not available: data is older than 12m0s', 30),
    ]);
  });
});
