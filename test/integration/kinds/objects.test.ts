import { describe, expect, test } from 'vitest';
import { deploymentObject, startKinds } from './kinds-stand.ts';

const SECRET = {
  kind: 'Secret',
  apiVersion: 'v1',
  metadata: {
    name: 'login',
    namespace: 'red',
    labels: { app: 'web' },
    annotations: { team: 'a', 'kubectl.kubernetes.io/last-applied-configuration': '{"data":{"password":"Y2FuYXJ5"}}' },
  },
  type: 'Opaque',
  data: { password: 'Y2FuYXJ5' },
};

describe('the objects of every kind', () => {
  test('KD-05 Secrets are 404, and are never read from the cluster for it', async () => {
    const stand = await startKinds();
    stand.cluster.objects.create('secrets', SECRET);
    const isOfRed = ({ path }: { path: string }): boolean => path.includes('/namespaces/red/secrets');
    for (const path of ['secrets', 'namespaces/red/secrets', 'namespaces/red/secrets/login'])
      expect([path, (await stand.ask(path)).status]).toEqual([path, 404]);
    expect(stand.requests(isOfRed)).toBe(0);
  });

  test('KD-05 with kinds.secrets metadata a Secret has its metadata and its type, in lists, alone and in watches, and no data', async () => {
    const stand = await startKinds(['red'], { config: { kinds: { secrets: 'metadata' } } });
    stand.cluster.objects.create('secrets', SECRET);
    const alone = await stand.ask('namespaces/red/secrets/login');
    const list = await stand.ask('namespaces/red/secrets');
    const held = await stand.ask('namespaces/red/secrets/login');
    const watch = await stand.watch('namespaces/red/secrets?watch=true');
    await stand.clock.until(
      () => watch.story,
      ({ length }) => length >= 2,
    );
    expect(list.body.items).toHaveLength(1);
    const expected = {
      type: 'Opaque',
      metadata: { name: 'login', labels: { app: 'web' }, annotations: { team: 'a' } },
    };
    for (const object of [alone.body, list.body.items[0], held.body, watch.events[0]?.object])
      expect(object).toMatchObject(expected);
    for (const text of [alone.text, list.text, held.text, watch.text]) expect(text).not.toMatch(/Y2FuYXJ5|"data"/);
    expect((await stand.ask('secrets?fieldSelector=type=Opaque')).status).toBe(400);
  });

  test('KD-06 a kind that the cluster refuses to our account is 403 for everybody, and the log names the missing right', async () => {
    const stand = await startKinds();
    const message =
      'deployments.apps is forbidden: User "gatehouse" cannot list resource "deployments" in API group "apps"';
    stand.cluster.faults.until({ kind: 'deployments' }, { status: 403, message });
    for (const path of ['deployments', 'namespaces/red/deployments']) {
      const { status, body } = await stand.ask(path);
      expect([status, body.message]).toEqual([
        403,
        'deployments.apps are not available: the cluster does not let this server list and watch them',
      ]);
    }
    const named = stand.service.gatehouse.log.filter((line) => JSON.stringify(line).includes('cannot list resource'));
    expect(named).toHaveLength(1);
    expect(await stand.names('pods?limit=1&sortBy=name')).toHaveLength(1);
  });

  test('KD-07 objects pass through whole, but for managedFields and the last-applied annotation, and have a selfLink', async () => {
    const stand = await startKinds();
    const annotations = { team: 'a', 'kubectl.kubernetes.io/last-applied-configuration': '{}' };
    const managedFields = [{ manager: 'kubectl', operation: 'Apply' }];
    const more = { spec: { replicas: 0, futureField: { a: [1, null] } }, status: { replicas: 0 } };
    const metadata = { name: 'web', namespace: 'red', annotations, managedFields };
    stand.cluster.objects.create('deployments', { ...deploymentObject('red', 'web'), ...more, metadata });
    const { body } = await stand.ask('deployments');
    const { metadata: found, ...others } = body.items[0];
    expect(others).toEqual(more);
    expect(found.annotations).toEqual({ team: 'a' });
    expect(found.selfLink).toBe('/apis/apps/v1/namespaces/red/deployments/web');
    expect(found).not.toHaveProperty('managedFields');
    const alone = await stand.ask('namespaces/red/deployments/web');
    expect(alone.body).toEqual({ kind: 'Deployment', apiVersion: 'apps/v1', ...body.items[0] });
  });
});
