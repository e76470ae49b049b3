import { describe, expect, test } from 'vitest';
import type { RequestMatch } from '../../../dev/cluster/faults.ts';
import type { ApiRequest } from '../../../dev/cluster/request.ts';
import { Watcher } from '../../support/watcher.ts';
import { grow, loseMirrors, told, unavailable } from './ageing.ts';
import { startDrivenReady } from './driven.ts';
import { NODES, type Service, shownAsFailing, startCluster } from './stand.ts';

const STALE = unavailable('nodes are not available: data is older than 12m0s', 30);

/** A watch or a read of this one Secret. */
const isOf =
  (secret: string) =>
  ({ query, target }: ApiRequest): boolean =>
    target?.name === secret || query.get('fieldSelector') === `metadata.name=${secret}`;

async function expectReadyAlthough(service: Service, checks: readonly string[]): Promise<void> {
  expect([await service.readiness(), await shownAsFailing(service)]).toEqual([200, checks]);
  for (const check of checks) {
    expect((await service.call(`/readyz/${check}`)).status).toBe(503);
    expect(await service.metric(`gatehouse_readiness_check{check="${check}"}`)).toBe(0);
    const lines = service.logged('a health check fails').filter((line) => line['check'] === check);
    expect(lines.filter(({ level }) => level === 'warn').length).toBe(1);
  }
}

