import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { SimulatedCluster } from '../../../dev/cluster/cluster.ts';
import { DrivenClock, startDrivenReady } from './driven.ts';
import { type Person, type Service, startCluster, startService } from './stand.ts';

const PAGE = readFileSync(new URL('../../../docs/growth.md', import.meta.url), 'utf8');

/** Every watch of a replica in docs/growth.md by kind, those with accounts only if wanted. */
function watchesOnPage(withAccounts: boolean): Readonly<Record<string, number>> {
  const watches: Record<string, number> = {};
  for (const [, kind = '', number = '', when] of PAGE.matchAll(
    /^\| [^|]+ \| `(\w+)` \| (\d+) \| (always|accounts) \|$/gm,
  ))
    if (when === 'always' || withAccounts) watches[kind] = (watches[kind] ?? 0) + Number(number);
  return watches;
}

const SHARED = { sessions: { store: 'kubernetes' }, users: { firstAdministrator: {} } };
const WITH_ACCOUNTS = { ...SHARED, accounts: { enabled: true } };

const startReplicas = (
  cluster: SimulatedCluster,
  replicas: number,
  config: Readonly<Record<string, unknown>> = SHARED,
) => Promise.all(Array.from({ length: replicas }, () => startService(cluster, { config })));

/** Replicas on one clock, started one after the other. */
async function startOnOneClock(replicas: number, config: Readonly<Record<string, unknown>>) {
  const cluster = await startCluster();
  const clock = new DrivenClock();
  const services: Service[] = [];
  for (let nth = 0; nth < replicas; nth++) services.push((await startDrivenReady(cluster, { config }, clock)).service);
  return { cluster, clock, services };
}

describe('an installation of several replicas', () => {
  test.each([
    [1, 'without accounts', SHARED],
    [2, 'with accounts', WITH_ACCOUNTS],
  ])(
    'R-28 of %i, %s, opens the watches of docs/growth.md for each replica, and no others',
    async (replicas, _, config) => {
      const cluster = await startCluster();
      await startReplicas(cluster, replicas, config);
      const { evidence } = cluster;
      const wanted = Object.entries(watchesOnPage(config === WITH_ACCOUNTS)).map(([kind, each]) => [
        kind,
        each * replicas,
      ]);
      const open = () => wanted.map(([kind]) => [kind, evidence.openWatches(String(kind))]);
      expect(wanted.length).toBeGreaterThan(3);
      await expect.poll(open).toEqual(wanted);
      expect(evidence.openWatches()).toBe(wanted.reduce((sum, [, number]) => sum + Number(number), 0));
    },
  );

  test.each([1, 3])('R-28 of %i asks for one review of a repeated question at each replica', async (replicas) => {
    const { cluster, clock, services } = await startOnOneClock(replicas, SHARED);
    const [first] = services as [Service];
    const { access_token: token } = await clock.during(first.signIn('ada'));
    const before = cluster.evidence.count('create', 'subjectaccessreviews');
    const asked = () => cluster.evidence.count('create', 'subjectaccessreviews') - before;
    const lists = Array.from({ length: 8 }, () => first.list(token));
    for (const { status } of await clock.during(Promise.all(lists))) expect(status).toBe(200);
    expect(asked()).toBe(1);
    await clock.until(asked, (count) => count >= replicas);
    await clock.spend(30_000);
    expect(asked()).toBe(replicas);
  });

  test.each([1, 3])('R-17 R-28 of %i writes each refresh once, and no sign-in', async (replicas) => {
    const cluster = await startCluster();
    const services = await startReplicas(cluster, replicas);
    const people: readonly Person[] = ['ada', 'joe'];
    const before = cluster.objects.revision;
    const at = (nth: number): Service => services[nth % replicas] as Service;
    for (const [nth, person] of people.entries()) {
      let { refresh_token: token } = await at(nth).signIn(person);
      for (let turn = 1; turn <= 3; turn++) {
        const answer = await at(nth + turn).refresh(token);
        expect(answer.status).toBe(200);
        token = answer.body.refresh_token;
      }
    }
    expect(cluster.objects.revision - before).toBe(people.length * 3);
  });

  test('R-28 has one writer of its Lease, and the others only read it', async () => {
    const { cluster, clock } = await startOnOneClock(2, WITH_ACCOUNTS);
    await clock.spend(20_000);
    const requests = cluster.evidence.requests.filter(({ target }) => target?.kind.plural === 'leases');
    const writes = requests.filter(({ verb }) => verb === 'update' || verb === 'create');
    const writers = writes.map(({ body }) => JSON.parse(body.toString()).spec.holderIdentity);
    expect(writes.length).toBeGreaterThan(3);
    expect(new Set(writers).size).toBe(1);
    expect(requests.filter(({ verb }) => verb === 'get').length).toBeGreaterThan(3);
  });
});
