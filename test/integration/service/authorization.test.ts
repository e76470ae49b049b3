import { describe, expect, test } from 'vitest';
import type { SimulatedCluster } from '../../../dev/cluster/cluster.ts';
import { startDrivenReady } from './driven.ts';
import { type Answer, shownAsFailing, startCluster, startService } from './stand.ts';

const reviews = 'subjectaccessreviews';

/** For callers: one more is asked for at the start. */
const asked = (cluster: SimulatedCluster): number => cluster.evidence.count('create', reviews) - 1;

describe('rights', () => {
  test('NE-03 a user without the right is refused by the cluster’s word', async () => {
    const service = await startService(await startCluster());
    const answer = await service.list((await service.signIn('joe')).access_token);
    expect(answer.status).toBe(403);
    expect(answer.body.message).toBe(
      'nodes.resources.gatehouse.io is forbidden: User "joe" cannot list resource "nodes" in API group ' +
        '"resources.gatehouse.io" at the cluster scope',
    );
  });

  test('one review serves a hundred calls of one user, whatever the token', async () => {
    const cluster = await startCluster();
    const { service } = await startDrivenReady(cluster); // an answer is good for 10 s, which pass for nobody here
    const tokens = await Promise.all([service.signIn('ada'), service.signIn('ada')]);
    for (let call = 0; call < 100; call++) await service.list(tokens[call % 2]?.access_token ?? '');
    expect(asked(cluster)).toBe(1);
  });

  test('calls at the same time share one review', async () => {
    const cluster = await startCluster();
    const service = await startService(cluster);
    const { access_token: token } = await service.signIn('ada');
    const answers = await Promise.all(Array.from({ length: 50 }, () => service.list(token)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(asked(cluster)).toBe(1);
  });

  test('each verb and each user is asked for by itself', async () => {
    const cluster = await startCluster();
    const service = await startService(cluster);
    const [ada, joe] = [await service.signIn('ada'), await service.signIn('joe')];
    await service.list(ada.access_token);
    await service.call('/kapis/resources.gatehouse.io/v1alpha3/nodes/node-a', { token: ada.access_token });
    await service.list(joe.access_token);
    expect(asked(cluster)).toBe(3);
  });

  test('a right that is taken away ends within 10 s', async () => {
    const cluster = await startCluster();
    const { clock, service } = await startDrivenReady(cluster);
    const { access_token: token } = await service.signIn('ada');
    expect((await service.list(token)).status).toBe(200);
    cluster.objects.remove('clusterrolebindings', 'observed-admins');
    await clock.advance(10_001);
    expect((await service.list(token)).status).toBe(403);
  });

  test.each([
    ['10 min old by default', {}, 600_000, '10m0s'],
    ['as old as is set', { authorization: { maxStaleness: '4m' } }, 240_000, '4m0s'],
  ])('I6 a known answer holds while the cluster cannot be asked, until it is %s', async (_, config, limitMs, limit) => {
    const cluster = await startCluster();
    const { clock, service } = await startDrivenReady(cluster, { config });
    const { access_token: token } = await service.signIn('ada');
    await service.list(token);
    const askedAt = clock.monotonic();
    cluster.faults.until({ kind: reviews }, { connection: 'reset' });
    await clock.spend(limitMs - 10_000);
    await clock.advance(askedAt + limitMs - 100 - clock.monotonic());
    const inside = await service.list(token);
    expect([inside.status, await shownAsFailing(service)]).toEqual([200, []]);
    await clock.advance(200);
    const outside = await service.list(token);
    const message = `authorization is not available: the last decision is older than ${limit}`;
    expect([outside.status, outside.body.message]).toEqual([503, message]);
  });

  test('NE-22 without a known answer the list is 503', async () => {
    const cluster = await startCluster();
    const service = await startService(cluster);
    const { access_token: token } = await service.signIn('ada');
    const found = cluster.faults.until({ kind: reviews }, { status: 503 });
    const answer = await service.list(token);
    expect([answer.status, answer.body.message, answer.headers.get('retry-after')]).toEqual([
      503,
      'authorization is not available',
      '5',
    ]);
    found();
    expect((await service.list(token)).status).toBe(200);
  });

  test('a cluster that fails is asked by one probe at a time, and everybody is answered at once', async () => {
    const cluster = await startCluster();
    const { clock, service } = await startDrivenReady(cluster);
    const { access_token: ada } = await service.signIn('ada');
    const { access_token: joe } = await service.signIn('joe');
    await service.list(ada);
    await clock.advance(10_001);
    const repaired = cluster.faults.until({ kind: reviews }, { status: 503 });
    for (let failure = 0; failure < 2; failure++) expect((await service.list(ada)).status).toBe(200);
    cluster.evidence.reset();
    const callAll = (): Promise<Answer[]> =>
      Promise.all(Array.from({ length: 50 }, (_, call) => service.list(call % 2 === 0 ? ada : joe)));
    const expected = Array.from({ length: 50 }, (_, call) => (call % 2 === 0 ? 200 : 503));
    expect((await callAll()).map(({ status }) => status)).toEqual(expected);
    expect(cluster.evidence.count('create', reviews)).toBe(1); // Joe's: what failed for Ada need not fail for him
    await clock.advance(1_600); // the first pause, at its longest
    expect((await callAll()).map(({ status }) => status)).toEqual(expected);
    expect(cluster.evidence.count('create', reviews)).toBe(2);
    expect(await service.metric('gatehouse_authorization_decisions_total{decision="error",source="review"}')).toBe(50);
    repaired();
    await clock.until(
      () => service.list(joe),
      ({ status }) => status === 403,
    );
    expect(service.logged('access reviews are answered again').length).toBe(1);
  });

  test('NE-22 a Retry-After of the cluster is kept to', async () => {
    const cluster = await startCluster();
    const { clock, service } = await startDrivenReady(cluster);
    const { access_token: token } = await service.signIn('ada');
    cluster.faults.next({ kind: reviews }, { status: 429, retryAfterSeconds: 20 });
    expect((await service.list(token)).status).toBe(503);
    await clock.advance(19_000);
    expect((await service.list(token)).status).toBe(503);
    expect(asked(cluster)).toBe(1);
    await clock.advance(1_000);
    expect((await service.list(token)).status).toBe(200);
  });

  test('with AlwaysAllow everybody who signed in may, and nobody is asked', async () => {
    const cluster = await startCluster();
    const service = await startService(cluster, { config: { authorization: { mode: 'AlwaysAllow' } } });
    expect((await service.list((await service.signIn('joe')).access_token)).status).toBe(200);
    expect((await service.list('')).status).toBe(401);
    expect(cluster.evidence.count('create', reviews)).toBe(0);
  });
});
