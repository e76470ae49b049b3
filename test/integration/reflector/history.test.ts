import { describe, expect, test } from 'vitest';
import { errorEvent, tooLarge } from '../../../dev/cluster/behaviour.ts';
import { startMirror } from './mirror.ts';

const WATCH = { verb: 'watch', kind: 'nodes' };
const LIST = { verb: 'list', kind: 'nodes' };

describe('reflector and the history', () => {
  test('C-07 lists once at the last version after 410 at watch connect, and shows it in one step', async () => {
    const mirror = await startMirror();
    const { server, store } = mirror;
    const version = server.objects.resourceVersion;
    const back = server.restart(1_000);
    server.objects.remove('nodes', 'a');
    server.objects.create('nodes', { metadata: { name: 'd' } });
    server.faults.next(WATCH, { status: 410 });
    expect(await mirror.elapse(mirror.converged)).toBeLessThanOrEqual(1_000 + 5_000);
    await back;
    const query = { limit: '100', resourceVersion: version, resourceVersionMatch: 'NotOlderThan' };
    expect([mirror.lists, mirror.lastQuery('list')]).toEqual([1, query]);
    expect([store.replacements, store.puts]).toEqual([2, 0]);
    expect(await mirror.value('reflector_relists_total', { reason: 'expired' })).toBe(1);
  });

  test('C-07 streams the state again after 410 where the server has WatchList', async () => {
    const mirror = await startMirror({ watchList: true });
    const { server } = mirror;
    const back = server.restart(1_000);
    server.objects.remove('nodes', 'a');
    server.objects.compact();
    await mirror.elapse(mirror.converged);
    await back;
    expect(mirror.lists).toBe(0);
    expect(mirror.lastQuery('watch')).toMatchObject({
      sendInitialEvents: 'true',
      resourceVersionMatch: 'NotOlderThan',
    });
    expect(await mirror.value('reflector_relists_total', { reason: 'expired' })).toBe(1);
  });

  test('C-08 ends a stream itself that says 410 and stays open, and lists once', async () => {
    const mirror = await startMirror();
    const { server } = mirror;
    server.faults.next(WATCH, { stream: { inject: [errorEvent({ status: 410 })], ending: 'silence' } });
    await mirror.restart();
    server.objects.create('nodes', { metadata: { name: 'd' } });
    expect(await mirror.elapse(mirror.converged)).toBeLessThanOrEqual(5_000);
    await mirror.elapse(mirror.watching);
    expect(mirror.lists).toBe(1);
    expect(await mirror.value('reflector_watches_total', { end: 'expired' })).toBe(1);
  });

  test('C-09 lists once by quorum when the list at the last version is expired too', async () => {
    const mirror = await startMirror();
    const { server } = mirror;
    server.faults.next(WATCH, { status: 410 });
    server.faults.next(LIST, { status: 410 });
    await mirror.restart();
    server.objects.create('nodes', { metadata: { name: 'd' } });
    expect(await mirror.elapse(mirror.converged)).toBeLessThanOrEqual(10_000);
    expect([mirror.lists, mirror.lastQuery('list')]).toEqual([2, { limit: '100' }]);
    expect(await mirror.value('reflector_lists_total', { result: 'expired' })).toBe(1);
  });

  test('C-09 lists once by quorum when the continue token expires on the way', async () => {
    const mirror = await startMirror();
    const { server } = mirror;
    for (let count = 0; count < 1_000; count++) server.objects.create('nodes', { metadata: { name: `n${count}` } });
    await mirror.elapse(mirror.converged);
    server.evidence.reset();
    server.faults.next(WATCH, { status: 410 });
    server.faults.next({ ...LIST, skip: 2 }, { status: 410 });
    await mirror.restart();
    await mirror.elapse(() => mirror.lists === 2 && mirror.watching());
    expect(mirror.server.evidence.count('list', 'nodes')).toBe(3 + 3);
    expect(await mirror.value('reflector_lists_total', { result: 'expired' })).toBe(1);
    expect([mirror.converged(), mirror.lastQuery('watch')['resourceVersion']]).toEqual([
      true,
      server.objects.resourceVersion,
    ]);
  });

  test('C-10 keeps to the budget while every watch is answered 410', async () => {
    const mirror = await startMirror();
    const release = mirror.server.faults.until(WATCH, { status: 410 });
    await mirror.restart();
    await mirror.outlast(60_000);
    expect([mirror.lists <= 8, mirror.watches <= 8]).toEqual([true, true]);
    const expired = await mirror.value('reflector_watches_total', { end: 'expired' });
    expect(expired).toBeGreaterThanOrEqual(mirror.watches - 1);
    release();
    expect(await mirror.elapse(mirror.watching)).toBeLessThanOrEqual(30_000);
    expect(mirror.converged()).toBe(true);
  });

  test.each(['cause', 'message'] as const)(
    'C-22 lists the newest state once for a version out of reach, known by its %s',
    async (form) => {
      const mirror = await startMirror();
      mirror.server.faults.next(WATCH, tooLarge(form));
      await mirror.restart();
      await mirror.elapse(() => mirror.lists === 1 && mirror.watching());
      expect([mirror.watches, mirror.lastQuery('list')]).toEqual([2, { limit: '100' }]);
      expect(await mirror.value('reflector_relists_total', { reason: 'too_large_version' })).toBe(1);
    },
  );

  test.each(['cause', 'message'] as const)(
    'C-22 lists the newest state once when a list is out of reach, known by its %s',
    async (form) => {
      const mirror = await startMirror();
      mirror.server.faults.next(WATCH, { status: 410 });
      mirror.server.faults.next(LIST, tooLarge(form));
      await mirror.restart();
      await mirror.elapse(() => mirror.lists === 2 && mirror.watching());
      expect(mirror.lastQuery('list')).toEqual({ limit: '100' });
      expect(await mirror.value('reflector_lists_total', { result: 'too_large_version' })).toBe(1);
    },
  );

  test('C-23 follows a restored server into a new epoch, and takes its lower versions', async () => {
    const mirror = await startMirror();
    const { server, store } = mirror;
    const older = server.objects.resourceVersion;
    for (let count = 0; count < 20; count++)
      server.objects.patch('nodes', 'a', { metadata: { labels: { count: `${count}` } } });
    await mirror.elapse(mirror.converged);
    const restoredAt = mirror.clock.monotonic();
    server.restore(older);
    // The server takes the watch at a version that it has not reached, and stays silent.
    await mirror.elapse(() => mirror.watches === 1 && mirror.reflector.stalenessMs() === 0);
    await mirror.clock.advance(10_000);
    await mirror.elapse(mirror.converged);
    expect(mirror.clock.monotonic() - restoredAt).toBeLessThanOrEqual(30_000);
    await mirror.elapse(mirror.watching);
    server.objects.patch('nodes', 'a', { metadata: { labels: { after: 'restore' } } });
    await mirror.elapse(mirror.converged);
    expect(store.get('a')?.object.metadata.labels).toEqual({ after: 'restore' });
    expect(await mirror.value('cache_epoch')).toBe(2);
    expect(await mirror.value('reflector_relists_total', { reason: 'restored' })).toBe(1);
  });
});
