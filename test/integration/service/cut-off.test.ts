import { expect, test } from 'vitest';
import { kubeconfigText } from '../../../dev/cluster/kubeconfig.ts';
import { tellMeasured } from '../../support/measured.ts';
import { startDrivenReady } from './driven.ts';
import { startRelay } from './relay.ts';
import { type Service, shownAsFailing, startCluster, startService } from './stand.ts';

/** Twelve minutes for rights: an outage of ten is bridged whole. */
const SHARED = { config: { sessions: { store: 'kubernetes' }, authorization: { maxStaleness: '12m' } } };

test('C-37 a replica that is cut off judges by what it knows through ten minutes, then by nothing; the other serves on', async () => {
  const cluster = await startCluster();
  const relay = await startRelay(Number(new URL(cluster.url).port));
  const other = await startService(cluster, SHARED);
  const throughRelay = { kubeconfig: () => kubeconfigText(relay.url, cluster.adminToken) };
  const { clock, service } = await startDrivenReady(throughRelay, SHARED);
  const judge = async (at: Service, token: string) => (await at.call('/oauth/userinfo', { token })).status;
  const [kept, ended] = [await other.signIn('ada'), await other.signIn('ada')];

  relay.cut();
  await other.call('/oauth/logout', { token: ended.access_token });
  await clock.spend(60_000);
  expect(await service.metric('gatehouse_cluster_requests_total{purpose="watch",code="error"}')).toBeGreaterThan(0);
  const age = 'gatehouse_cache_staleness_seconds{resource="sessions"}';
  expect(await service.metric(age)).toBeGreaterThanOrEqual(60);
  await clock.spend(540_000);
  expect(await service.readiness()).toBe(200);
  expect(await judge(service, kept.access_token)).toBe(200);
  expect([await judge(service, ended.access_token), await judge(other, ended.access_token)]).toEqual([200, 401]);

  await clock.spend(130_000);
  expect(await service.readiness()).toBe(200);
  expect(await shownAsFailing(service)).toEqual([
    'nodes-fresh',
    'pods-fresh',
    'namespaces-fresh',
    'sessions-fresh',
    'device-codes-fresh',
    'revocations-fresh',
  ]);
  for (const { access_token: token } of [kept, ended]) {
    const refused = await service.call('/oauth/userinfo', { token });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '30']);
    expect(refused.body.error_description).toBe('signing keys are not available: data is older than 12m0s');
  }
  expect((await service.refresh(kept.refresh_token)).status).toBe(503);
  expect([await other.readiness(), await judge(other, kept.access_token)]).toEqual([200, 200]);

  relay.heal();
  const healedAt = clock.monotonic();
  await clock.until(
    () => judge(service, kept.access_token),
    (code) => code === 200,
  );
  tellMeasured(
    'C-37',
    clock.monotonic() - healedAt,
    'from the end of the cut until it judges tokens again, by the clock of the test',
  );
  expect([await judge(service, kept.access_token), await judge(service, ended.access_token)]).toEqual([200, 401]);
});
