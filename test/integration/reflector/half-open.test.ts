import { afterEach, describe, expect, test } from 'vitest';
import { type FaultProxy, startFaultProxy } from '../../../dev/fault-proxy/fault-proxy.ts';
import { connect, Mirror } from './mirror.ts';

let proxy: FaultProxy | undefined;
afterEach(() => proxy?.stop());

/** Three nodes, mirrored through the proxy. */
async function startBehindProxy() {
  const connected = await connect({}, async (server) => {
    proxy = await startFaultProxy(Number(new URL(server.url).port));
    return server.kubeconfig().replace(server.url, proxy.url);
  });
  for (const name of ['a', 'b', 'c']) connected.server.objects.create('nodes', { metadata: { name } });
  const mirror = new Mirror(connected);
  // The proxy still holds what the server has sent: the client's own count tells.
  const accepted = () => mirror.value('cluster_requests_total', { purpose: 'watch', code: '200' });
  await mirror.elapse(async () => mirror.converged() && (await accepted()) === 1);
  connected.server.evidence.reset();
  return { mirror, proxy: proxy as FaultProxy };
}

/** The open connections lead nowhere from now on, and nobody tells either side; new ones are good. */
function makeHalfOpen(proxy: FaultProxy): void {
  for (const link of proxy.links) link.set({ hold: 'both', swallowFin: true });
}

describe('reflector on a half-open connection', () => {
  // True ones are found by TCP keep-alive within 45 s: the tier of network namespaces. Here the proxy acknowledges.
  test('C-05 gives the watch up after 75 s of silence, and resumes without a list', async () => {
    const { mirror, proxy } = await startBehindProxy();
    makeHalfOpen(proxy);
    await mirror.restart(); // the server has forgotten the connection, and nobody says so
    mirror.server.objects.create('nodes', { metadata: { name: 'd' } });
    await mirror.clock.advance(74_999);
    expect([mirror.store.size, mirror.watches]).toEqual([3, 0]);
    await mirror.clock.advance(1);
    await mirror.elapse(mirror.converged);
    expect([mirror.lists, await mirror.value('reflector_watches_total', { end: 'quiet' })]).toEqual([0, 1]);
  });

  test('C-05 gives up a call on it at the limit of the call, and makes the next one on another', async () => {
    const { mirror, proxy } = await startBehindProxy();
    makeHalfOpen(proxy);
    const lost = mirror.cluster.version(new AbortController().signal).then(
      () => 'answered',
      () => 'given up',
    );
    await mirror.clock.advance(5_000);
    expect(await lost).toBe('given up');
    await expect(mirror.cluster.version(AbortSignal.timeout(30_000))).resolves.toMatchObject({ major: '1' });
  });

  test('C-04 gives up a connection that is taken and never answered at 30 s, inside the request budget', async () => {
    const { mirror, proxy } = await startBehindProxy();
    const accepted = proxy.accepted;
    proxy.set({ accept: 'silence' });
    proxy.reset();
    await mirror.elapse(() => proxy.accepted > accepted);
    await mirror.clock.advance(29_000);
    proxy.set({});
    mirror.server.objects.create('nodes', { metadata: { name: 'd' } });
    expect(mirror.watches).toBe(0);
    await mirror.clock.advance(1_000);
    expect(await mirror.elapse(mirror.converged)).toBeLessThanOrEqual(30_000);
    expect([mirror.lists, await mirror.value('reflector_watches_total', { end: 'refused' })]).toEqual([0, 1]);
  });
});
