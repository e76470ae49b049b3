import { describe, expect, test } from 'vitest';
import { type Service, startCluster, startService } from './stand.ts';

const KEY = 'default/gatehouse-signing-keys';
const kidsOf = async (service: Service): Promise<string[]> =>
  (await service.call('/oauth/keys')).body.keys.map(({ kid }: { kid: string }) => kid);

describe('replicas on one cluster', () => {
  test('R-05 that start together agree on one signing key, and each takes the other’s tokens', async () => {
    const cluster = await startCluster();
    const replicas = await Promise.all([startService(cluster), startService(cluster), startService(cluster)]);
    const kids = await Promise.all(replicas.map(kidsOf));
    expect(kids[0]).toHaveLength(1);
    expect(new Set(kids.flat()).size).toBe(1);
    for (const issuer of replicas) {
      const { access_token: token } = await issuer.signIn('ada');
      for (const verifier of replicas) expect((await verifier.list(token)).status).toBe(200);
    }
  });

  test('a later one takes the key that is there and writes nothing', async () => {
    const cluster = await startCluster();
    const first = await startService(cluster);
    const { access_token: token } = await first.signIn('ada');
    const stored = cluster.objects.get('secrets', KEY);
    const second = await startService(cluster);
    expect(cluster.objects.get('secrets', KEY)).toEqual(stored);
    expect((await second.list(token)).status).toBe(200);
  });

  test('tokens outlive a restart', async () => {
    const cluster = await startCluster();
    const first = await startService(cluster);
    const pair = await first.signIn('ada');
    await first.gatehouse.stop();
    const second = await startService(cluster);
    expect((await second.list(pair.access_token)).status).toBe(200);
    expect((await second.refresh(pair.refresh_token)).status).toBe(200);
  });

  test('versions of the list of two replicas have nothing in common', async () => {
    const cluster = await startCluster();
    const [one, two] = await Promise.all([startService(cluster), startService(cluster)]);
    const { access_token: token } = await one.signIn('ada');
    const tags = [await one.list(token), await two.list(token)].map(({ headers }) => headers.get('etag'));
    expect(tags[0]).not.toBe(tags[1]);
  });

  test('C-39 a deleted key Secret leaves the last good key in use, and is not made anew', async () => {
    const cluster = await startCluster();
    const service = await startService(cluster);
    const { access_token: token } = await service.signIn('ada');
    cluster.objects.remove('secrets', KEY);
    await expect
      .poll(() => service.gatehouse.log.filter(({ event }) => event === 'signing_keys_missing').length)
      .toBe(1);
    expect((await service.list(token)).status).toBe(200);
    expect((await service.signIn('ada')).access_token).not.toBe('');
    expect(await service.readiness()).toBe(200);
    expect(cluster.objects.get('secrets', KEY)).toBeUndefined();
  });
});
