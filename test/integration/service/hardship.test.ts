import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { populate } from '../../../dev/cluster/population/population.ts';
import { tellMeasured } from '../../support/measured.ts';
import { startProgram } from './program.ts';
import { eventually, NODES, passwordOf, startCluster } from './stand.ts';

/** How long the process stands still. What fails in a minute fails in this, too: every connection is lost meanwhile. */
const STOPPED_MS = 1_500;

describe('a process that is stopped and goes on', () => {
  test('C-34 answers who asked meanwhile, turns no sign-in away, and follows the cluster again within 10 s', async () => {
    const cluster = await startCluster();
    // On a busy machine a compare takes long, and a wait of 2 s in the gate would be over: that is its job, and not looked at here.
    const config = { authentication: { passwordGate: { maxWait: '1m' } } };
    const program = await startProgram(cluster, { config });
    const service = await program.service();
    const { access_token: token } = await service.signIn('ada');
    program.signal('SIGSTOP');
    await cluster.restart();
    cluster.objects.patch('nodes', 'node-a', { metadata: { labels: { changed: 'meanwhile' } } });
    const signIns = Array.from({ length: 3 }, () => service.signInAnswer('ada', passwordOf('ada')));
    const list = service.list(token);
    await sleep(STOPPED_MS);
    program.signal('SIGCONT');
    const began = performance.now();
    const statuses = (await Promise.all([...signIns, list])).map(({ status }) => status);
    expect(statuses).toEqual([200, 200, 200, 200]);
    const seen = await eventually(
      () => service.list(token),
      ({ text }) => text.includes('"changed":"meanwhile"'),
    );
    tellMeasured('C-34', performance.now() - began, 'from SIGCONT until all were answered and the change is listed');
    expect([seen.status, await service.readiness()]).toEqual([200, 200]);
    expect(await service.metric('gatehouse_reflector_watches_total{resource="nodes",end="reset"}')).toBe(1);
    for (const bucket of ['user', 'address', 'known_good'])
      expect(await service.metric(`gatehouse_login_throttled_total{bucket="${bucket}"}`)).toBe(0);
  });
});

const LISTS = 100;

describe('a process with little memory', () => {
  test('C-40 of 256 MB of heap survives 100 lists of 2,000 nodes at once whose readers are slow', async () => {
    const cluster = await startCluster();
    populate(cluster.objects, { nodes: 2_000, podsPerNode: 5, nodeBytes: 8_000 });
    const program = await startProgram(cluster, { env: { NODE_OPTIONS: '--max-old-space-size=256' } });
    const service = await program.service();
    const { access_token: token } = await service.signIn('ada');
    const giveUp = new AbortController();
    const answers = await Promise.all(
      Array.from({ length: LISTS }, (_, index) =>
        // Every answer is another page in another order, half of them compressed; none of the bodies is read yet.
        fetch(`${service.gatehouse.origin}${NODES}?sortBy=name&ascending=${index % 2 === 0}&limit=${2_000 - index}`, {
          headers: { authorization: `Bearer ${token}`, 'accept-encoding': index % 4 < 2 ? 'identity' : 'gzip' },
          signal: giveUp.signal,
        }),
      ),
    );
    const statuses = new Set(answers.map(({ status }) => status));
    expect([...statuses].filter((status) => status !== 200 && status !== 429)).toEqual([]);
    expect(answers.some(({ status }) => status === 200)).toBe(true);
    for (const answer of answers.slice(0, 5)) await answer.arrayBuffer();
    giveUp.abort();
    const began = performance.now();
    expect([await service.readiness(), (await service.list(token)).body.items.length]).toEqual([200, 2_003]);
    expect(await service.metric('process_start_time_seconds')).toBeGreaterThan(0); // it needs no /proc, as the memory does
    await eventually(
      () => service.metric('gatehouse_http_requests_in_flight{class="requests"}'),
      (count) => count === 0,
    );
    tellMeasured('C-40', performance.now() - began, 'from the end of 100 slow readers until nothing of them is left');
  });
});
