import { expect, test } from 'vitest';
import { kubeconfigText } from '../../../dev/cluster/kubeconfig.ts';
import { DrivenClock, startDrivenReady } from './driven.ts';
import { startRelay } from './relay.ts';
import { startCluster } from './stand.ts';

/** Two replicas on one clock, whose API server can be taken away from both at once. */
async function startTwo() {
  const cluster = await startCluster();
  const relay = await startRelay(Number(new URL(cluster.url).port));
  const kubeconfig = () => kubeconfigText(relay.url, cluster.adminToken);
  const clock = new DrivenClock();
  const change = { config: { sessions: { store: 'kubernetes' } } };
  const { service: one } = await startDrivenReady({ kubeconfig }, change, clock);
  const { service: two } = await startDrivenReady({ kubeconfig }, change, clock);
  return { cluster, relay, clock, one, two };
}

test('R-11 a caller whom one replica has decided for is answered by the other while the API server is away', async () => {
  const { clock, relay, one, two } = await startTwo();
  const { access_token: token } = await clock.during(one.signIn('ada'));
  expect((await clock.during(one.list(token))).status).toBe(200);
  await clock.spend(60_000);
  relay.cut();
  await clock.spend(480_000);
  expect((await clock.during(one.list(token))).status).toBe(200);
  expect((await clock.during(two.list(token))).status).toBe(200);
});
