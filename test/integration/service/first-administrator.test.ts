import { describe, expect, test } from 'vitest';
import type { SimulatedCluster } from '../../../dev/cluster/cluster.ts';
import { libraryBcrypt } from '../../../src/users/password-hash.ts';
import { startDrivenReady } from './driven.ts';
import { eventually, startCluster, startService } from './stand.ts';

const KEY = 'default/gatehouse-first-administrator';
const config = { users: { firstAdministrator: { groups: ['admins'] } } };

const secretOf = (cluster: SimulatedCluster) => cluster.objects.get('secrets', KEY);
const passwordIn = (cluster: SimulatedCluster): string => {
  const data = secretOf(cluster)?.['data'] as Readonly<Record<string, string>>;
  return Buffer.from(data['password'] ?? '', 'base64').toString();
};

describe('the first administrator', () => {
  test('signs in with the password that is in the Secret', async () => {
    const cluster = await startCluster();
    const service = await startService(cluster, { config, bcrypt: libraryBcrypt });
    const answer = await service.signInAnswer('admin', passwordIn(cluster));
    expect(answer.status).toBe(200);
    expect((await service.list(answer.body.access_token)).status).toBe(200);
  });

  test('has a Secret with name, password and hash, and no more', async () => {
    const cluster = await startCluster();
    await startService(cluster, { config });
    const data = secretOf(cluster)?.['data'] as Readonly<Record<string, string>>;
    expect(Object.keys(data).sort()).toEqual(['password', 'passwordHash', 'username']);
    expect(passwordIn(cluster)).toMatch(/^[\w-]{24}$/);
  });

  test('keeps the password at the next start', async () => {
    const cluster = await startCluster();
    const first = await startService(cluster, { config });
    const made = secretOf(cluster);
    await first.gatehouse.stop();
    const second = await startService(cluster, { config });
    expect(secretOf(cluster)).toEqual(made);
    expect((await second.signInAnswer('admin', passwordIn(cluster))).status).toBe(200);
  });

  test('is one for two replicas that start together', async () => {
    const cluster = await startCluster();
    const replicas = await Promise.all([startService(cluster, { config }), startService(cluster, { config })]);
    for (const replica of replicas) expect((await replica.signInAnswer('admin', passwordIn(cluster))).status).toBe(200);
  });

  test('is gone with the Secret: no sign-in, no live token, and no new Secret while the program runs', async () => {
    const cluster = await startCluster();
    const { service, clock } = await startDrivenReady(cluster, { config });
    const password = passwordIn(cluster);
    const { access_token: token } = (await service.signInAnswer('admin', password)).body;
    expect((await service.list(token)).status).toBe(200);
    cluster.objects.remove('secrets', KEY);
    const answer = await eventually(
      () => service.list(token),
      ({ status }) => status !== 200,
    );
    expect(answer.body.message).toBe('Unauthorized: the access token has been revoked');
    expect((await service.signInAnswer('admin', password)).status).toBe(400);
    await clock.advance(600_000);
    expect(secretOf(cluster)).toBeUndefined();
  });

  test('is made anew at the next start after that, and old tokens stay dead', async () => {
    const cluster = await startCluster();
    const first = await startService(cluster, { config });
    const { access_token: token } = (await first.signInAnswer('admin', passwordIn(cluster))).body;
    await first.gatehouse.stop();
    cluster.objects.remove('secrets', KEY);
    const second = await startService(cluster, { config });
    expect((await second.signInAnswer('admin', passwordIn(cluster))).status).toBe(200);
    expect((await second.list(token)).status).toBe(401);
  });

  test('with another password in the Secret has that one, and the old sessions end', async () => {
    const cluster = await startCluster();
    const other = await startCluster();
    const service = await startService(cluster, { config });
    await startService(other, { config });
    const { access_token: token } = (await service.signInAnswer('admin', passwordIn(cluster))).body;
    cluster.objects.patch('secrets', KEY, { data: secretOf(other)?.['data'] });
    await eventually(
      () => service.list(token),
      ({ status }) => status === 401,
    );
    expect((await service.signInAnswer('admin', passwordIn(other))).status).toBe(200);
  });

  test('does not exist outside a cluster unless it is asked for', async () => {
    const cluster = await startCluster();
    await startService(cluster);
    expect(secretOf(cluster)).toBeUndefined();
  });
});
