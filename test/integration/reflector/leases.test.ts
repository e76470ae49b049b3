import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Behaviour } from '../../../dev/cluster/behaviour.ts';
import { type SimulatedCluster, startSimulatedCluster } from '../../../dev/cluster/cluster.ts';
import { connectCluster } from '../../../src/kubernetes/cluster.ts';
import { createLease, type Lease } from '../../../src/kubernetes/leases/lease.ts';
import { type Clock, systemClock } from '../../../src/runtime/clock.ts';
import { systemRandom } from '../../../src/runtime/random.ts';
import { hurriedClock } from '../../support/hurried-clock.ts';

/** An expired lease is taken after 15 to 20 s, which takes a second of the test. */
const HURRIED = hurriedClock(20);

/** Its time limits are not hurried, so a busy machine has the two real seconds of the release. */
const WITH_REAL_LIMITS: Clock = { ...HURRIED, after: systemClock.after };

interface Holders {
  readonly server: SimulatedCluster;
  /** The identities of those who hold the lease now. */
  holding(): readonly string[];
  /** Resolves when this one holds it. Fails when ever two do. */
  until(condition: (holder: string) => boolean): Promise<string>;
  /** Requests with which this one would take or keep the lease behave so, until the returned function is called. */
  disturb(identity: string, behaviour: Behaviour): () => void;
  /** Ends one of them in the orderly way. */
  stop(identity: string): Promise<void>;
}

/** So many processes that want one lease, each with connections and rights of its own. */
async function start(count: number, clock: Clock = HURRIED): Promise<Holders> {
  const server = await startSimulatedCluster({ tokens: {} });
  onTestFinished(() => server.stop());
  const rules = [{ verbs: ['get', 'create', 'update'], apiGroups: ['coordination.k8s.io'], resources: ['leases'] }];
  server.objects.create('clusterroles', { metadata: { name: 'leases' }, rules });
  const subjects = [{ kind: 'Group', name: 'replicas' }];
  const roleRef = { kind: 'ClusterRole', name: 'leases' };
  server.objects.create('clusterrolebindings', { metadata: { name: 'leases' }, roleRef, subjects });
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-leases-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const identities = Array.from({ length: count }, (_, index) => `replica-${index}`);
  const stops = new Map<string, () => Promise<void>>();
  const leases: Lease[] = [];
  for (const identity of identities) {
    server.tokens.set(identity, { username: identity, groups: ['replicas'] });
    const kubeconfig = join(folder, identity);
    await writeFile(kubeconfig, server.kubeconfig(identity));
    const parts = { clock, random: systemRandom, logger: pino({ level: 'silent' }) };
    const cluster = await connectCluster({ kubeconfig }, { ...parts, registry: new Registry() });
    const lease = createLease({ name: 'tidy', namespace: 'default', identity }, { cluster, ...parts });
    const controller = new AbortController();
    const ended = lease.run(controller.signal);
    const stop = async (): Promise<void> => {
      controller.abort();
      await ended;
    };
    stops.set(identity, stop);
    leases.push(lease);
    onTestFinished(async () => {
      await stop();
      await cluster.close();
    });
  }
  const holding = (): string[] => identities.filter((_, index) => leases[index]?.isHolder());
  return {
    server,
    holding,
    async until(condition) {
      for (;;) {
        const holders = holding();
        expect(holders.length).toBeLessThanOrEqual(1);
        if (holders[0] !== undefined && condition(holders[0])) return holders[0];
        await clock.sleep(100);
      }
    },
    disturb: (identity, behaviour) =>
      server.faults.until(
        { kind: 'leases', when: ({ headers, method }) => method !== 'GET' && isOf(headers.authorization, identity) },
        behaviour,
      ),
    stop: (identity) => stops.get(identity)!(),
  };
}

const isOf = (authorization: string | undefined, identity: string): boolean => authorization === `Bearer ${identity}`;

describe.each([2, 3])('of %i who want a lease', (count) => {
  test('one holds it, and never two', async () => {
    const { until } = await start(count);
    for (let second = 0; second < 20; second++) {
      await until(() => true);
      await HURRIED.sleep(1_000);
    }
  });

  test.each([
    ['hangs', { connection: 'silence' }],
    ['hangs after it was carried out', { connection: 'silence', afterCommit: true }],
    ['breaks off after it was carried out', { connection: 'reset', afterCommit: true }],
    ['is refused', { status: 403 }],
  ] satisfies [string, Behaviour][])(
    'another gets it when each renewal %s, and never two hold it',
    async (_, behaviour) => {
      const { until, disturb } = await start(count);
      const holder = await until(() => true);
      const heal = disturb(holder, behaviour);
      await until((now) => now !== holder);
      heal();
    },
  );

  test('another gets it at once from one that ends', async () => {
    const { until, stop, server } = await start(count, WITH_REAL_LIMITS);
    const holder = await until(() => true);
    const writes = server.objects.revision;
    await stop(holder);
    expect(server.objects.get('leases', 'default/tidy')?.spec?.['holderIdentity']).not.toBe(holder);
    expect(await until((now) => now !== holder)).not.toBe(holder);
    expect(server.objects.revision - writes).toBeLessThan(6); // far fewer than the renewals of 15 s
  });

  test('nobody holds it while the API server is away, and one does when it is back', async () => {
    const { until, holding, server } = await start(count);
    await until(() => true);
    const back = server.faults.until({}, { connection: 'reset' });
    while (holding().length > 0) await HURRIED.sleep(100);
    back();
    await until(() => true);
  });
});
