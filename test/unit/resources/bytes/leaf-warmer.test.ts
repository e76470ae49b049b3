import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { makeCache, makeNode, parseNodeListQuery, synced } from '../node-objects.ts';

const WHOLE = parseNodeListQuery('');

/** 64 nodes of 100 kB: leaves of 1.6 MB and more, so that one answer may deflate one of them. */
function heavyCache(hasSynced: () => boolean = () => true) {
  const cache = makeCache({ freshness: { nodes: { ...synced, hasSynced }, pods: synced } });
  const note = 'ab'.repeat(50_000);
  for (let at = 0; at < 64; at++) cache.putNode(makeNode(`node-${at}`, {}, { spec: { note } }));
  const deflatedLeaves = () => cache.nodes.snapshot().leaves.filter((leaf) => leaf.isDeflated).length;
  return { ...cache, deflatedLeaves, leaves: cache.nodes.snapshot().leaves.length };
}

/** Lets the lister run while `during` runs. */
async function whileRunning({ lister }: ReturnType<typeof heavyCache>, during: () => Promise<void>): Promise<void> {
  const stop = new AbortController();
  const running = lister.run(stop.signal);
  await during();
  stop.abort();
  await running;
}

describe('leaf warmer', () => {
  test('deflates every leaf after the first sync', async () => {
    let hasSynced = false;
    const cache = heavyCache(() => hasSynced);
    await whileRunning(cache, async () => {
      await cache.clock.advance(1000);
      expect(cache.deflatedLeaves()).toBe(0);
      hasSynced = true;
      await cache.clock.advance(1000);
      expect(cache.deflatedLeaves()).toBe(cache.leaves);
    });
  });

  test('a list that went out partly uncompressed is compressed under a new tag', async () => {
    const cache = heavyCache();
    const first = cache.lister.list(WHOLE);
    expect(first.body('gzip').length).toBeGreaterThan(1_000_000);
    await whileRunning(cache, () => cache.clock.advance(1000));
    const second = cache.lister.list(WHOLE);
    expect(second.body('gzip').length).toBeLessThan(100_000);
    expect(second.etag('gzip')).not.toBe(first.etag('gzip'));
    expect(
      gunzipSync(Buffer.concat(second.body('gzip').pieces)).equals(Buffer.concat(first.body('identity').pieces)),
    ).toBe(true);
    expect(cache.lister.list(WHOLE)).toBe(second);
  });

  test('rests when no compressed list was asked for within a minute', async () => {
    const cache = heavyCache();
    await whileRunning(cache, async () => {
      await cache.clock.advance(61_000);
      cache.putNode(makeNode('node-1', { resourceVersion: '2' }));
      await cache.clock.advance(1000);
      expect(cache.deflatedLeaves()).toBe(cache.leaves - 1);
      cache.lister.list(WHOLE).body('gzip').pieces;
      cache.putNode(makeNode('node-1', { resourceVersion: '3' }));
      await cache.clock.advance(1000);
      expect(cache.deflatedLeaves()).toBe(cache.leaves);
    });
  });

  test('ends on abort between two leaves', async () => {
    const cache = heavyCache();
    const stop = new AbortController();
    const running = cache.lister.run(stop.signal);
    stop.abort();
    await running;
    expect(cache.deflatedLeaves()).toBe(1);
  });

  test('ends on abort', async () => {
    const cache = heavyCache();
    await whileRunning(cache, async () => undefined);
    expect(cache.clock.pendingTimers).toBe(0);
  });
});
