import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { kubeconfigText } from '../../../dev/cluster/kubeconfig.ts';
import { tellMeasured } from '../../support/measured.ts';
import { startDrivenReady } from './driven.ts';
import { atEnd, type Service, startCluster, startService } from './stand.ts';

const SHARED = { config: { sessions: { store: 'kubernetes' } } };

/** Passes connections on to the port, until it is cut. */
async function startRelay(port: number) {
  const sockets = new Set<Socket>();
  const state = { isCut: false };
  const keep = (socket: Socket, other: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => {}).once('close', () => sockets.delete(socket) && other.destroy());
  };
  const server = createServer((socket) => {
    if (state.isCut) return void socket.destroy();
    const onward = connect(port, '127.0.0.1');
    keep(socket, onward);
    keep(onward, socket);
    socket.pipe(onward).pipe(socket);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const dropAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  atEnd(async () => {
    server.close();
    dropAll();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut: () => {
      state.isCut = true;
      dropAll();
    },
    heal: () => {
      state.isCut = false;
    },
  };
}

const failing = async (service: Service): Promise<string[]> =>
  (await service.call('/readyz')).body.details.causes.map(({ field }: { field: string }) => field);

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
  expect(await failing(service)).toContain('sessions-fresh');
  for (const { access_token: token } of [kept, ended]) {
    const refused = await service.call('/oauth/userinfo', { token });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
  }
  expect((await service.refresh(kept.refresh_token)).status).toBe(503);
  expect([await other.readiness(), await judge(other, kept.access_token)]).toEqual([200, 200]);

  relay.heal();
  const healedAt = clock.monotonic();
  await clock.until(service.readiness, (code) => code === 200);
  tellMeasured(
    'C-37',
    clock.monotonic() - healedAt,
    'from the end of the cut until it is ready, by the clock of the test',
  );
  expect([await judge(service, kept.access_token), await judge(service, ended.access_token)]).toEqual([200, 401]);
});
