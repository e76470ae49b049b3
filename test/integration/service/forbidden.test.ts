import { expect, test } from 'vitest';
import type { RequestMatch } from '../../../dev/cluster/faults.ts';
import { startDrivenReady } from './driven.ts';
import { shownAsFailing, startCluster } from './stand.ts';

/** What `docs/operations/monitoring.md` alerts on. */
const AGE = 'gatehouse_cache_staleness_seconds{resource="nodes"}';
const REFUSED = 'gatehouse_reflector_forbidden{resource="nodes"}';
const FORBIDDEN = 'gatehouse_cluster_requests_total{purpose="watch",code="403"}';
const ALERT_AGE_S = 120;
const MINUTE = 60_000;
/** Of nodes by default, and set for rights: for longer than the outage that is to be bridged. */
const LIMIT_MS = 12 * MINUTE;
const SETTINGS = { config: { authorization: { maxStaleness: '12m' } } };

test.each<[string, readonly RequestMatch[], readonly string[]]>([
  ['nodes and pods', [{ kind: 'nodes' }, { kind: 'pods' }], ['nodes-fresh', 'pods-fresh']],
  ['everything', [{}], ['nodes-fresh', 'pods-fresh', 'namespaces-fresh', 'revocations-fresh']],
])(
  'C-28 without rights on %s it serves what it knows and the alerts are due, refuses when that is too old, and recovers',
  async (_what, lost, checks) => {
    const cluster = await startCluster();
    const { clock, service } = await startDrivenReady(cluster, SETTINGS);
    const { access_token: token } = await service.signIn('ada');
    const answer = async () => {
      const { status, text } = await service.list(token);
      return [status, text.includes('"changed":"meanwhile"'), await service.readiness()];
    };
    expect(await answer()).toEqual([200, false, 200]);

    const ends = lost.map((match) => cluster.faults.until(match, { status: 403 }));
    await cluster.restart();
    cluster.objects.patch('nodes', 'node-a', { metadata: { labels: { changed: 'meanwhile' } } });
    const lostAt = clock.monotonic();
    for (const series of [FORBIDDEN, REFUSED])
      await clock.until(
        () => service.metric(series),
        (count) => count > 0,
      );
    expect(clock.monotonic() - lostAt).toBeLessThanOrEqual(MINUTE);
    await clock.spend(6 * MINUTE - (clock.monotonic() - lostAt));
    expect(await service.metric(REFUSED)).toBe(1);
    expect(await service.metric(AGE)).toBeGreaterThan(ALERT_AGE_S);
    await clock.spend(LIMIT_MS - 7 * MINUTE);
    expect(await answer()).toEqual([200, false, 200]);

    await clock.spend(2 * MINUTE);
    expect(await answer()).toEqual([503, false, 200]);
    expect(await shownAsFailing(service)).toEqual(checks);
    expect((await service.call('/livez')).status).toBe(200);

    for (const end of ends) end();
    await clock.until(answer, ([status]) => status === 200);
    await clock.until(answer, ([, isCurrent]) => isCurrent === true);
    expect(await answer()).toEqual([200, true, 200]);
    // Each collection waits for its own next try.
    const endedAt = clock.monotonic();
    await clock.until(
      () => shownAsFailing(service),
      (failing) => failing.length === 0,
    );
    expect(clock.monotonic() - endedAt).toBeLessThanOrEqual(MINUTE);
    expect(await service.metric(AGE)).toBeLessThan(ALERT_AGE_S);
    expect(await service.metric(REFUSED)).toBe(0);
  },
);
