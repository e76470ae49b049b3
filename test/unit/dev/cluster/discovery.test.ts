import { expect, test } from 'vitest';
import { byVersionPriority } from '../../../../dev/cluster/api/version-priority.ts';
import { startTestCluster } from './test-cluster.ts';

const inOne = (version: string) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`;
const asClientGo = { accept: `${inOne('v2')},${inOne('v2beta1')},application/json` };

test('a server without aggregated discovery answers the same request group by group', async () => {
  const cluster = await startTestCluster({ aggregatedDiscovery: [] });
  expect((await cluster.call('/apis', { headers: asClientGo })).body.kind).toBe('APIGroupList');
  expect((await cluster.call('/api', { headers: asClientGo })).body.kind).toBe('APIVersions');
  expect((await cluster.call('/apis', { headers: { accept: inOne('v2') } })).status).toBe(406);
  expect(cluster.evidence.count('get', '/apis')).toBe(2);
});

test('a server with an older aggregated discovery answers in that version', async () => {
  const cluster = await startTestCluster({ aggregatedDiscovery: ['v2beta1'] });
  const { headers, body } = await cluster.call('/apis', { headers: asClientGo });
  expect(headers['content-type']).toBe(inOne('v2beta1'));
  expect(body.apiVersion).toBe('apidiscovery.k8s.io/v2beta1');
});

test('an event is one object in both groups', async () => {
  const cluster = await startTestCluster();
  const path = '/apis/events.k8s.io/v1/namespaces/default/events';
  const event = { metadata: { name: 'e' }, regarding: { kind: 'Pod', name: 'p' }, note: 'said', reason: 'Why' };
  const created = await cluster.call(path, { method: 'POST', body: event });
  expect([created.status, created.body]).toMatchObject([201, { apiVersion: 'events.k8s.io/v1', note: 'said' }]);
  const core = await cluster.call('/api/v1/namespaces/default/events/e');
  expect(core.body).toMatchObject({ apiVersion: 'v1', message: 'said', involvedObject: { name: 'p' } });
  expect(core.body.note).toBeUndefined();
  const selected = await cluster.call(`${path}?fieldSelector=regarding.name%3Dp`);
  expect(selected.body.items).toMatchObject([{ note: 'said', regarding: { name: 'p' } }]);
  const patched = await cluster.call(`${path}/e`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: { note: 'said again' },
  });
  expect(patched.body).toMatchObject({ note: 'said again', regarding: { name: 'p' } });
  expect(cluster.objects.get('events', 'default/e')).toMatchObject({ message: 'said again' });
  expect(cluster.evidence.count('list', 'events.events.k8s.io')).toBe(1);
});

test('versions are in the order of Kubernetes', () => {
  const versions = ['v10beta3', 'foo1', 'v2', 'v1alpha1', 'v11alpha2', 'v1', 'v3beta1', 'bar', 'v10', 'v10beta10'];
  expect(versions.toSorted(byVersionPriority)).toEqual([
    ...['v10', 'v2', 'v1', 'v10beta10', 'v10beta3', 'v3beta1', 'v11alpha2', 'v1alpha1', 'bar', 'foo1'],
  ]);
});
