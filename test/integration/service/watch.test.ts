import { describe, expect, test } from 'vitest';
import { applyEvents, Watcher } from '../../support/watcher.ts';
import { atEnd, eventually, NODES, node, type Service, startCluster, startService } from './stand.ts';

async function start() {
  const cluster = await startCluster();
  const service = await startService(cluster);
  const { access_token: token } = await service.signIn('ada');
  const watch = (query = '', headers: Readonly<Record<string, string>> = {}) =>
    openWatch(service, { query, headers: { authorization: `Bearer ${token}`, ...headers } });
  return { cluster, service, token, watch };
}

interface Asked {
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
}

async function openWatch(service: Service, { query, headers }: Asked): Promise<Watcher> {
  const watcher = await Watcher.open(`${service.gatehouse.origin}${NODES}?watch=true${query}`, headers);
  atEnd(async () => watcher.close());
  return watcher;
}

const told = (watcher: Watcher, last: string) =>
  eventually(
    () => watcher.story,
    (story) => story.at(-1) === last,
  );

const pod = (name: string, nodeName: string, cpu: string) => ({
  metadata: { name, namespace: 'default' },
  spec: { nodeName, containers: [{ name: 'main', image: 'example.test/image', resources: { requests: { cpu } } }] },
  status: { phase: 'Running' },
});

describe('a watch of the node list', () => {
  test('begins with every node as ADDED, as it stands in the list, and a bookmark', async () => {
    const { service, token, watch } = await start();
    const watcher = await watch();
    await told(watcher, 'BOOKMARK');
    const { body, headers } = await service.list(token);
    expect(watcher.events).toEqual([
      ...body.items.map((object: unknown) => ({ type: 'ADDED', object })),
      {
        type: 'BOOKMARK',
        object: {
          kind: 'Node',
          apiVersion: 'v1',
          metadata: {
            resourceVersion: headers.get('etag')?.slice(1, -1).replace('-gzip', ''),
            annotations: { 'k8s.io/initial-events-end': 'true' },
          },
        },
      },
    ]);
  });

  test('goes on with changed, new and deleted nodes', async () => {
    const { cluster, service, token, watch } = await start();
    const watcher = await watch();
    await told(watcher, 'BOOKMARK');
    cluster.objects.patch('nodes', 'node-b', { metadata: { labels: { tier: 'new' } } });
    await told(watcher, 'MODIFIED node-b');
    cluster.objects.create('nodes', node('node-d'));
    await told(watcher, 'ADDED node-d');
    cluster.objects.remove('nodes', 'node-a');
    await told(watcher, 'DELETED node-a');
    const { body } = await service.list(token, '?sortBy=name&ascending=true');
    const items = [...applyEvents(watcher.events).values()] as { metadata: { name: string } }[];
    expect(items.sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))).toEqual(body.items);
  });

  test('tells changed usage, gathered into one event', async () => {
    const { cluster, service, watch } = await start();
    const watcher = await watch();
    await told(watcher, 'BOOKMARK');
    for (let at = 0; at < 50; at++) cluster.objects.create('pods', pod(`pod-${at}`, 'node-b', '10m'));
    const figure = () => watcher.events.at(-1)?.object.metadata.annotations?.['node.gatehouse.io/cpu-requests'];
    await eventually(figure, (cpu) => cpu === '500m');
    expect(watcher.events.length).toBeLessThan(4 + 50);
    expect(await service.metric('gatehouse_watches')).toBe(1);
  });
});
