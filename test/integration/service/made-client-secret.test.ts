import { describe, expect, test } from 'vitest';
import type { SimulatedCluster } from '../../../dev/cluster/cluster.ts';
import { eventually, passwordOf, type Service, startCluster, startService } from './stand.ts';

const NAME = 'gatehouse-oauth-client';
const KEY = `default/${NAME}`;
const config = {
  authentication: { oauthOptions: { clients: [{ name: 'gatehouse', secretName: NAME }] } },
};

const secretIn = (cluster: SimulatedCluster): string => {
  const data = cluster.objects.get('secrets', KEY)?.['data'] as Readonly<Record<string, string>>;
  return Buffer.from(data['secret'] ?? '', 'base64').toString();
};
const signIn = async (service: Service, secret?: string): Promise<number> => {
  const client = { client_id: 'gatehouse', ...(secret === undefined ? {} : { client_secret: secret }) };
  const form = { grant_type: 'password', ...client, username: 'ada', password: passwordOf('ada') };
  return (await service.call('/oauth/token', { form })).status;
};

describe('A-53 the secret of a client that the program makes', () => {
  test('A-53 is random, in a Secret, and the only one that counts', async () => {
    const cluster = await startCluster();
    const service = await startService(cluster, { config });
    expect(secretIn(cluster)).toMatch(/^[\w-]{32}$/);
    expect(await signIn(service, secretIn(cluster))).toBe(200);
    for (const wrong of ['gatehouse', 'x', undefined]) expect(await signIn(service, wrong)).toBe(401);
  });

  test('A-53 is the same for replicas that start together, and after a restart', async () => {
    const cluster = await startCluster();
    const replicas = await Promise.all([startService(cluster, { config }), startService(cluster, { config })]);
    const secret = secretIn(cluster);
    for (const replica of replicas) expect(await signIn(replica, secret)).toBe(200);
    await replicas[0].gatehouse.stop();
    expect(await signIn(await startService(cluster, { config }), secret)).toBe(200);
    expect(secretIn(cluster)).toBe(secret);
  });

  test('A-53 can be changed without a restart, and stays the last one when the Secret is deleted', async () => {
    const cluster = await startCluster();
    const service = await startService(cluster, { config });
    const before = secretIn(cluster);
    const next = 'another-one-of-32-characters-____';
    cluster.objects.patch('secrets', KEY, { data: { secret: Buffer.from(next).toString('base64') } });
    await eventually(
      () => signIn(service, next),
      (status) => status === 200,
    );
    expect(await signIn(service, before)).toBe(401);
    cluster.objects.remove('secrets', KEY);
    await eventually(
      () => service.logged('the Secret holds no client secret: the last one stays in use'),
      (lines) => lines.length > 0,
    );
    expect(await signIn(service, next)).toBe(200);
  });

  test('A-53 is not known before the Secret is read: 503, and not ready', async () => {
    const cluster = await startCluster();
    cluster.faults.until({ kind: 'secrets', name: NAME }, { status: 503 });
    cluster.faults.until({ kind: 'secrets', verb: 'create' }, { status: 503 });
    const service = await startService(cluster, { config, untilReady: false });
    await eventually(
      () => signIn(service, 'x'),
      (status) => status === 503,
    );
    const { details } = (await service.call('/readyz')).body;
    expect(details.causes.map(({ field }: { field: string }) => field)).toContain('client-secrets');
  });
});
