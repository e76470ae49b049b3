import { describe, expect, test } from 'vitest';
import { startMirror } from './mirror.ts';

describe('reflector and the connection', () => {
  test.each([true, false])(
    'C-01 resumes at the last version, without a list, after 5 s of a dead server (WatchList: %s)',
    async (watchList) => {
      const mirror = await startMirror({ watchList });
      const { server } = mirror;
      const version = server.objects.resourceVersion;
      const back = server.restart(5_000);
      server.objects.patch('nodes', 'a', { metadata: { labels: { missed: 'event' } } });
      server.objects.remove('nodes', 'b');
      const took = await mirror.elapse(mirror.converged);
      await back;
      expect(took).toBeLessThanOrEqual(5_000 + 10_000);
      expect([mirror.lists, mirror.lastQuery('watch')['resourceVersion']]).toEqual([0, version]);
      expect(mirror.lastQuery('watch')['sendInitialEvents']).toBeUndefined();
      expect(await mirror.value('reflector_watches_total', { end: 'reset' })).toBe(1);
    },
  );

  test('C-02 resumes at once, without a list, after a clean close', async () => {
    const mirror = await startMirror();
    const { server } = mirror;
    server.faults.next({ verb: 'watch', kind: 'nodes' }, { stream: { afterEvents: 1, ending: 'close' } });
    await mirror.restart();
    await mirror.elapse(mirror.watching);
    const before = mirror.clock.monotonic();
    server.objects.patch('nodes', 'a', { metadata: { labels: { last: 'event' } } });
    await mirror.elapse(() => mirror.watches === 2);
    server.objects.patch('nodes', 'a', { metadata: { labels: { next: 'event' } } });
    await mirror.elapse(mirror.converged);
    expect([mirror.clock.monotonic() - before, mirror.lists]).toEqual([0, 0]);
    expect(await mirror.value('reflector_watches_total', { end: 'closed' })).toBe(1);
  });

  test('C-03 keeps to the request budget while every watch is closed at once', async () => {
    const mirror = await startMirror();
    const release = mirror.server.faults.until({ verb: 'watch', kind: 'nodes' }, { stream: { ending: 'close' } });
    await mirror.restart();
    await mirror.outlast(60_000);
    expect([mirror.lists, mirror.watches <= 8]).toEqual([0, true]);
    // The last of them may not have ended yet.
    const closed = await mirror.value('reflector_watches_total', { end: 'closed' });
    expect(closed).toBeGreaterThanOrEqual(mirror.watches - 1);
    release();
    mirror.server.objects.create('nodes', { metadata: { name: 'd' } });
    expect(await mirror.elapse(mirror.converged)).toBeLessThanOrEqual(30_000);
    expect(mirror.lists).toBe(0);
  });

  test('C-04 keeps the data and the budget while connections are refused', async () => {
    const mirror = await startMirror();
    const back = mirror.server.restart(300_000);
    await mirror.outlast(60_000);
    expect(await mirror.value('cluster_requests_total', { purpose: 'watch', code: 'error' })).toBeGreaterThan(0);
    expect(await mirror.value('cache_staleness_seconds')).toBeGreaterThanOrEqual(60);
    await mirror.outlast(239_000);
    expect(mirror.store.size).toBe(3);
    expect(mirror.reflector.stalenessMs()).toBeGreaterThanOrEqual(299_000);
    expect(await mirror.value('cluster_requests_total', { purpose: 'watch', code: 'error' })).toBeLessThan(8 + 4 * 4);
    mirror.server.objects.create('nodes', { metadata: { name: 'd' } });
    expect(await mirror.elapse(mirror.converged)).toBeLessThanOrEqual(60_000);
    await back;
    expect([mirror.lists, mirror.reflector.stalenessMs()]).toEqual([0, 0]);
  });

  test('C-06 ends a stream that stopped in the middle of a line, and resumes without a list', async () => {
    const mirror = await startMirror();
    const { server, clock } = mirror;
    server.faults.next(
      { verb: 'watch', kind: 'nodes' },
      { stream: { inject: ['{"type":"ADDED"'], ending: 'silence' } },
    );
    await mirror.restart();
    await mirror.elapse(mirror.watching);
    server.objects.create('nodes', { metadata: { name: 'd' } });
    await clock.advance(75_000);
    await mirror.elapse(mirror.converged);
    expect([mirror.lists, await mirror.value('reflector_watches_total', { end: 'quiet' })]).toEqual([0, 1]);
  });

  test('C-13 keeps to the budget through 5xx at the watch', async () => {
    const mirror = await startMirror();
    for (const status of [500, 502, 503, 500, 503])
      mirror.server.faults.next({ verb: 'watch', kind: 'nodes' }, { status });
    await mirror.restart();
    mirror.server.objects.create('nodes', { metadata: { name: 'd' } });
    await mirror.elapse(() => mirror.watches === 5); // the fault ends with the last of them
    expect(await mirror.elapse(mirror.converged)).toBeLessThanOrEqual(30_000);
    expect([mirror.lists, mirror.watches]).toEqual([0, 6]);
    expect(await mirror.value('cluster_requests_total', { purpose: 'watch', code: '500' })).toBe(2);
  });

  test('C-28 keeps the data and the budget while it is forbidden to watch', async () => {
    const mirror = await startMirror();
    const release = mirror.server.faults.until({ kind: 'nodes' }, { status: 403 });
    await mirror.restart();
    await mirror.outlast(60_000);
    expect([mirror.store.size, mirror.lists, mirror.watches <= 8]).toEqual([3, 0, true]);
    for (const refused of [
      await mirror.value('cluster_requests_total', { purpose: 'watch', code: '403' }),
      await mirror.value('reflector_watches_total', { end: 'refused' }), // what the alert reads
    ])
      expect(refused).toBeGreaterThanOrEqual(mirror.watches - 1);
    expect(await mirror.value('cache_staleness_seconds')).toBeGreaterThanOrEqual(60);
    release();
    expect(await mirror.elapse(mirror.watching)).toBeLessThanOrEqual(60_000);
  });

  test('I7 serves all calls over one connection, and each watch over its own', async () => {
    const mirror = await startMirror();
    const before = mirror.server.evidence.connections;
    for (let count = 0; count < 50; count++) await mirror.cluster.version(AbortSignal.timeout(30_000));
    expect(mirror.server.evidence.connections - before).toBeLessThanOrEqual(1);
    expect(await mirror.value('cluster_connections')).toBe(mirror.server.evidence.openConnections);
  });

  test('says who it is, and asks for JSON', async () => {
    const mirror = await startMirror();
    await mirror.restart();
    await mirror.elapse(mirror.watching);
    const { headers } = mirror.server.evidence.requests.at(-1)!;
    expect(headers).toMatchObject({ accept: 'application/json', 'user-agent': 'gatehouse/1.2.3' });
    expect(mirror.lastQuery('watch')).toMatchObject({ allowWatchBookmarks: 'true', timeoutSeconds: '300' });
  });
});
