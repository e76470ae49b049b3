import { describe, expect, test } from 'vitest';
import {
  CLIENT,
  CONFIDENTIAL,
  eventually,
  passwordOf,
  type Service,
  startCluster,
  startService,
  usersFile,
} from './stand.ts';

const KEY = 'default/gatehouse-signing-keys';
const kidsOf = async (service: Service): Promise<string[]> =>
  (await service.call('/oauth/keys')).body.keys.map(({ kid }: { kid: string }) => kid);

describe('replicas on one cluster', () => {
  test('R-05 that start together agree on one signing key, and each takes the other’s tokens', async () => {
    const cluster = await startCluster({ isNew: true });
    const replicas = await Promise.all([startService(cluster), startService(cluster), startService(cluster)]);
    const kids = await Promise.all(replicas.map(kidsOf));
    expect(kids[0]).toHaveLength(1);
    expect(new Set(kids.flat()).size).toBe(1);
    for (const issuer of replicas) {
      const { access_token: token } = await issuer.signIn('ada');
      for (const verifier of replicas) expect((await verifier.list(token)).status).toBe(200);
    }
  });

  test('a later one takes the key that is there and writes nothing', async () => {
    const cluster = await startCluster({ isNew: true });
    const first = await startService(cluster);
    const { access_token: token } = await first.signIn('ada');
    const stored = cluster.objects.get('secrets', KEY);
    const second = await startService(cluster);
    expect(cluster.objects.get('secrets', KEY)).toEqual(stored);
    expect((await second.list(token)).status).toBe(200);
  });

  test('versions of the list of two replicas have nothing in common', async () => {
    const cluster = await startCluster();
    const [one, two] = await Promise.all([startService(cluster), startService(cluster)]);
    const { access_token: token } = await one.signIn('ada');
    const tags = [await one.list(token), await two.list(token)].map(({ headers }) => headers.get('etag'));
    expect(tags[0]).not.toBe(tags[1]);
  });

  test('C-39 a deleted key Secret leaves the last good key in use, and is not made anew', async () => {
    const cluster = await startCluster();
    const service = await startService(cluster);
    const { access_token: token } = await service.signIn('ada');
    cluster.objects.remove('secrets', KEY);
    await expect
      .poll(() => service.gatehouse.log.filter(({ event }) => event === 'signing_keys_missing').length)
      .toBe(1);
    expect((await service.list(token)).status).toBe(200);
    expect((await service.signIn('ada')).access_token).not.toBe('');
    expect(await service.readiness()).toBe(200);
    expect(cluster.objects.get('secrets', KEY)).toBeUndefined();
  });
});

/** Two replicas that share their session records. */
async function startSharing(config: Record<string, unknown> = {}) {
  const cluster = await startCluster();
  const change = { config: { ...config, sessions: { store: 'kubernetes' } } };
  const one = await startService(cluster, change);
  return { cluster, one, two: await startService(cluster, change), change };
}

const records = ({ cluster }: Pick<Awaited<ReturnType<typeof startSharing>>, 'cluster'>) =>
  cluster.objects.list('secrets').filter(({ metadata }) => metadata.name.startsWith('gatehouse-sessions-'));

const listed = async (service: Service, token: string): Promise<number> => (await service.list(token)).status;

