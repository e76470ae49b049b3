import { describe, expect, test } from 'vitest';
import { atEnd } from '../../support/at-end.ts';
import { applyEvents, Watcher } from '../../support/watcher.ts';
import { startDrivenReady } from './driven.ts';
import { eventually, NODES, node, pod, type Service, startCluster, startService, usersFile } from './stand.ts';

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

describe('a watch of the node list', () => {
  test('begins with every node as ADDED, as it stands in the list, and a bookmark', async () => {
    const { service, token, watch } = await start();
    const watcher = await watch();
    await told(watcher, 'BOOKMARK');
    const { body } = await service.list(token);
    const bookmark = watcher.events.at(-1);
    expect(bookmark).toEqual({
      type: 'BOOKMARK',
      object: {
        kind: 'Node',
        apiVersion: 'v1',
        metadata: {
          resourceVersion: expect.stringMatching(/^\d+\.3\.0\.0$/),
          annotations: { 'k8s.io/initial-events-end': 'true' },
        },
      },
    });
    const typed = body.items.map((item: { metadata: object }) => ({
      ...{ kind: 'Node', apiVersion: 'v1', ...item },
      metadata: { ...item.metadata, resourceVersion: expect.any(String) },
    }));
    expect(watcher.events.slice(0, -1)).toEqual(typed.map((object: object) => ({ type: 'ADDED', object })));
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
    const items = [...applyEvents(watcher.events).values()] as { metadata: { name: string; labels?: object } }[];
    const shown = ({ metadata: { name, labels } }: (typeof items)[number]) => ({ name, labels });
    expect(items.map(shown).sort((a, b) => (a.name < b.name ? -1 : 1))).toEqual(body.items.map(shown));
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

describe('a client that goes on from where its stream ended', () => {
  test('is told what happened since, and no more', async () => {
    const { cluster, watch } = await start();
    const first = await watch('&timeoutSeconds=1');
    await eventually(
      () => first.ending,
      (ending) => ending === 'complete',
    );
    cluster.objects.patch('nodes', 'node-b', { metadata: { labels: { tier: 'new' } } });
    cluster.objects.remove('nodes', 'node-a');
    const second = await watch(`&resourceVersion=${first.version}`);
    await eventually(
      () => second.story,
      (story) => story.includes('MODIFIED node-b') && story.includes('DELETED node-a'),
    );
    expect(second.story.filter((event) => event !== 'BOOKMARK').sort()).toEqual(['DELETED node-a', 'MODIFIED node-b']);
  });

  test('does so at another replica, and after a restart when nothing changed meanwhile', async () => {
    const { cluster, watch } = await start();
    const first = await watch();
    await told(first, 'BOOKMARK');
    const other = await startService(cluster);
    const { access_token: token } = await other.signIn('ada');
    const headers = { authorization: `Bearer ${token}` };
    const second = await openWatch(other, { query: `&resourceVersion=${first.version}`, headers });
    await told(second, 'BOOKMARK');
    expect(second.story).toEqual(['BOOKMARK']);
    cluster.objects.patch('nodes', 'node-b', { metadata: { labels: { tier: 'new' } } });
    await told(second, 'MODIFIED node-b');
    const back = await watch(`&resourceVersion=${second.events.at(-1)?.object.metadata.resourceVersion}`);
    await told(back, 'BOOKMARK');
    expect(back.story).toEqual(['BOOKMARK']);
  });

  test('begins anew where more happened than a new replica can know', async () => {
    const { cluster, watch } = await start();
    const first = await watch();
    await told(first, 'BOOKMARK');
    cluster.objects.remove('nodes', 'node-a');
    const other = await startService(cluster);
    const { access_token: token } = await other.signIn('ada');
    const again = await other.list(token, `?watch=true&resourceVersion=${first.version}`);
    expect([again.status, again.body.reason, again.body.message]).toEqual([
      410,
      'Expired',
      expect.stringContaining('too old resource version'),
    ]);
  });
});

describe('a watch by label', () => {
  test('tells of nodes that begin to match and that do so no more', async () => {
    const { cluster, watch } = await start();
    const watcher = await watch('&labelSelector=tier%3Dnew');
    await told(watcher, 'BOOKMARK');
    cluster.objects.patch('nodes', 'node-b', { metadata: { labels: { tier: 'new' } } });
    await told(watcher, 'ADDED node-b');
    cluster.objects.patch('nodes', 'node-b', { metadata: { labels: { tier: 'old' } } });
    await told(watcher, 'DELETED node-b');
    expect(watcher.story).toEqual(['BOOKMARK', 'ADDED node-b', 'DELETED node-b']);
  });
});

/** An open watch of Ada, on a clock that the test drives. */
async function startWatching(query = '') {
  const cluster = await startCluster();
  const { clock, service } = await startDrivenReady(cluster);
  const { access_token: token } = await clock.during(service.signIn('ada'));
  const watcher = await openWatch(service, { query, headers: { authorization: `Bearer ${token}` } });
  const told = (last: string) =>
    clock.until(
      () => watcher.story,
      (story) => story.at(-1) === last,
    );
  await told('BOOKMARK');
  return { cluster, clock, service, token, watcher, told };
}

describe('a watch, when the cluster’s history breaks off', () => {
  test('C-07 is told what a relist shows to differ, and nothing else', async () => {
    const { cluster, clock, service, watcher } = await startWatching();
    const refuse = cluster.faults.until({ verb: 'watch', kind: 'nodes' }, { connection: 'reset' });
    await cluster.restart(0);
    cluster.objects.patch('nodes', 'node-b', { metadata: { labels: { tier: 'new' } } });
    cluster.objects.remove('nodes', 'node-a');
    cluster.objects.create('nodes', node('node-d'));
    cluster.compact();
    refuse();
    await clock.until(
      () => service.metric('gatehouse_reflector_relists_total{resource="nodes",reason="expired"}'),
      (relists) => relists >= 1,
    );
    await clock.until(
      () => watcher.story.length,
      (events) => events >= 7,
    );
    expect(watcher.story.slice(4).sort()).toEqual(['ADDED node-d', 'DELETED node-a', 'MODIFIED node-b']);
  });

  test('C-23 is told what a restored server shows to differ, and begins anew where it comes back', async () => {
    const { cluster, clock, service, token, watcher, told } = await startWatching('&timeoutSeconds=600');
    const before = cluster.objects.revision;
    cluster.objects.patch('nodes', 'node-b', { metadata: { labels: { tier: 'new' } } });
    await told('MODIFIED node-b');
    cluster.restore(String(before));
    await clock.until(
      () => watcher.story.filter((event) => event === 'MODIFIED node-b').length,
      (count) => count === 2,
    );
    expect(watcher.story.slice(4)).toEqual(['MODIFIED node-b', 'MODIFIED node-b']);
    expect(watcher.events.at(-1)?.object.metadata.labels).toEqual({});
    const again = await service.list(token, `?watch=true&resourceVersion=${watcher.version}`);
    expect([again.status, again.body.reason]).toEqual([410, 'Expired']);
  });
});

describe('a watch whose caller signs out or loses the right', () => {
  const ended = ({ clock, watcher }: Pick<Awaited<ReturnType<typeof startWatching>>, 'clock' | 'watcher'>) =>
    clock.until(
      () => watcher.ending,
      (ending) => ending !== undefined,
    );

  test('ends at once after the sign-out, and says so', async () => {
    const { clock, service, token, watcher } = await startWatching();
    await service.call('/oauth/logout', { token });
    const began = clock.monotonic();
    expect(await ended({ clock, watcher })).toBe('complete');
    expect(clock.monotonic() - began).toBeLessThan(1_000);
    expect(watcher.events.at(-1)).toMatchObject({ type: 'ERROR', object: { code: 401, reason: 'Unauthorized' } });
  });

  test('ends at once when the users file no longer has the user, as soon as the file is read', async () => {
    const { clock, service, watcher } = await startWatching();
    service.gatehouse.writeUsers(await usersFile({}, ['joe']));
    const isKnown = (): boolean => service.gatehouse.log.some(({ msg }) => msg === 'the changed users file is in use');
    await clock.until(isKnown, Boolean);
    const began = clock.monotonic();
    expect(await ended({ clock, watcher })).toBe('complete');
    expect(clock.monotonic() - began).toBeLessThan(1_000);
    expect(watcher.events.at(-1)).toMatchObject({ type: 'ERROR', object: { code: 401 } });
  });

  test('ends within 40 s of the binding’s removal, and says so', async () => {
    const { cluster, clock, watcher } = await startWatching();
    cluster.objects.remove('clusterrolebindings', 'observed-admins');
    const began = clock.monotonic();
    expect(await ended({ clock, watcher })).toBe('complete');
    expect(clock.monotonic() - began).toBeLessThan(42_000);
    expect(watcher.events.at(-1)).toMatchObject({ type: 'ERROR', object: { code: 403, reason: 'Forbidden' } });
  });
});
