import { describe, expect, test } from 'vitest';
import { startDrivenReady } from './driven.ts';
import { startCluster } from './stand.ts';

const HOUR_MS = 3_600_000;

describe('a wall clock that jumps', () => {
  test.each([
    ['an hour ahead', HOUR_MS, 200],
    ['an hour back', -HOUR_MS, 200], // it was found good before: when it was issued is not asked again
    ['a day ahead', 24 * HOUR_MS, 401],
  ])('C-33 %s starts no storm: timers are monotonic, and tokens alone are judged by it', async (_how, ms, status) => {
    const cluster = await startCluster();
    const { clock, service } = await startDrivenReady(cluster);
    const { access_token: token } = await service.signIn('ada');
    expect((await service.list(token)).status).toBe(200);
    await clock.advance(5_000);
    const timers = clock.pendingTimers;
    cluster.evidence.reset();
    clock.jumpWall(ms);
    await clock.advance(5_000);
    // The probes of the file and of the thread pool are between two waits now and then.
    expect(clock.pendingTimers).toBeLessThanOrEqual(timers + 2);
    expect(cluster.evidence.requests.length).toBeLessThanOrEqual(2);
    expect([await service.readiness(), (await service.list(token)).status]).toEqual([200, status]);
    expect((await service.list((await service.signIn('ada')).access_token)).status).toBe(200);
    expect(await service.metric('gatehouse_cache_staleness_seconds{resource="nodes"}')).toBeLessThan(60);
  });

  test.each([
    ['ahead', HOUR_MS],
    ['back', -HOUR_MS],
  ])('C-33 an hour %s neither lets a throttled user in nor makes the wait longer or negative', async (_how, ms) => {
    const { clock, service } = await startDrivenReady(await startCluster());
    for (let count = 0; count < 5; count++) await service.signInAnswer('ada', 'wrong');
    clock.jumpWall(ms);
    const { status, headers } = await service.signInAnswer('ada', 'wrong');
    expect(status).toBe(429);
    const wait = Number(headers.get('retry-after'));
    expect([wait > 0, wait <= 1_800, Number.isInteger(wait)]).toEqual([true, true, true]);
    expect(await service.metric('gatehouse_login_throttled_total{bucket="user"}')).toBe(1);
  });
});
