import { describe, expect, test } from 'vitest';
import { eventually, NODES, node, pod, type Service, startCluster, startService } from './stand.ts';

const BY_NAME = '?sortBy=name&ascending=true';

async function start() {
  const cluster = await startCluster();
  const service = await startService(cluster);
  const { access_token: token } = await service.signIn('ada');
  return { cluster, service, token };
}

interface Item {
  readonly metadata: {
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
  };
}

const itemOf = async (service: Service, token: string, name: string): Promise<Item | undefined> =>
  ((await service.list(token)).body.items as Item[]).find(({ metadata }) => metadata.name === name);

describe('a change in the cluster', () => {
  test('of a node is in the list, under another ETag', async () => {
    const { cluster, service, token } = await start();
    const before = (await service.list(token)).headers.get('etag');
    cluster.objects.patch('nodes', 'node-b', { metadata: { labels: { tier: 'new' } } });
    await eventually(
      () => itemOf(service, token, 'node-b'),
      (item) => item?.metadata.labels?.['tier'] === 'new',
    );
    expect((await service.list(token)).headers.get('etag')).not.toBe(before);
  });

  test('a new node appears, a deleted one goes', async () => {
    const { cluster, service, token } = await start();
    cluster.objects.create('nodes', node('node-d'));
    cluster.objects.remove('nodes', 'node-a');
    const names = async (): Promise<string[]> =>
      ((await service.list(token, BY_NAME)).body.items as Item[]).map(({ metadata }) => metadata.name);
    await eventually(names, (seen) => seen.join() === 'node-b,node-c,node-d');
    expect((await service.call(`${NODES}/node-a`, { token })).status).toBe(404);
  });

  test('of pods is in the usage of their node, and gone with them', async () => {
    const { cluster, service, token } = await start();
    const requests = async () =>
      (await itemOf(service, token, 'node-b'))?.metadata.annotations['node.gatehouse.io/cpu-requests'];
    cluster.objects.create('pods', pod('one', 'node-b', '1'));
    cluster.objects.create('pods', pod('two', 'node-b', '500m'));
    await eventually(requests, (cpu) => cpu === '1500m');
    cluster.objects.patch('pods', 'default/one', { status: { phase: 'Succeeded' } });
    await eventually(requests, (cpu) => cpu === '500m');
    cluster.objects.remove('pods', 'default/two');
    await eventually(requests, (cpu) => cpu === '0');
  });

  test('leaves the usage of other nodes alone', async () => {
    const { cluster, service, token } = await start();
    const before = await itemOf(service, token, 'node-a');
    cluster.objects.create('pods', pod('one', 'node-b', '1'));
    await eventually(
      () => itemOf(service, token, 'node-b'),
      (item) => item?.metadata.annotations['node.gatehouse.io/cpu-requests'] === '1',
    );
    expect(await itemOf(service, token, 'node-a')).toEqual(before);
  });

  test('with usage switched off, pods are not watched and not shown', async () => {
    const cluster = await startCluster();
    cluster.objects.create('pods', pod('one', 'node-b', '1'));
    const service = await startService(cluster, { config: { nodes: { usage: false } } });
    const { access_token: token } = await service.signIn('ada');
    expect((await itemOf(service, token, 'node-b'))?.metadata.annotations).toBeUndefined();
    expect(cluster.evidence.openWatches('pods')).toBe(0);
  });
});

describe('an answer', () => {
  test('is 304 for its own ETag, and 200 again after a change', async () => {
    const { cluster, service, token } = await start();
    const etag = (await service.list(token)).headers.get('etag') ?? '';
    const again = () => service.call(NODES, { token, headers: { 'if-none-match': etag } });
    const unchanged = await again();
    expect([unchanged.status, unchanged.text, unchanged.headers.get('etag')]).toEqual([304, '', etag]);
    cluster.objects.patch('nodes', 'node-b', { metadata: { labels: { tier: 'new' } } });
    await eventually(again, ({ status }) => status === 200);
  });

  test('for one node is its item in the list, with kind and apiVersion in front', async () => {
    const { service, token } = await start();
    const item = await itemOf(service, token, 'node-b');
    const { text } = await service.call(`${NODES}/node-b`, { token });
    expect(text).toBe(JSON.stringify({ kind: 'Node', apiVersion: 'v1', ...item }));
  });
});

describe('a node that cannot be understood', () => {
  const tier = (value: unknown) => ({ metadata: { name: 'strange', labels: { tier: value as string } } });
  const strange = tier(7);

  test('is left out, counted and logged once, and costs the others nothing', async () => {
    const { cluster, service, token } = await start();
    cluster.objects.create('nodes', strange);
    const dropped = () =>
      service.metric('gatehouse_reflector_dropped_events_total{resource="nodes",reason="malformed"}');
    await eventually(dropped, (count) => count === 1);
    cluster.objects.patch('nodes', 'strange', tier(8));
    await eventually(dropped, (count) => count === 2);
    cluster.objects.create('nodes', node('node-d'));
    await eventually(
      () => service.list(token),
      ({ body }) => body.totalItems === 4,
    );
    expect(await itemOf(service, token, 'strange')).toBeUndefined();
    const lines = service.logged('leaving out an object that cannot be understood');
    expect(lines.map(({ object }) => object)).toEqual(['strange']);
    expect((await service.call('/readyz')).status).toBe(200);
  });

  test('is in the list as soon as it is repaired', async () => {
    const { cluster, service, token } = await start();
    cluster.objects.create('nodes', strange);
    cluster.objects.patch('nodes', 'strange', { metadata: { labels: { tier: 'seven' } } });
    const item = await eventually(() => itemOf(service, token, 'strange'), Boolean);
    expect(item?.metadata.labels).toEqual({ tier: 'seven' });
  });

  test('does not keep a starting replica from being ready', async () => {
    const cluster = await startCluster();
    cluster.objects.create('nodes', strange);
    const service = await startService(cluster);
    const { access_token: token } = await service.signIn('ada');
    expect((await service.list(token)).body.totalItems).toBe(3);
  });
});
