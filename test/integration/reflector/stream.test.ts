import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { errorEvent, eventLine, type StreamFault } from '../../../dev/cluster/behaviour.ts';
import { type Mirror, startMirror } from './mirror.ts';

const WATCH = { verb: 'watch', kind: 'nodes' };
const LIST = { verb: 'list', kind: 'nodes' };

/** The next watch is disturbed so; then a node `d` appears, which must come through. */
async function disturb(mirror: Mirror, stream: StreamFault): Promise<void> {
  mirror.server.faults.next(WATCH, { stream });
  await mirror.restart();
  await mirror.elapse(() => mirror.watches === 1);
  mirror.server.objects.create('nodes', { metadata: { name: 'd' } });
}

const stored = (mirror: Mirror, name: string): object => ({
  kind: 'Node',
  apiVersion: 'v1',
  ...mirror.server.objects.get('nodes', name),
});

const older = (object: object, resourceVersion: string): object => {
  const { metadata } = object as { metadata: object };
  return { ...object, metadata: { ...metadata, resourceVersion } };
};

describe('reflector and the stream', () => {
  test('C-11 ends a stream that says 500 and stays open, resumes, and lists at the third in a row', async () => {
    const mirror = await startMirror();
    const stream = { inject: [errorEvent({ status: 500 })], ending: 'silence' } as const;
    mirror.server.faults.times(3, WATCH, { stream });
    await mirror.restart();
    mirror.server.objects.create('nodes', { metadata: { name: 'd' } });
    expect(await mirror.elapse(mirror.converged)).toBeLessThanOrEqual(10_000);
    expect([mirror.lists, mirror.watches >= 3]).toEqual([1, true]);
    expect(await mirror.value('reflector_relists_total', { reason: 'stream_error' })).toBe(1);
  });

  test('C-12 waits as long as a 429 says, at connect and in the stream, and does not list', async () => {
    const mirror = await startMirror();
    mirror.server.faults.next(WATCH, { status: 429, retryAfterSeconds: 7 });
    const inject = [errorEvent({ status: 429, retryAfterSeconds: 7 })];
    mirror.server.faults.next(WATCH, { stream: { inject, ending: 'silence' } });
    await mirror.restart();
    await mirror.elapse(() => mirror.watches === 1);
    expect(await mirror.elapse(() => mirror.watches === 2)).toBe(7_000);
    expect(await mirror.elapse(() => mirror.watches === 3)).toBe(7_000);
    expect(mirror.lists).toBe(0);
    expect(await mirror.value('reflector_watches_total', { end: 'throttled' })).toBe(2);
  });

  test('C-12 makes a list again as long after a 429 as it says', async () => {
    const mirror = await startMirror();
    mirror.server.faults.next(WATCH, { status: 410 });
    mirror.server.faults.next(LIST, { status: 429, retryAfterSeconds: 7 });
    await mirror.restart();
    await mirror.elapse(() => mirror.lists === 1);
    expect(await mirror.elapse(() => mirror.lists === 2)).toBe(7_000);
    await mirror.elapse(mirror.watching);
    expect(await mirror.value('cluster_requests_total', { purpose: 'list', code: '429' })).toBe(1);
  });

  test('C-14 discards a partial event before the end of the stream, and gets it once, whole', async () => {
    const mirror = await startMirror();
    await disturb(mirror, { inject: ['{"type":"ADDED","object":{"metadata":{"name":"d","uid"'], ending: 'close' });
    expect(await mirror.elapse(mirror.converged)).toBeLessThanOrEqual(2_000);
    expect([mirror.lists, mirror.store.puts]).toEqual([0, 1]);
    expect(await mirror.value('reflector_watches_total', { end: 'unreadable' })).toBe(1);
  });

  test('C-15 drops a stream at a garbage line, and loses nothing', async () => {
    const mirror = await startMirror();
    await disturb(mirror, { inject: ['no event\n'] });
    expect(await mirror.elapse(mirror.converged)).toBeLessThanOrEqual(2_000);
    expect([mirror.lists, mirror.store.puts]).toEqual([0, 1]);
    expect(await mirror.value('reflector_watches_total', { end: 'unreadable' })).toBe(1);
  });

  test('C-16 gives up a line that does not end at 8 MiB', async () => {
    const mirror = await startMirror();
    await disturb(mirror, { inject: [`{"type":"${'x'.repeat(12 * 1024 * 1024)}`], ending: 'silence' });
    expect(await mirror.elapse(mirror.converged)).toBeLessThanOrEqual(5_000);
    expect(mirror.lists).toBe(0);
    expect(await mirror.value('reflector_watches_total', { end: 'unreadable' })).toBe(1);
  });

  test('C-16 asks for no compression, and drops a stream of compressed bytes that is cut off', async () => {
    const mirror = await startMirror();
    const packed = gzipSync(eventLine('ADDED', stored(mirror, 'c'))).toString('latin1');
    await disturb(mirror, { inject: [packed.slice(0, packed.length / 2)], ending: 'cut' });
    expect(await mirror.elapse(mirror.converged)).toBeLessThanOrEqual(5_000);
    expect([mirror.lists, mirror.store.puts]).toEqual([0, 1]);
    const ends = (end: string) => mirror.value('reflector_watches_total', { end });
    // One is the restart's. With a line end among the bytes it is a line that cannot be read.
    expect((await ends('reset')) + (await ends('unreadable'))).toBe(2);
    const asked = mirror.server.evidence.requests.map(({ headers }) => headers['accept-encoding']);
    expect(new Set(asked)).toEqual(new Set([undefined]));
  });

  test('C-17 writes nothing for 1,000 duplicate events', async () => {
    const mirror = await startMirror();
    const line = eventLine('MODIFIED', stored(mirror, 'c'));
    await disturb(mirror, { inject: Array(1_000).fill(line) });
    await mirror.elapse(mirror.converged);
    expect([mirror.store.puts, mirror.watches, mirror.lists]).toEqual([1, 1, 0]);
    expect(await mirror.value('reflector_dropped_events_total', { reason: 'stale' })).toBe(1_000);
  });

  test('C-18 keeps the newer node when an older event arrives', async () => {
    const mirror = await startMirror();
    await disturb(mirror, { inject: [eventLine('MODIFIED', older(stored(mirror, 'c'), '1'))] });
    await mirror.elapse(mirror.converged);
    expect([mirror.store.puts, mirror.lists]).toEqual([1, 0]);
    expect(await mirror.value('reflector_dropped_events_total', { reason: 'stale' })).toBe(1);
  });

  test('C-19 keeps a node when an older DELETED arrives, and replaces one that was made anew', async () => {
    const mirror = await startMirror();
    const { server, store } = mirror;
    const first = stored(mirror, 'c');
    await disturb(mirror, { inject: [eventLine('DELETED', older(first, '1'))] });
    await mirror.elapse(mirror.converged);
    expect(store.removals).toBe(0);
    expect(await mirror.value('reflector_dropped_events_total', { reason: 'stale' })).toBe(1);
    server.objects.remove('nodes', 'c');
    server.objects.create('nodes', { metadata: { name: 'c' } });
    await mirror.elapse(mirror.converged);
    expect(store.get('c')?.uid).not.toBe((first as { metadata: { uid: string } }).metadata.uid);
  });

  test('C-21 ignores and counts a lower bookmark, an unknown type, a Table and an object without metadata', async () => {
    const mirror = await startMirror();
    await disturb(mirror, {
      inject: [
        eventLine('BOOKMARK', { kind: 'Node', metadata: { resourceVersion: '1' } }),
        eventLine('RENAMED', stored(mirror, 'a')),
        eventLine('MODIFIED', { kind: 'Table', apiVersion: 'meta.k8s.io/v1', metadata: {} }),
        eventLine('ADDED', { kind: 'Node' }),
      ],
    });
    await mirror.elapse(mirror.converged);
    expect([mirror.watches, mirror.lists]).toEqual([1, 0]);
    // The lower bookmark is worth a look at the cluster, which shows that nothing is wrong.
    await mirror.elapse(async () => (await mirror.value('cache_self_checks_total', { result: 'match' })) === 1);
    const dropped = (reason: string) => mirror.value('reflector_dropped_events_total', { reason });
    expect([await dropped('stale'), await dropped('unknown_type'), await dropped('no_metadata')]).toEqual([1, 1, 2]);
  });

  test('C-30 finds an event that the server dropped by the self-check, and repairs the cache', async () => {
    const mirror = await startMirror();
    await disturb(mirror, { afterEvents: 1, drop: 1 });
    await mirror.elapse(mirror.converged);
    await mirror.clock.advance(5_000); // the check after the reconnect is over before the event is lost
    await mirror.elapse(async () => (await mirror.value('cache_self_checks_total', { result: 'match' })) === 1);
    for (const name of ['lost', 'e']) mirror.server.objects.create('nodes', { metadata: { name } });
    await mirror.elapse(() => mirror.store.get('e') !== undefined);
    expect(mirror.store.get('lost')).toBeUndefined();
    for (let minute = 0; minute < 5; minute++) {
      await mirror.clock.advance(60_000);
      mirror.server.objects.patch('nodes', 'a', { metadata: { labels: { minute: `${minute}` } } });
      await mirror.elapse(() => mirror.store.get('a')?.object.metadata.labels?.['minute'] === `${minute}`);
    }
    await mirror.elapse(mirror.converged);
    expect(await mirror.value('reflector_relists_total', { reason: 'self_check' })).toBe(1);
    expect(await mirror.value('reflector_relist_surprises_total')).toBe(1);
  });
});