describe('replicas that share their sessions', () => {
  test('R-17 write nothing for a sign-in, and one record for a refresh', async () => {
    const shared = await startSharing();
    const pair = await shared.one.signIn('ada');
    expect(records(shared)).toEqual([]);
    shared.cluster.evidence.reset();
    expect((await shared.two.refresh(pair.refresh_token)).status).toBe(200);
    expect(records(shared)).toHaveLength(1);
    const { evidence } = shared.cluster;
    expect([evidence.count('create', 'secrets'), evidence.count('update', 'secrets')]).toEqual([1, 0]);
  });

  test('R-06 give one successor for a token that comes to all of them at once', async () => {
    const { one, two } = await startSharing();
    const { refresh_token: token } = await one.signIn('ada');
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => [one, two][index % 2]?.refresh(token)));
    expect(new Set(answers.map((answer) => `${answer?.status} ${answer?.body.refresh_token}`)).size).toBe(1);
  });

  test('T-13 replay at one what the other has made', async () => {
    const { one, two } = await startSharing();
    const { refresh_token: token } = await one.signIn('ada');
    const first = await one.refresh(token);
    expect((await two.refresh(token)).body.refresh_token).toBe(first.body.refresh_token);
  });

  test('N-48 end a session everywhere, wherever it was ended', async () => {
    const { one, two } = await startSharing();
    const ended = await one.signIn('ada');
    const other = await two.signIn('ada');
    expect(await listed(two, ended.access_token)).toBe(200);
    await one.call('/oauth/logout', { token: ended.access_token });
    await eventually(
      () => listed(two, ended.access_token),
      (status) => status === 401,
    );
    expect((await two.refresh(ended.refresh_token)).status).toBe(400);
    expect(await listed(two, other.access_token)).toBe(200);
    await two.call('/oauth/logout?all=true', { token: other.access_token });
    await eventually(
      () => listed(one, other.access_token),
      (status) => status === 401,
    );
  });

  test('keep every session, and every end of one, through a restart of all', async () => {
    const shared = await startSharing();
    const kept = await shared.one.signIn('ada');
    const ended = await shared.one.signIn('ada');
    const rotated = (await shared.one.refresh(kept.refresh_token)).body;
    await shared.two.call('/oauth/logout', { token: ended.access_token });
    await shared.one.gatehouse.stop();
    await shared.two.gatehouse.stop();
    const again = await startService(shared.cluster, shared.change);
    expect(await listed(again, kept.access_token)).toBe(200);
    expect(await listed(again, ended.access_token)).toBe(401);
    expect((await again.refresh(ended.refresh_token)).status).toBe(400);
    expect((await again.refresh(kept.refresh_token)).body.refresh_token).toBe(rotated.refresh_token);
  });

  test('a user’s new password ends the sessions from before it, and none that began since', async () => {
    const { one, two } = await startSharing();
    const before = await one.signIn('ada');
    await one.refresh(before.refresh_token);
    const changed = await usersFile({ ada: 'another-canary-password' });
    one.gatehouse.writeUsers(changed);
    await eventually(
      () => listed(one, before.access_token),
      (status) => status === 401,
    );
    const since = await one.signIn('ada', 'another-canary-password');
    two.gatehouse.writeUsers(changed);
    await eventually(
      () => listed(two, since.access_token),
      (status) => status === 200,
    );
    expect(await listed(two, before.access_token)).toBe(401);
    expect(await listed(one, since.access_token)).toBe(200);
  });

  test('N-24 T-12 a record that cannot be written is 503, and the token stays good', async () => {
    const { cluster, one, two } = await startSharing();
    const { refresh_token: token, access_token: access } = await one.signIn('ada');
    const heal = cluster.faults.until({ verb: 'create', kind: 'secrets' }, { status: 500 });
    const refused = await one.refresh(token);
    expect([refused.status, refused.body.error, refused.headers.get('retry-after')]).toEqual([
      503,
      'server_error',
      '1',
    ]);
    expect((await one.call('/oauth/logout', { token: access })).status).toBe(503);
    heal();
    expect((await two.refresh(token)).status).toBe(200);
  });

  test('a record that cannot be read is 503 for its user, and for nobody else', async () => {
    const shared = await startSharing({ authentication: CONFIDENTIAL });
    const pair = await shared.one.signIn('ada');
    const joe = await shared.one.signIn('joe');
    await shared.one.refresh(pair.refresh_token);
    const name = records(shared)[0]?.metadata.name;
    shared.cluster.objects.patch('secrets', `default/${name}`, { data: { 'record.json': 'YQ==' } });
    await eventually(
      () => listed(shared.one, pair.access_token),
      (status) => status === 503,
    );
    const refused = await shared.one.refresh(pair.refresh_token);
    expect([refused.status, refused.body.error]).toEqual([503, 'server_error']);
    const { refresh_token: token } = pair;
    for (const path of ['/oauth/introspect', '/oauth/revoke']) {
      const answer = await shared.one.call(path, { form: { ...CLIENT, token } });
      expect([path, answer.status, answer.body.error]).toEqual([path, 503, 'server_error']);
    }
    expect((await shared.one.call('/oauth/userinfo', { token: pair.access_token })).status).toBe(503);
    expect(await listed(shared.one, joe.access_token)).toBe(403);
  });

  test('are not ready before the records are known', async () => {
    const cluster = await startCluster();
    cluster.faults.until({ verb: 'list', kind: 'secrets' }, { status: 403 });
    cluster.faults.until(
      { verb: 'watch', kind: 'secrets', when: ({ query }) => query.has('labelSelector') },
      { status: 403 },
    );
    const service = await startService(cluster, {
      config: { sessions: { store: 'kubernetes' } },
      untilReady: false,
    });
    await eventually(
      () => service.call('/readyz'),
      ({ body }) =>
        body.details?.causes.map(({ field }: { field: string }) => field).join() ===
        'sessions-synced,device-codes-synced',
    );
    const refused = await service.signInAnswer('ada', passwordOf('ada'));
    expect([refused.status, refused.body.error]).toEqual([503, 'server_error']);
  });
});