describe('when the cluster stops telling', () => {
  test('NE-21 nodes are served until they are 12 min old, then refused, then served again, by a replica that stays ready', async () => {
    const cluster = await startCluster();
    const { service, clock } = await startDrivenReady(cluster);
    const { access_token: token } = await service.signIn('ada');
    expect(told(await service.list(token))).toEqual([200, null, null]);
    const found = await loseMirrors(cluster);
    await grow({ service, clock }, 'nodes', 719_900);
    expect(told(await service.list(token))).toEqual([200, '719', '110 - "Response is Stale"']);
    expect(await shownAsFailing(service)).toEqual([]);
    await clock.advance(200);
    const answer = await service.list(token);
    expect([answer.status, answer.body]).toEqual([503, STALE]);
    expect(answer.headers.get('retry-after')).toBe('30');
    await expectReadyAlthough(service, ['nodes-fresh', 'pods-fresh']);
    expect((await service.call('/livez')).status).toBe(200);
    found();
    const again = await clock.until(
      () => service.list(token),
      ({ status: code }) => code === 200,
    );
    expect([again.body.totalItems, await service.readiness()]).toEqual([3, 200]);
  });

  test('nodes without a limit are served after two hours and more, with their age', async () => {
    const cluster = await startCluster();
    const config = { nodes: { maxStaleness: 'none' } };
    const { service, clock } = await startDrivenReady(cluster, { config });
    const { access_token: token } = await service.signIn('ada');
    await loseMirrors(cluster);
    await grow({ service, clock }, 'nodes', 7_500_000);
    // The token is over by then, the nodes are not.
    await clock.until(
      () => service.list(token),
      ({ status }) => status === 401,
    );
    const answer = await service.list((await service.signIn('ada')).access_token);
    expect([answer.status, Number(answer.headers.get('age'))]).toEqual([200, expect.toSatisfy((s) => s >= 7_500)]);
    expect(await shownAsFailing(service)).toEqual([]);
  });

  test('C-38 tokens are judged until keys are 10 min old, then refused, while nodes are current', async () => {
    const cluster = await startCluster();
    const { service, clock } = await startDrivenReady(cluster);
    const { access_token: token } = await service.signIn('ada');
    const found = cluster.faults.until({ kind: 'secrets' }, { status: 503 });
    await cluster.restart();
    await grow({ service, clock }, 'signing-keys', 599_900);
    expect((await service.list(token)).status).toBe(200);
    await clock.advance(200);
    const old = 'signing keys are not available: data is older than 10m0s';
    const answer = await service.list(token);
    expect([answer.status, answer.body, answer.headers.get('retry-after')]).toEqual([503, unavailable(old, 30), '30']);
    const signIn = await service.signInAnswer('ada', 'ada-canary-password');
    expect([signIn.status, signIn.text]).toEqual([503, `{"error":"server_error","error_description":"${old}"}`]);
    expect(signIn.headers.get('retry-after')).toBe('30');
    await expectReadyAlthough(service, ['revocations-fresh']);
    expect([(await service.call('/oauth/keys')).status, (await service.call('/readyz/signing-key')).status]).toEqual([
      200, 200,
    ]);
    found();
    await clock.until(
      () => service.list(token),
      ({ status: code }) => code === 200,
    );
    expect(await shownAsFailing(service)).toEqual([]);
  });

  test.each<[string, string, RequestMatch]>([
    ['signing keys', 'signing-keys', { when: isOf('gatehouse-signing-keys') }],
    ['users', 'first-administrator', { when: isOf('gatehouse-first-administrator') }],
    ['sessions', 'sessions', { when: ({ query }) => query.get('labelSelector')?.includes('sessions') ?? false }],
  ])('C-38 %s alone are judged by for as long as is set', async (data, resource, match) => {
    const cluster = await startCluster();
    const config = {
      sessions: { store: 'kubernetes' },
      users: { firstAdministrator: {} },
      authorization: { maxStaleness: '4m' },
    };
    const { service, clock } = await startDrivenReady(cluster, { config });
    const { access_token: token } = await service.signIn('ada');
    cluster.faults.until({ kind: 'secrets', ...match }, { status: 503 });
    await cluster.restart();
    await grow({ service, clock }, resource, 239_900);
    expect((await service.list(token)).status).toBe(200);
    await clock.advance(200);
    const old = `${data} are not available: data is older than 4m0s`;
    expect((await service.list(token)).body).toEqual(unavailable(old, 30));
    await expectReadyAlthough(
      service,
      resource === 'sessions' ? ['sessions-fresh', 'revocations-fresh'] : ['revocations-fresh'],
    );
  });

  test('I6 an open watch goes on for as long as is set after the last decision', async () => {
    const cluster = await startCluster();
    const { service, clock } = await startDrivenReady(cluster, { config: { authorization: { maxStaleness: '4m' } } });
    const { access_token: token } = await service.signIn('ada');
    // A refusal would wait by the clock.
    const watcher = await clock.during(
      Watcher.open(`${service.gatehouse.origin}${NODES}?watch=true`, { authorization: `Bearer ${token}` }),
    );
    expect(watcher.status).toBe(200);
    const openedAt = clock.monotonic();
    cluster.faults.until({ kind: 'subjectaccessreviews' }, { connection: 'reset' });
    await clock.spend(235_000);
    expect(watcher.ending).toBeUndefined();
    const ending = await clock.until(
      () => watcher.ending,
      (found) => found !== undefined,
    );
    expect([ending, watcher.text.slice(-500)]).toEqual(['complete', expect.stringContaining('ERROR')]);
    // It is looked at each 30 s.
    expect(clock.monotonic() - openedAt).toBeLessThanOrEqual(275_000);
    expect(watcher.events.at(-1)).toMatchObject({ type: 'ERROR', object: { code: 503 } });
  });

  test('the age of all that is followed is measured, and logged once beyond 120 s', async () => {
    const cluster = await startCluster();
    const config = { sessions: { store: 'kubernetes' }, users: { firstAdministrator: {} } };
    const { service, clock } = await startDrivenReady(cluster, { config });
    const end = cluster.faults.until({}, { status: 503 });
    await cluster.restart();
    const all = ['nodes', 'namespaces', 'pods', 'sessions', 'signing-keys', 'first-administrator'];
    for (const resource of all) await grow({ service, clock }, resource, 135_000);
    const line = ({ msg, event }: Record<string, unknown>): boolean =>
      event === 'revocation_data_stale' || msg === 'data is old: the cluster cannot be followed';
    expect(
      service.gatehouse.log
        .filter(line)
        .map(({ data }) => String(data))
        .sort(),
    ).toEqual([...all].sort());
    end();
    await clock.until(
      () => service.logged('data is current again').map(({ data }) => data),
      (data) => all.every((one) => data.includes(one)),
    );
    expect(service.gatehouse.log.filter(line).length).toBe(all.length);
  });
});
