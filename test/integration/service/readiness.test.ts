import { describe, expect, test } from 'vitest';
import { kubeconfigText } from '../../../dev/cluster/kubeconfig.ts';
import { freePorts } from '../../support/control-plane/free-ports.ts';
import { tellMeasured } from '../../support/measured.ts';
import { loseMirrors, unavailable } from './ageing.ts';
import { startDriven } from './driven.ts';
import { type Service, startCluster, startService } from './stand.ts';

const UNSYNCED = unavailable('nodes are not available: first synchronisation has not finished', 5);

const failing = async (service: Service): Promise<string[]> =>
  ((await service.call('/readyz')).body?.details.causes ?? []).map((cause: { field: string }) => cause.field);

describe('before the first synchronisation', () => {
  test('the ports are open, and /readyz names what is missing, while the cluster is away', async () => {
    const [port = 0] = await freePorts(1);
    const { service } = await startDriven({ kubeconfig: () => kubeconfigText(`http://127.0.0.1:${port}`, 'secret') });
    expect((await service.call('/readyz')).status).toBe(503);
    const missing = ['nodes-synced', 'pods-synced', 'namespaces-synced', 'signing-key', 'access-reviews'];
    expect(await failing(service)).toEqual(missing);
    expect((await service.call('/livez')).text).toBe('ok');
    expect((await service.metrics()).includes('gatehouse_readiness_check{check="nodes-synced"} 0')).toBe(true);
  });

  test('it becomes ready by itself when the cluster comes', async () => {
    const [port = 0] = await freePorts(1);
    const [token, tokens] = ['secret', { secret: { username: 'gatehouse', groups: ['system:masters'] } }];
    const { service, clock } = await startDriven({
      kubeconfig: () => kubeconfigText(`http://127.0.0.1:${port}`, token),
    });
    await clock.until(
      () => service.metric('gatehouse_reflector_lists_total{resource="nodes",result="refused"}'),
      (lists) => lists > 1,
    );
    await startCluster({ port, tokens });
    await clock.until(service.readiness, (code) => code === 200);
    expect((await service.list((await service.signIn('ada')).access_token)).body.totalItems).toBe(3);
  });

  test('NE-20 the list is 503, and whoever has a token keeps it', async () => {
    const cluster = await startCluster();
    const before = await startService(cluster);
    const { access_token: token } = await before.signIn('ada');
    const found = await loseMirrors(cluster);
    const { service, clock } = await startDriven(cluster);
    const answer = await clock.until(
      () => service.list(token),
      ({ body }) => body.message === UNSYNCED.message,
    );
    expect(answer.status).toBe(503);
    expect(answer.body).toEqual(UNSYNCED);
    expect(answer.headers.get('retry-after')).toBe('5');
    found();
    await clock.until(service.readiness, (code) => code === 200);
    expect((await service.list(token)).status).toBe(200);
  });

  test('before the signing keys are loaded a token is neither good nor bad', async () => {
    const cluster = await startCluster();
    const before = await startService(cluster);
    const { access_token: token } = await before.signIn('ada');
    const found = cluster.faults.until({ kind: 'secrets' }, { status: 503 });
    const { service, clock } = await startDriven(cluster);
    expect((await service.list(token)).status).toBe(503);
    expect((await service.list('nonsense')).status).toBe(503);
    expect((await service.signInAnswer('ada', 'ada-canary-password')).status).toBe(503);
    found();
    await clock.until(service.readiness, (code) => code === 200);
    expect((await service.list(token)).status).toBe(200);
  });
});

describe('the signing keys', () => {
  test('C-39 a Secret that holds none leaves the replica not ready, and is not replaced', async () => {
    const cluster = await startCluster({ isNew: true });
    const broken = { 'keys.json': Buffer.from('{"keys":[]}').toString('base64') };
    const metadata = { name: 'gatehouse-signing-keys', namespace: 'default' };
    const stored = cluster.objects.create('secrets', { metadata, type: 'Opaque', data: broken });
    const { service, clock } = await startDriven(cluster);
    await clock.until(
      () => failing(service),
      (checks) => checks.join() === 'signing-key',
    );
    await clock.until(
      () => service.gatehouse.log,
      (log) => log.some(({ event }) => event === 'signing_keys_unusable'),
    );
    await clock.advance(120_000);
    expect(await failing(service)).toEqual(['signing-key']);
    expect(cluster.objects.get('secrets', 'default/gatehouse-signing-keys')).toEqual(stored);
  });

  test('C-39 a Secret that is repaired makes the replica ready by itself', async () => {
    const cluster = await startCluster();
    const first = await startService(cluster);
    const key = 'default/gatehouse-signing-keys';
    const good = cluster.objects.get('secrets', key)?.['data'];
    await first.gatehouse.stop();
    const names = Object.keys(good as object);
    cluster.objects.patch('secrets', key, { data: Object.fromEntries(names.map((name) => [name, 'AAAA'])) });
    const { service, clock } = await startDriven(cluster);
    await clock.until(
      () => failing(service),
      (checks) => checks.join() === 'signing-key',
    );
    cluster.objects.patch('secrets', key, { data: good });
    const repairedAt = performance.now();
    await clock.until(service.readiness, (code) => code === 200);
    tellMeasured('C-39', performance.now() - repairedAt, 'from the repair of the Secret until the replica is ready');
  });
});
