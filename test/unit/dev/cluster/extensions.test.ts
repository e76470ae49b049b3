import { expect, test } from 'vitest';
import { CLEANUP } from '../../../../dev/cluster/custom/definitions.ts';
import { ageText } from '../../../../dev/cluster/tables/age.ts';
import { startTestCluster, type TestCluster } from './test-cluster.ts';

const METRICS = { group: 'metrics.example.test', version: 'v1beta1' };
const NODE_METRICS = { plural: 'nodes', kind: 'NodeMetrics', namespaced: false };
const LIST = '/apis/metrics.example.test/v1beta1/nodes';
const AGGREGATED = { accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' };

const inDiscovery = async (cluster: TestCluster, group: string): Promise<object | undefined> => {
  const { body } = await cluster.call('/apis', { headers: AGGREGATED });
  return body.items.find(({ metadata }: { metadata: { name: string } }) => metadata.name === group)?.versions;
};

test('an aggregated API is served, is Stale and 503 while its server is away, and comes back with its objects', async () => {
  const cluster = await startTestCluster();
  cluster.aggregatedApis.add({ ...METRICS, resources: [NODE_METRICS] });
  cluster.objects.create('nodes.metrics.example.test', { metadata: { name: 'n' } });
  const served = [{ version: 'v1beta1', freshness: 'Current', resources: [{ resource: 'nodes' }] }];
  expect(await inDiscovery(cluster, METRICS.group)).toMatchObject(served);
  expect((await cluster.call(LIST)).body).toMatchObject({
    kind: 'NodeMetricsList',
    items: [{ metadata: { name: 'n' } }],
  });

  const watch = await cluster.stream(`${LIST}?watch=true`);
  cluster.aggregatedApis.setAway(METRICS, true);
  expect(await watch.ended).toBe('complete');
  expect(await inDiscovery(cluster, METRICS.group)).toEqual([{ version: 'v1beta1', freshness: 'Stale' }]);
  for (const path of [LIST, '/apis/metrics.example.test/v1beta1', `${LIST}?watch=true`])
    expect(await cluster.call(path)).toMatchObject({ status: 503, text: 'service unavailable\n' });
  expect((await cluster.call('/apis/metrics.example.test')).body).toMatchObject({
    preferredVersion: { version: METRICS.version },
  });
  // Not the nodes of the core group.
  expect(cluster.evidence.count('list', 'nodes.metrics.example.test')).toBe(2);
  expect(cluster.evidence.count('list', 'nodes')).toBe(0);

  cluster.aggregatedApis.setAway(METRICS, false);
  expect((await cluster.call(LIST)).body.items).toHaveLength(1);
  expect(await inDiscovery(cluster, METRICS.group)).toMatchObject(served);
});

test('an APIService that a client makes is away, because there is nothing behind it', async () => {
  const cluster = await startTestCluster();
  const path = '/apis/apiregistration.k8s.io/v1/apiservices';
  const spec = { ...METRICS, service: { namespace: 'kube-system', name: 'metrics-server' } };
  await cluster.call(path, { method: 'POST', body: { metadata: { name: 'v1beta1.metrics.example.test' }, spec } });
  expect((await cluster.call(LIST)).status).toBe(503);
  const { body } = await cluster.call(`${path}/v1beta1.metrics.example.test`);
  expect(body.status.conditions).toMatchObject([{ type: 'Available', status: 'False', reason: 'ServiceNotFound' }]);
  await cluster.call(`${path}/v1beta1.metrics.example.test`, { method: 'DELETE' });
  expect(await inDiscovery(cluster, METRICS.group)).toBeUndefined();
  expect((await cluster.call(LIST)).text).toBe('404 page not found\n');
});

test('a caller without the right to an aggregated API is refused, whether or not its server is away', async () => {
  const cluster = await startTestCluster({ tokens: { poor: { username: 'nobody', groups: [] } } });
  cluster.aggregatedApis.add({ ...METRICS, resources: [NODE_METRICS] });
  const asNobody = async (): Promise<[number, string]> => {
    const { status, body } = await cluster.call(LIST, { token: 'poor' });
    return [status, body.message];
  };
  const there = await asNobody();
  expect(there[0]).toBe(403);
  cluster.aggregatedApis.setAway(METRICS, true);
  expect(await asNobody()).toEqual(there);
});

const GROUP = 'things.example.test';
const definition = (versions: readonly object[] = [{ name: 'v1', served: true, storage: true }]) => ({
  metadata: { name: `pods.${GROUP}` },
  spec: { group: GROUP, scope: 'Namespaced', names: { plural: 'pods', kind: 'Thing' }, versions },
});
const THINGS = `/apis/${GROUP}/v1/namespaces/default/pods`;

test('a custom kind with the plural of a built-in one is another kind', async () => {
  const cluster = await startTestCluster();
  cluster.objects.create('customresourcedefinitions', definition());
  const body = { apiVersion: `${GROUP}/v1`, kind: 'Thing', metadata: { name: 'a' }, status: { phase: 'Odd' } };
  // The status of a pod is its own; this one has no subresource for it.
  expect((await cluster.call(THINGS, { method: 'POST', body })).body.status).toEqual({ phase: 'Odd' });
  expect(cluster.objects.list('pods')).toEqual([]);
  expect(cluster.objects.list(`pods.${GROUP}`)).toHaveLength(1);
  cluster.faults.next({ kind: `pods.${GROUP}` }, { status: 429 });
  expect((await cluster.call('/api/v1/pods')).status).toBe(200);
  expect((await cluster.call(THINGS)).status).toBe(429);
  const deleted = await cluster.call(`${THINGS}/a`, { method: 'DELETE' });
  expect(deleted.body).toMatchObject({ kind: 'Status', status: 'Success' });
});

test('a version that is no longer served is gone from discovery and paths', async () => {
  const cluster = await startTestCluster();
  const old = { name: 'v1beta1', served: true, storage: false };
  cluster.objects.create('customresourcedefinitions', definition([{ name: 'v1', served: true, storage: true }, old]));
  expect(await inDiscovery(cluster, GROUP)).toMatchObject([{ version: 'v1' }, { version: 'v1beta1' }]);
  const versions = [
    { name: 'v1', served: true, storage: true },
    { ...old, served: false },
  ];
  cluster.objects.patch('customresourcedefinitions', `pods.${GROUP}`, { spec: { versions } });
  expect(await inDiscovery(cluster, GROUP)).toMatchObject([{ version: 'v1' }]);
  expect((await cluster.call(`/apis/${GROUP}/v1beta1/pods`)).status).toBe(404);
});

test('a definition that comes again has none of the objects from before', async () => {
  const cluster = await startTestCluster();
  cluster.objects.create('customresourcedefinitions', definition());
  cluster.objects.create(`pods.${GROUP}`, { metadata: { name: 'a', namespace: 'default' } });
  const before = cluster.objects.resourceVersion;
  cluster.objects.remove('customresourcedefinitions', `pods.${GROUP}`);
  expect((await cluster.call(THINGS)).status).toBe(404);
  cluster.objects.create('customresourcedefinitions', definition());
  expect((await cluster.call(THINGS)).body.items).toEqual([]);
  // A restored backup has the kind and its objects as they were.
  cluster.objects.restore(Number(before));
  expect((await cluster.call(THINGS)).body.items).toHaveLength(1);
});

test('a definition with another finalizer ends its kind and waits for that one', async () => {
  const cluster = await startTestCluster();
  const { metadata, spec } = definition();
  const finalizers = ['example.test/mine'];
  cluster.objects.create('customresourcedefinitions', { metadata: { ...metadata, finalizers }, spec });
  const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/pods.${GROUP}`;
  const { body } = await cluster.call(path, { method: 'DELETE' });
  expect(body.metadata.finalizers).toEqual([...finalizers, CLEANUP]);
  expect((await cluster.call(path)).body.metadata.finalizers).toEqual(finalizers);
  expect((await cluster.call(THINGS)).status).toBe(404);
});

test('ages are written as Kubernetes writes them', () => {
  const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000];
  const ages: readonly (readonly [number, string])[] = [
    [-3 * second, '<invalid>'],
    [-second, '0s'],
    [119 * second, '119s'],
    [2 * minute, '2m'],
    [3 * minute + 5 * second, '3m5s'],
    [179 * minute, '179m'],
    [3 * hour, '3h'],
    [7 * hour + 59 * minute, '7h59m'],
    [47 * hour, '47h'],
    [2 * day + 3 * hour, '2d3h'],
    [8 * day, '8d'],
    [729 * day, '729d'],
    [730 * day, '2y'],
    [2_332 * day, '6y142d'],
    [8 * 365 * day, '8y'],
  ];
  expect(ages.map(([ms]) => ageText(ms))).toEqual(ages.map(([, text]) => text));
});
