import { describe, expect, test } from 'vitest';
import { atEnd } from '../../support/at-end.ts';
import { Watcher } from '../../support/watcher.ts';
import { startDrivenReady } from './driven.ts';
import { eventually, type Service, startCluster, startService } from './stand.ts';

const NAMESPACES = '/kapis/resources.gatehouse.io/v1alpha3/namespaces';

const namespace = (name: string, labels: Readonly<Record<string, string>> = {}, phase = 'Active') => ({
  kind: 'Namespace',
  apiVersion: 'v1',
  metadata: { name, labels, annotations: { 'gatehouse.io/alias-name': `the ${name}` } },
  spec: { finalizers: ['kubernetes'] },
  status: { phase },
});

/** With two namespaces besides those that every cluster has. */
async function start() {
  const cluster = await startCluster();
  cluster.objects.create('namespaces', namespace('shop', { tier: 'one' }));
  cluster.objects.create('namespaces', namespace('shed', { tier: 'two' }, 'Terminating'));
  const service = await startService(cluster);
  const { access_token: token } = await service.signIn('ada');
  const ask = (rest = '', headers: Readonly<Record<string, string>> = {}) =>
    service.call(NAMESPACES + rest, { token, headers });
  await eventually(
    () => ask(),
    ({ status }) => status === 200,
  );
  const names = async (query: string): Promise<string[]> =>
    (await ask(query)).body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name);
  return { cluster, service, token, ask, names };
}

describe('the namespaces', () => {
  test('are listed as the cluster stores them, with their place in it and without their types', async () => {
    const { cluster, ask } = await start();
    const { body, headers } = await ask('?names=shop');
    const {
      kind: _kind,
      apiVersion: _apiVersion,
      ...stored
    } = cluster.objects.get('namespaces', 'shop') as never as {
      kind: string;
      apiVersion: string;
      metadata: object;
    };
    const metadata = { ...stored.metadata, selfLink: '/api/v1/namespaces/shop' };
    expect(body).toEqual({ items: [{ ...stored, metadata }], totalItems: 1 });
    expect(headers.get('cache-control')).toBe('private, no-cache');
  });

  test('are chosen, ordered and paged by every parameter that a list has', async () => {
    const { names, ask } = await start();
    expect(await names('?labelSelector=tier%20in%20(one,two)&sortBy=name&ascending=true')).toEqual(['shed', 'shop']);
    expect(await names('?label=tier=one')).toEqual(['shop']);
    expect(await names('?alias=the%20sh&sortBy=name')).toEqual(['shop', 'shed']);
    expect(await names('?status=Terminating')).toEqual(['shed']);
    expect(await names('?name=sh&namespace=x')).toEqual([]);
    const { body } = await ask('?name=sh&sortBy=name&limit=1&page=2');
    expect([body.items.length, body.items[0].metadata.name, body.totalItems]).toEqual([1, 'shed', 2]);
    const refused = await ask('?status=active&foo=1');
    expect([refused.status, refused.body.details.causes]).toEqual([
      400,
      [
        {
          reason: 'FieldValueNotSupported',
          message: 'invalid query parameter "status": "active" is not one of Active, Terminating',
          field: 'status',
        },
        { reason: 'FieldValueForbidden', message: 'unknown query parameter "foo"', field: 'foo' },
      ],
    ]);
  });

  test('are given one by one, with their types; one that is not there is 404', async () => {
    const { ask } = await start();
    const { body } = await ask('/shop');
    expect([body.kind, body.apiVersion, body.metadata.name, body.status]).toEqual([
      ...['Namespace', 'v1', 'shop'],
      { phase: 'Active' },
    ]);
    const missing = await ask('/none');
    expect([missing.status, missing.body.message]).toEqual([404, 'namespaces "none" not found']);
    expect((await ask('/shop/status')).status).toBe(404);
  });

  test('have a tag that changes when they do, and not when nodes do', async () => {
    const { cluster, ask } = await start();
    const tag = (await ask()).headers.get('etag') ?? '';
    cluster.objects.patch('nodes', 'node-a', { metadata: { labels: { changed: 'meanwhile' } } });
    expect((await ask('', { 'if-none-match': tag })).status).toBe(304);
    cluster.objects.patch('namespaces', 'shop', { metadata: { labels: { tier: 'three' } } });
    const changed = await eventually(
      () => ask('', { 'if-none-match': tag }),
      ({ status }) => status === 200,
    );
    expect(changed.headers.get('etag')).not.toBe(tag);
  });

  test('are watched: each as ADDED, a bookmark, then what changes, and from a bookmark on what was missed', async () => {
    const { cluster, service, token } = await start();
    const watch = async (query: string): Promise<Watcher> => {
      const url = `${service.gatehouse.origin}${NAMESPACES}?watch=true${query}`;
      const watcher = await Watcher.open(url, { authorization: `Bearer ${token}` });
      atEnd(async () => watcher.close());
      return watcher;
    };
    const told = (watcher: Watcher, last: string) =>
      eventually(
        () => watcher.story,
        (story) => story.at(-1) === last,
      );
    const watcher = await watch('&labelSelector=tier=one');
    await told(watcher, 'BOOKMARK');
    expect(watcher.story).toEqual(['ADDED shop', 'BOOKMARK']);
    expect(watcher.events[0]?.object).toMatchObject({
      kind: 'Namespace',
      apiVersion: 'v1',
      status: { phase: 'Active' },
    });
    cluster.objects.patch('namespaces', 'shed', { metadata: { labels: { tier: 'one' } } });
    await told(watcher, 'ADDED shed');
    cluster.objects.remove('namespaces', 'shop');
    await told(watcher, 'DELETED shop');
    const resumed = await watch(`&labelSelector=tier=one&resourceVersion=${watcher.version}`);
    await told(resumed, 'BOOKMARK');
    expect(resumed.story).toEqual(['ADDED shed', 'DELETED shop', 'BOOKMARK']);
  });

  test('are a right of their own', async () => {
    const { service } = await start();
    const joe = (await service.signIn('joe')).access_token;
    expect((await service.call(NAMESPACES, { token: joe })).body.message).toBe(
      'namespaces.resources.gatehouse.io is forbidden: User "joe" cannot list resource "namespaces" in API group ' +
        '"resources.gatehouse.io" at the cluster scope',
    );
    expect((await service.call(`${NAMESPACES}/shop`, { token: joe })).body.message).toBe(
      'namespaces.resources.gatehouse.io "shop" is forbidden: User "joe" cannot get resource "namespaces" in API group ' +
        '"resources.gatehouse.io" in the namespace "shop"',
    );
  });

  test('are found in discovery, with the verbs that are served', async () => {
    const { service, token } = await start();
    const { body } = await service.call('/kapis/resources.gatehouse.io/v1alpha3', { token });
    expect(body.resources).toContainEqual({
      ...{ name: 'namespaces', singularName: 'namespace', namespaced: false, kind: 'Namespace' },
      ...{ verbs: ['get', 'list', 'watch'], shortNames: ['ns'] },
    });
  });

  test('show in the metrics', async () => {
    const { service } = await start();
    const objects = await service.metric('gatehouse_cache_objects{resource="namespaces"}');
    expect(objects).toBeGreaterThanOrEqual(2);
    expect(await service.metric('gatehouse_cache_bytes{resource="namespaces"}')).toBeGreaterThan(0);
    expect(await service.metric('gatehouse_cache_bytes{resource="nodes"}')).toBeGreaterThan(0);
  });
});

