import { describe, expect, test } from 'vitest';
import { grow, loseMirrors } from '../service/ageing.ts';
import { ODD, startOdd } from './odd-settings.ts';

describe('how old data may be', () => {
  test('nodes.maxStaleness: nodes are refused past it', async () => {
    const { cluster, service, clock } = await startOdd({ config: { nodes: ODD.nodes } });
    const { access_token: token } = await service.signIn('ada');
    await loseMirrors(cluster);
    await grow({ service, clock }, 'nodes', 302_900);
    expect((await service.list(token)).status).toBe(200);
    await clock.advance(200);
    const { status, body } = await service.list(token);
    expect([status, body.message]).toEqual([503, 'nodes are not available: data is older than 5m3s']);
  });

  test('kinds.idle: a kind that nobody asks for is let go after it', async () => {
    const { service, clock } = await startOdd();
    const { access_token: token } = await clock.during(service.signIn('ada'));
    const pods = '/kapis/resources.gatehouse.io/v1alpha3/pods';
    expect((await clock.during(service.call(pods, { token }))).status).toBe(200);
    const held = (): Promise<number> => service.metric('gatehouse_kinds_held{resource="pods",way="whole"}');
    await clock.spend(187_000);
    expect(await held()).toBe(1);
    await clock.spend(12_000);
    expect(await held()).toBe(0);
  });

  test('authorization.maxStaleness: a decision holds no longer while the cluster gives no other', async () => {
    const { cluster, service, clock } = await startOdd({ config: { authorization: ODD.authorization } });
    const { access_token: token } = await service.signIn('ada');
    await service.list(token);
    const askedAt = clock.monotonic();
    cluster.faults.until({ kind: 'subjectaccessreviews' }, { connection: 'reset' });
    await clock.spend(240_000);
    await clock.advance(askedAt + 246_900 - clock.monotonic());
    expect((await service.list(token)).status).toBe(200);
    await clock.advance(200);
    const { status, body } = await service.list(token);
    const message = 'authorization is not available: the last decision is older than 4m7s';
    expect([status, body.message]).toEqual([503, message]);
  });
});
