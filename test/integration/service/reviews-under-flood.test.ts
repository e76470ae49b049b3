import { Agent, request } from 'node:http';
import { describe, expect, test } from 'vitest';
import type { ApiRequest } from '../../../dev/cluster/request.ts';
import { startFaultProxy } from '../../../dev/fault-proxy/fault-proxy.ts';
import { atEnd } from '../../support/at-end.ts';
import { Watcher } from '../../support/watcher.ts';
import { startDrivenReady } from './driven.ts';
import { NODES, type Service, startCluster, startService } from './stand.ts';

const reviews = 'subjectaccessreviews';
/** As in the finding: a flood over so many connections, to a cluster that is so far away. */
const CONNECTIONS = 420;
const ROUND_TRIP_MS = 40;
/** Twice the seats of one user, 16 in flight and 48 that wait: enough where the time of the test goes by steps. */
const TWICE_THE_PLACES = 128;
/** Bounds the flood, whatever happens. */
const MOST_REQUESTS = 60_000;

/** Asks for another node each time, over many connections, until it is stopped: how often each status was answered. */
function startFlood(service: Service, token: string, connections = TWICE_THE_PLACES) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const statuses = new Map<number, number>();
  const flood = { asked: 0, isOver: false };
  const ask = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const path = `${NODES}/made-up-${flood.asked++}`;
      const headers = { authorization: `Bearer ${token}` };
      request(service.gatehouse.origin + path, { agent, headers }, (answer) => {
        const { statusCode = 0 } = answer;
        statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1);
        answer.resume().on('end', resolve);
      })
        .on('error', reject)
        .end();
    });
  const one = async (): Promise<void> => {
    while (!flood.isOver && flood.asked < MOST_REQUESTS) await ask();
  };
  const running = Promise.all(Array.from({ length: connections }, one));
  const stop = async () => {
    flood.isOver = true;
    await running;
    agent.destroy();
    return statuses;
  };
  return { statuses, stop };
}

/** Waits until the flood has been refused for want of seats: from then on it has all that it can get. */
const untilFull = async ({ statuses }: ReturnType<typeof startFlood>): Promise<void> => {
  while (!statuses.has(429)) await new Promise((resolve) => setTimeout(resolve, 1));
};

describe('one user who floods the cluster with questions', () => {
  test('A-49 makes nobody else wait for a place, and is refused what is above its share', async () => {
    const cluster = await startCluster();
    const proxy = await startFaultProxy(Number(new URL(cluster.url).port));
    atEnd(() => proxy.stop());
    const kubeconfig = cluster.kubeconfig().replace(cluster.url, proxy.url);
    const service = await startService({ kubeconfig: () => kubeconfig });
    const [ada, joe] = [await service.signIn('ada'), await service.signIn('joe')];
    proxy.set({ delayMs: ROUND_TRIP_MS / 2 });
    const flood = startFlood(service, joe.access_token, CONNECTIONS);
    await untilFull(flood);
    const answers: number[] = [];
    for (let index = 0; index < 17; index++) {
      const answer = await service.call(`${NODES}/uncached-${index}`, { token: ada.access_token });
      answers.push(answer.status);
    }
    const statuses = await flood.stop();
    expect(answers).toEqual(Array(17).fill(404)); // the right was there, the node is not
    expect([...statuses.keys()].sort()).toEqual([403, 429]);
    expect(await service.metric('gatehouse_authorization_decisions_total{decision="error",source="overload"}')).toBe(
      statuses.get(429),
    );
    expect(await service.metric('gatehouse_authorization_decisions_total{decision="allow",source="stale"}')).toBe(0);
    const [told] = service.logged(
      'a caller asks for more access reviews than its share: requests without a known answer get 429',
    );
    expect(told).toMatchObject({ level: 'warn', party: expect.stringMatching(/^joe /) });
  });

  test('A-50 lengthens no right: one that is taken away ends within its 10 s and one review', async () => {
    const cluster = await startCluster();
    const { clock, service } = await startDrivenReady(cluster);
    const [ada, joe] = [await service.signIn('ada'), await service.signIn('joe')];
    expect((await service.list(ada.access_token)).status).toBe(200);
    cluster.objects.remove('clusterrolebindings', 'observed-admins');
    await clock.advance(10_001);
    const flood = startFlood(service, joe.access_token);
    await untilFull(flood);
    expect((await clock.during(service.list(ada.access_token))).status).toBe(403);
    await clock.during(flood.stop());
  });

  test('A-50 has no old right itself: what it knew is 429 while its seats are taken', async () => {
    const cluster = await startCluster();
    const { clock, service } = await startDrivenReady(cluster);
    const { access_token: token } = await service.signIn('ada');
    expect((await service.list(token)).status).toBe(200);
    cluster.objects.remove('clusterrolebindings', 'observed-admins');
    await clock.advance(10_001);
    const flood = startFlood(service, token);
    await untilFull(flood);
    for (let call = 0; call < 4; call++) {
      const { status, headers, body } = await clock.during(service.list(token));
      expect([403, 429]).toContain(status);
      if (status === 429)
        expect([headers.get('retry-after'), headers.get('cache-control'), body]).toEqual([
          '1',
          'no-store',
          {
            kind: 'Status',
            apiVersion: 'v1',
            metadata: {},
            status: 'Failure',
            message: 'Too many access reviews at once, please try again later.',
            reason: 'TooManyRequests',
            details: { retryAfterSeconds: 1 },
            code: 429,
          },
        ]);
    }
    await clock.during(flood.stop());
  });

  test('A-50 holds no open watch of somebody else, though the cluster answers 429 to nobody but that user', async () => {
    const cluster = await startCluster();
    const { clock, service } = await startDrivenReady(cluster);
    const [ada, joe] = [await service.signIn('ada'), await service.signIn('joe')];
    const authorization = `Bearer ${ada.access_token}`;
    const watcher = await Watcher.open(`${service.gatehouse.origin}${NODES}?watch=true`, { authorization });
    atEnd(async () => watcher.close());
    const isOfJoe = ({ body }: ApiRequest): boolean => body.includes('"joe"');
    cluster.faults.until({ kind: reviews, when: isOfJoe }, { status: 429, retryAfterSeconds: 1 });
    cluster.objects.remove('clusterrolebindings', 'observed-admins');
    const removedAt = clock.monotonic();
    await clock.spend(25_000);
    const flood = startFlood(service, joe.access_token);
    await clock.until(
      () => watcher.ending,
      (ending) => ending !== undefined,
    );
    expect(clock.monotonic() - removedAt).toBeLessThan(42_000);
    expect(watcher.events.at(-1)).toMatchObject({ type: 'ERROR', object: { code: 403 } });
    await clock.during(flood.stop());
  });

  test('A-49 asks the cluster nothing about paths that nothing is served on', async () => {
    const cluster = await startCluster();
    const service = await startService(cluster);
    const { access_token: token } = await service.signIn('joe');
    cluster.evidence.reset(); // one was asked for at the start
    for (let index = 0; index < 50; index++) {
      const answer = await service.call(`/kapis/x/v1/things/${index}`, { token });
      expect(answer.status).toBe(404);
    }
    expect(cluster.evidence.count('create', reviews)).toBe(0);
  });
});
