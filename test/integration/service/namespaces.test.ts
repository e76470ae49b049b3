import { describe, expect, test } from 'vitest';
import { atEnd } from '../../support/at-end.ts';
import { Watcher } from '../../support/watcher.ts';
import { startDriven, startDrivenReady } from './driven.ts';
import { eventually, type Service, shownAsFailing, startCluster, startService } from './stand.ts';

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
  const REFUSED = 'namespaces are not available: the cluster does not let this server list and watch namespaces';
  const answers = async (service: Service, token: string) => {
    const namespaces = await service.call(NAMESPACES, { token });
    return [await service.readiness(), (await service.list(token)).status, namespaces.status, namespaces.body.message];
  };
  /** The series that alerts look at. */
  const series = async (service: Service): Promise<string[]> =>
    (await service.metrics())
      .split('\n')
      .filter((line) =>
        /^gatehouse_(cache_staleness_seconds|readiness_check|reflector_forbidden)\{\w+="namespaces\b/.test(line),
      )
      .map((line) => line.replace(/(staleness_seconds\S+) .*$/, '$1'));

  test('nodes are served and the service is ready; namespaces are 503 that says so, until the right is there', async () => {
    const cluster = await startCluster();
    const end = cluster.faults.until({ kind: 'namespaces' }, { status: 403 });
    const { clock, service } = await startDrivenReady(cluster);
    const { access_token: token } = await service.signIn('ada');
    expect(await answers(service, token)).toEqual([200, 200, 503, REFUSED]);
    expect((await service.call('/readyz/namespaces-synced')).status).toBe(503);
    expect(await shownAsFailing(service)).toEqual(['namespaces-synced']);
    end();
    const [ready, nodes, namespaces] = await clock.until(
      () => answers(service, token),
      ([, , status]) => status === 200,
    );
    expect([ready, nodes, namespaces]).toEqual([200, 200, 200]);
  });

  test('no alert comes of it: one series says so, and there is no age and no check that fails', async () => {
    const cluster = await startCluster();
    const end = cluster.faults.until({ kind: 'namespaces' }, { status: 403 });
    const { clock, service } = await startDrivenReady(cluster);
    expect(await series(service)).toEqual([
      'gatehouse_reflector_forbidden{resource="namespaces"} 1',
      'gatehouse_readiness_check{check="namespaces-fresh"} 1',
    ]);
    end();
    const { access_token: token } = await service.signIn('ada');
    await clock.until(
      () => answers(service, token),
      ([, , status]) => status === 200,
    );
    expect(await series(service)).toEqual([
      'gatehouse_reflector_forbidden{resource="namespaces"} 0',
      'gatehouse_cache_staleness_seconds{resource="namespaces"}',
      'gatehouse_readiness_check{check="namespaces-synced"} 1',
      'gatehouse_readiness_check{check="namespaces-fresh"} 1',
    ]);
  });

  test('it is told when the right was lost later, as soon as what is in memory is too old', async () => {
    const cluster = await startCluster();
    const config = { nodes: { maxStaleness: '4m' } };
    const { clock, service } = await startDrivenReady(cluster, { config });
    const { access_token: token } = await service.signIn('ada');
    cluster.faults.until({ kind: 'namespaces' }, { status: 403 });
    await cluster.restart();
    await clock.until(
      () => service.metric('gatehouse_cluster_requests_total{purpose="watch",code="403"}'),
      (count) => count > 0,
    );
    expect((await answers(service, token)).slice(0, 3)).toEqual([200, 200, 200]);
    await clock.spend(245_000);
    await clock.until(
      () => answers(service, token),
      ([, nodes]) => nodes === 200,
    );
    const refused = await service.call(NAMESPACES, { token });
    // Trying again cannot help before an operator has given the right back.
    expect([refused.status, refused.body.message, refused.headers.get('retry-after')]).toEqual([503, REFUSED, null]);
    expect(await series(service)).toEqual([
      'gatehouse_reflector_forbidden{resource="namespaces"} 1',
      'gatehouse_readiness_check{check="namespaces-synced"} 1',
    ]);
  });

  test('it is told on while the cluster answers 429 between', async () => {
    const cluster = await startCluster();
    const end = cluster.faults.until({ kind: 'namespaces' }, { status: 403 });
    const { clock, service } = await startDrivenReady(cluster);
    const { access_token: token } = await service.signIn('ada');
    end();
    cluster.faults.until({ kind: 'namespaces' }, { status: 429 });
    await clock.until(
      () => service.metric('gatehouse_reflector_lists_total{resource="namespaces",result="throttled"}'),
      (lists) => lists > 0,
    );
    expect(await answers(service, token)).toEqual([200, 200, 503, REFUSED]);
  });
});

test('a replica that may list namespaces and has not got them yet is not ready', async () => {
  const cluster = await startCluster();
  const end = cluster.faults.until({ kind: 'namespaces' }, { status: 500 });
  const { clock, service } = await startDriven(cluster);
  const failing = async (): Promise<string[]> =>
    ((await service.call('/readyz')).body?.details.causes ?? []).map(({ field }: { field: string }) => field);
  await clock.until(failing, (checks) => checks.join() === 'namespaces-synced');
  const { access_token: token } = await service.signIn('ada');
  const { status, body } = await service.call(NAMESPACES, { token });
  expect([status, body.message]).toEqual([503, 'namespaces are not available: first synchronisation has not finished']);
  expect((await service.list(token)).status).toBe(200);
  expect(await service.metric('gatehouse_reflector_forbidden{resource="namespaces"}')).toBe(0);
  end();
  await clock.until(service.readiness, (code) => code === 200);
});
