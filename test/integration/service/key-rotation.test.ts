import { describe, expect, test } from 'vitest';
import type { SimulatedCluster } from '../../../dev/cluster/cluster.ts';
import { DrivenClock, startDriven } from './driven.ts';
import { type Pair, type Service, startCluster } from './stand.ts';

const SECRET = { kind: 'secrets', name: 'gatehouse-signing-keys' } as const;
const KEY = `default/${SECRET.name}`;
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** Several services behind one clock, which moves when the test says so. */
async function start(count: number) {
  const cluster = await startCluster();
  const clock = new DrivenClock();
  const services: Service[] = [];
  for (let index = 0; index < count; index++) {
    services.push((await startDriven(cluster, { config: { sessions: { store: 'kubernetes' } } }, clock)).service);
  }
  await clock.until(
    () => Promise.all(services.map((service) => service.readiness())),
    (codes) => codes.every((code) => code === 200),
  );
  return { cluster, clock, services };
}

type Stand = Awaited<ReturnType<typeof start>>;

const kidsOf = async (service: Service): Promise<string[]> =>
  (await service.call('/oauth/keys')).body.keys.map(({ kid }: { kid: string }) => kid);

const kidOf = ({ access_token: token }: Pair): string =>
  JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).kid;

const storedStates = (cluster: SimulatedCluster): string[] => {
  const data = cluster.objects.get('secrets', KEY)?.['data'] as Record<string, string>;
  const { keys } = JSON.parse(Buffer.from(data['keys.json'] ?? '', 'base64').toString());
  return keys.map(({ state }: { state: string }) => state);
};

const signIn = ({ clock }: Stand, service: Service): Promise<Pair> => clock.during(service.signIn('ada'));

/** The statuses that the token gets at every service. */
const judged = (services: readonly Service[], { access_token: token }: Pair): Promise<number[]> =>
  Promise.all(services.map(async (service) => (await service.list(token)).status));

/** Lets the time of the next publication come, and the keys reach every service. */
async function publish({ clock, services }: Stand, days = 30): Promise<void> {
  clock.jumpWall(days * DAY);
  await clock.until(
    () => Promise.all(services.map(kidsOf)),
    (lists) => lists.every((kids) => kids.length === 2),
  );
}

/** Lets the time of its activation come, and the news reach every service. */
async function activate({ clock, services }: Stand): Promise<void> {
  clock.jumpWall(15 * MINUTE);
  const told = (service: Service) => service.gatehouse.log.some(({ event }) => event === 'signing_key_activated');
  await clock.until(
    () => services.every(told),
    (all) => all,
  );
}

describe('the rotation of signing keys', () => {
  test('R-05 happens once for three replicas, and tokens from before and after it are good everywhere', async () => {
    const stand = await start(3);
    const { cluster, clock, services } = stand;
    const [one, two, three] = services as [Service, Service, Service];
    await publish(stand);
    const before = await signIn(stand, one);
    await activate(stand);
    expect(storedStates(cluster)).toEqual(['verify-only', 'active']);
    const after = await signIn(stand, two);
    expect(kidOf(after)).not.toBe(kidOf(before));
    expect(await judged(services, before)).toEqual([200, 200, 200]);
    expect(await judged(services, after)).toEqual([200, 200, 200]);
    const refreshed = await clock.during(three.refresh(before.refresh_token));
    expect(kidOf(refreshed.body as Pair)).toBe(kidOf(after));
    expect(await judged(services, refreshed.body as Pair)).toEqual([200, 200, 200]);
  });

  test('N-45 is seen in the JWKS: another ETag, and still 300 s of caching', async () => {
    const stand = await start(1);
    const [service] = stand.services as [Service];
    const before = await service.call('/oauth/keys');
    await publish(stand);
    const after = await service.call('/oauth/keys', { headers: { 'if-none-match': before.headers.get('etag') ?? '' } });
    expect([after.status, after.headers.get('cache-control')]).toEqual([200, 'public, max-age=300']);
    expect(after.headers.get('etag')).not.toBe(before.headers.get('etag'));
    expect(Object.keys(after.body.keys[1])).toEqual(['kty', 'use', 'alg', 'kid', 'n', 'e']);
  });

  test('C-36 whose answer is lost comes to one next key', async () => {
    const stand = await start(2);
    stand.cluster.faults.next({ ...SECRET, verb: 'update' }, { connection: 'reset', afterCommit: true });
    await publish(stand);
    const lost = 'gatehouse_cluster_requests_total{purpose="secrets",code="error"}';
    const counts = await Promise.all(stand.services.map((service) => service.metric(lost)));
    expect(Math.max(...counts)).toBeGreaterThan(0);
    await stand.clock.advance(5 * MINUTE);
    expect(storedStates(stand.cluster)).toEqual(['active', 'next']);
  });

  test('is tried again while the cluster refuses it, and counted', async () => {
    const stand = await start(1);
    const [service] = stand.services as [Service];
    stand.cluster.faults.times(2, { ...SECRET, verb: 'update' }, { status: 503 });
    await publish(stand);
    expect(await service.metric('gatehouse_signing_key_rotation_failures_total')).toBe(2);
  });

  test('C-39 does not happen while the Secret is gone', async () => {
    const stand = await start(2);
    const { cluster, clock, services } = stand;
    const kids = await Promise.all(services.map(kidsOf));
    cluster.objects.remove('secrets', KEY);
    const told = (service: Service) => service.gatehouse.log.some(({ event }) => event === 'signing_keys_missing');
    await clock.until(
      () => services.every(told),
      (all) => all,
    );
    clock.jumpWall(60 * DAY);
    await clock.advance(5 * MINUTE);
    expect(cluster.objects.get('secrets', KEY)).toBeUndefined();
    expect(await Promise.all(services.map(kidsOf))).toEqual(kids);
  });
});
