import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { SimulatedClusterOptions } from '../../../dev/cluster/cluster.ts';
import { tellMeasured } from '../../support/measured.ts';
import { connect, Mirror } from './mirror.ts';

const LIST = { kind: 'nodes', when: ({ query }: { query: URLSearchParams }) => isList(query) };
const isList = (query: URLSearchParams): boolean => !query.has('watch') || query.has('sendInitialEvents');

/** 400 nodes are about 60 kB: a minute and more at this rate, twice the limit of silence. */
const NODES = 400;
const SLOW = { stream: { bytesPerSecond: 800 } };

/** Milliseconds that a list of these needs at that rate. */
const timeOnLine = (nodes: readonly object[]): number =>
  (Buffer.byteLength(JSON.stringify(nodes)) / SLOW.stream.bytesPerSecond) * 1_000;

/** A cluster of many nodes whose mirror has yet to begin. */
async function populated(count: number, options: SimulatedClusterOptions = {}) {
  const connected = await connect(options);
  for (let index = 0; index < count; index++)
    connected.server.objects.create('nodes', { metadata: { name: `node-${index}` } });
  return connected;
}

/** Lets time pass until the mirror is as the server, at most so long. Returns the milliseconds. */
async function pass(mirror: Mirror, atMostMs: number, onTurn: () => void = () => {}): Promise<number> {
  const began = mirror.clock.monotonic();
  for (; !mirror.converged(); await mirror.clock.advance(100)) {
    if (mirror.clock.monotonic() - began > atMostMs) throw new Error(`not within ${atMostMs} ms`);
    onTurn();
    await nextTurn();
  }
  return mirror.clock.monotonic() - began;
}

const failedLists = async (mirror: Mirror): Promise<number> =>
  (await mirror.value('reflector_lists_total', { result: 'refused' })) +
  (await mirror.value('reflector_lists_total', { result: 'reset' }));

describe('reflector and many objects', () => {
  test.each([true, false])(
    'C-26 takes a first list that flows slowly, however long, and has not synced before its end (WatchList: %s)',
    async (watchList) => {
      const connected = await populated(NODES, { watchList });
      connected.server.faults.until(LIST, SLOW);
      const mirror = new Mirror(connected);
      const took = await pass(mirror, 600_000, () => {
        expect([mirror.reflector.hasSynced(), mirror.store.size]).toEqual([false, 0]);
      });
      expect(took).toBeGreaterThan(60_000);
      // Of a stream every line is rounded up to a step of the clock.
      const more = took - timeOnLine(connected.server.objects.list('nodes'));
      if (!watchList) tellMeasured('C-26', more, 'more than the nodes take on the line, by the clock of the test');
      expect([mirror.lists <= 2, await failedLists(mirror), mirror.reflector.hasSynced()]).toEqual([true, 0, true]);
      expect(await mirror.value('cache_synced')).toBe(1);
    },
  );

  test('C-26 serves the old set, whole, while a relist flows slowly', async () => {
    const mirror = new Mirror(await populated(NODES));
    await mirror.elapse(() => mirror.converged() && mirror.watching());
    const { server } = mirror;
    const old = mirror.store.versions();
    server.faults.until(LIST, SLOW);
    server.faults.next({ verb: 'watch', kind: 'nodes' }, { status: 410 });
    await mirror.restart();
    for (let index = 0; index < NODES; index += 2) server.objects.remove('nodes', `node-${index}`);
    const took = await pass(mirror, 600_000, () => expect(mirror.store.versions()).toEqual(old));
    expect(took).toBeGreaterThan(30_000);
    expect([mirror.store.replacements, await failedLists(mirror)]).toEqual([2, 0]);
    expect(await mirror.value('reflector_relists_total', { reason: 'expired' })).toBe(1);
  });

  test('C-29 applies each of 5,000 events over 2,000 nodes once, by one watch and without a list', async () => {
    const mirror = new Mirror(await populated(2_000));
    await mirror.elapse(() => mirror.converged() && mirror.watching());
    const { server, store } = mirror;
    server.evidence.reset();
    for (let event = 0; event < 5_000; event++) {
      server.objects.patch('nodes', `node-${(event * 7) % 2_000}`, { metadata: { labels: { event: `${event}` } } });
      if (event % 100 === 0) await nextTurn();
    }
    const last = performance.now();
    await mirror.elapse(mirror.converged);
    tellMeasured(
      'C-29',
      performance.now() - last,
      'from the last of 5,000 events at once until the cache has them all',
    );
    expect([store.puts, mirror.lists, mirror.watches]).toEqual([5_000, 0, 0]);
    expect(await mirror.value('reflector_watch_events_total', { type: 'MODIFIED' })).toBe(5_000);
    expect(await mirror.value('reflector_dropped_events_total')).toBe(0);
  });
});
