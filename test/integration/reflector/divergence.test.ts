import { afterEach, describe, expect, test } from 'vitest';
import { tooLarge } from '../../../dev/cluster/behaviour.ts';
import { type SimulatedCluster, startSimulatedCluster } from '../../../dev/cluster/cluster.ts';
import { type FaultProxy, startFaultProxy } from '../../../dev/fault-proxy/fault-proxy.ts';
import { connect, Mirror, startMirror } from './mirror.ts';

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const portOf = ({ url }: SimulatedCluster): number => Number(new URL(url).port);

/** So many changes of one node. */
function write(server: SimulatedCluster, name: string, { times, by }: { times: number; by: string }): void {
  for (let count = 0; count < times; count++)
    server.objects.patch('nodes', name, { metadata: { labels: { [by]: `${count}` } } });
}

const content = (mirror: Mirror, name: string): object => ({ ...mirror.store.get(name)?.object.metadata.labels });

/** Mirrored 20 changes of `a` that its server then knows nothing of: it was restored to what it was before. */
async function startRestored() {
  const mirror = await startMirror();
  const { server } = mirror;
  const older = server.objects.resourceVersion;
  write(server, 'a', { times: 20, by: 'lost' });
  await mirror.elapse(mirror.converged);
  server.restore(older);
  return { mirror, server };
}

/** Until the mirror watches again, and the self-check after a reconnect is due. */
async function reconnect(mirror: Mirror): Promise<void> {
  await mirror.elapse(() => mirror.watches === 1 && mirror.watching());
  expect(mirror.converged()).toBe(false);
  await mirror.clock.advance(5_000);
  await mirror.elapse(mirror.converged);
}

describe('reflector and a server of another history', () => {
  test('C-24 finds by its self-check that the server was restored and has written past our version', async () => {
    const { mirror, server } = await startRestored();
    // What we had seen at these versions never was: other nodes have them now, and no event will say so.
    write(server, 'b', { times: 30, by: 'kept' });
    const began = mirror.clock.monotonic();
    await reconnect(mirror);
    expect(mirror.clock.monotonic() - began).toBeLessThanOrEqual(8 * 60_000);
    expect([content(mirror, 'a'), content(mirror, 'b')]).toEqual([{}, { kept: '29' }]);
    expect([mirror.lists, await mirror.value('cache_self_checks_total', { result: 'mismatch' })]).toEqual([1, 1]);
  });

  test('C-24 takes the new content of an object whose version is the same in both histories', async () => {
    const { mirror, server } = await startRestored();
    write(server, 'b', { times: 19, by: 'kept' });
    write(server, 'a', { times: 1, by: 'kept' });
    const same = server.objects.get('nodes', 'a')?.metadata.resourceVersion;
    expect(mirror.store.get('a')?.resourceVersion).toBe(same);
    await reconnect(mirror);
    expect(content(mirror, 'a')).toEqual({ kept: '0' });
    expect(mirror.store.sameHistory).toBe(false);
  });
});

/** The same nodes on both servers, and a proxy that leads to one or the other; mirrored from the first. */
async function startBalanced() {
  let proxy: FaultProxy | undefined;
  const connected = await connect({}, async (server) => {
    proxy = await startFaultProxy(portOf(server));
    return server.kubeconfig().replace(server.url, proxy.url);
  });
  const { server, clock } = connected;
  const options = { clock, watchList: false, bookmarkIntervalMs: 0 };
  const behind = await startSimulatedCluster({ ...options, tokens: Object.fromEntries(server.tokens) });
  const balancer = proxy as FaultProxy;
  ends.push(
    () => behind.stop(),
    () => balancer.stop(),
  );
  const both = (name: string): void => {
    for (const each of [server, behind]) each.objects.create('nodes', { metadata: { name } });
  };
  for (const name of ['a', 'b', 'c']) both(name);
  const mirror = new Mirror(connected);
  await mirror.elapse(() => mirror.converged() && mirror.watching());
  return { mirror, server, behind, balancer };
}

describe('reflector behind a load balancer', () => {
  test('C-25 never shows less than it has shown when it is moved to a server that is behind, and goes on when that has caught up', async () => {
    const { mirror, server, behind, balancer } = await startBalanced();
    write(server, 'a', { times: 5, by: 'round' });
    await mirror.elapse(mirror.converged);
    const shown = mirror.store.versions();
    // As a watch cache that is behind: it has not reached our version, whatever is asked of it.
    const release = behind.faults.until({ verb: 'list' }, tooLarge('cause'));
    balancer.target = portOf(behind);
    balancer.reset();
    await mirror.elapse(() => behind.evidence.openWatches('nodes') === 1);
    for (let second = 0; second < 60; second++) {
      await mirror.clock.advance(1_000);
      expect(mirror.store.versions()).toEqual(shown);
    }
    const lists = behind.evidence.requests.filter(({ verb, query }) => verb === 'list' && !query.has('continue'));
    const full = lists.filter(({ query }) => query.get('resourceVersionMatch') !== 'Exact');
    expect(full.length).toBeGreaterThan(0);
    expect(full.length).toBeLessThanOrEqual(8);
    expect(await mirror.value('cache_self_checks_total', { result: 'mismatch' })).toBeGreaterThan(0);
    write(behind, 'a', { times: 5, by: 'round' });
    release();
    for (const each of [server, behind]) each.objects.create('nodes', { metadata: { name: 'd' } });
    expect(await mirror.elapse(mirror.converged)).toBeLessThanOrEqual(30_000);
    expect(await mirror.value('cache_epoch')).toBe(1);
  });

  test('C-25 needs no list when the server that is behind catches up before the look after a reconnect', async () => {
    const { mirror, server, behind, balancer } = await startBalanced();
    write(server, 'a', { times: 5, by: 'round' });
    await mirror.elapse(mirror.converged);
    const shown = mirror.store.versions();
    balancer.target = portOf(behind);
    balancer.reset();
    await mirror.elapse(() => behind.evidence.openWatches('nodes') === 1);
    write(behind, 'a', { times: 5, by: 'round' });
    expect(mirror.store.versions()).toEqual(shown);
    for (const each of [server, behind]) each.objects.create('nodes', { metadata: { name: 'd' } });
    await mirror.elapse(mirror.converged);
    const fetched = behind.evidence.requests.filter(
      ({ verb, query }) => verb === 'list' && !query.has('resourceVersionMatch'),
    );
    expect([fetched.length, await mirror.value('cache_epoch')]).toEqual([0, 1]);
  });
});