describe('where the right to namespaces is missing in the cluster', () => {
  const answers = async (service: Service, token: string) => {
    const namespaces = await service.call(NAMESPACES, { token });
    return [await service.readiness(), (await service.list(token)).status, namespaces.status, namespaces.body.message];
  };

  test('nodes are served and the service is ready; namespaces are 503 that says so, until the right is there', async () => {
    const cluster = await startCluster();
    const end = cluster.faults.until({ kind: 'namespaces' }, { status: 403 });
    const { clock, service } = await startDrivenReady(cluster);
    const { access_token: token } = await service.signIn('ada');
    const message = 'namespaces are not available: the cluster does not let this server list and watch namespaces';
    await clock.until(
      () => answers(service, token),
      ([, , , told]) => told === message,
    );
    expect(await answers(service, token)).toEqual([200, 200, 503, message]);
    expect((await service.call('/readyz/namespaces-synced')).status).toBe(503);
    expect((await service.call('/readyz?verbose')).text).toContain(
      '[-]namespaces-synced failed: reason withheld (does not count)',
    );
    end();
    const [ready, nodes, namespaces] = await clock.until(
      () => answers(service, token),
      ([, , status]) => status === 200,
    );
    expect([ready, nodes, namespaces]).toEqual([200, 200, 200]);
  });

  test('a cluster that is away is told apart from it', async () => {
    const cluster = await startCluster();
    const end = cluster.faults.until({ kind: 'namespaces' }, { status: 500 });
    const { service } = await startDrivenReady(cluster);
    const { access_token: token } = await service.signIn('ada');
    expect((await answers(service, token)).slice(2)).toEqual([
      503,
      'namespaces are not available: first synchronisation has not finished',
    ]);
    end();
  });
});
