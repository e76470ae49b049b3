import { describe, expect, test } from 'vitest';
import type { SimulatedCluster } from '../../../dev/cluster/cluster.ts';
import { tellMeasured } from '../../support/measured.ts';
import { CLIENT, CONFIDENTIAL, type Pair, type Service, startCluster, startService } from './stand.ts';

const INVALID_GRANT = { error: 'invalid_grant', error_description: 'the refresh token is not valid' };

const startWith = (cluster: SimulatedCluster, store: string): Promise<Service> =>
  startService(cluster, { config: { authentication: CONFIDENTIAL, sessions: { store } } });

/** The same configuration on the same cluster, in a new process as far as its memory is concerned. */
async function restarted(service: Service, cluster: SimulatedCluster, store: string): Promise<Service> {
  await service.gatehouse.stop();
  return startWith(cluster, store);
}

describe('a restart with sessions in the cluster', () => {
  const STORE = 'kubernetes';

  test('T-18 N-48 keeps a sign-out: the access token is 401 and the refresh token 400', async () => {
    const cluster = await startCluster();
    const before = await startWith(cluster, STORE);
    const pair = await before.signIn('ada');
    await before.call('/oauth/logout', { token: pair.access_token });
    const after = await restarted(before, cluster, STORE);
    expect((await after.list(pair.access_token)).status).toBe(401);
    const refused = await after.refresh(pair.refresh_token);
    expect([refused.status, refused.body]).toEqual([400, INVALID_GRANT]);
  });

  test('T-18 signs nobody out: sessions that were refreshed and others go on', async () => {
    const cluster = await startCluster();
    const before = await startWith(cluster, STORE);
    const first = await before.signIn('ada');
    const second = (await before.refresh((await before.signIn('ada')).refresh_token)).body;
    const after = await restarted(before, cluster, STORE);
    for (const pair of [first, second]) {
      expect((await after.list(pair.access_token)).status).toBe(200);
      expect((await after.refresh(pair.refresh_token)).status).toBe(200);
    }
  });
});

/** Some of whom refresh before the restart, some after it. */
const SESSIONS = 60;

describe('C-41 a restart right after a sign-out, with sessions in the cluster', () => {
  test('C-41 revives no session that was ended, and ends no other', async () => {
    const cluster = await startCluster();
    const before = await startWith(cluster, 'kubernetes');
    const ended = await before.signIn('ada');
    const others: Pair[] = [];
    for (let nth = 0; nth < SESSIONS; nth++) {
      const pair = await before.signIn(nth % 2 ? 'ada' : 'joe');
      others.push(nth % 3 ? pair : (await before.refresh(pair.refresh_token)).body);
    }
    await before.call('/oauth/logout', { token: ended.access_token });
    const began = performance.now();
    const after = await restarted(before, cluster, 'kubernetes');
    expect((await after.list(ended.access_token)).status).toBe(401);
    tellMeasured('C-41', performance.now() - began, 'from the end of the process until the next one refused the token');
    expect((await after.refresh(ended.refresh_token)).status).toBe(400);
    const answers = await Promise.all(others.map(({ refresh_token }) => after.refresh(refresh_token)));
    expect(answers.map(({ status }) => status)).toEqual(others.map(() => 200));
  });
});

describe('a restart with sessions in memory', () => {
  const STORE = 'memory';

  test('T-18 forgets sign-outs, so no session from before it is refreshed', async () => {
    const cluster = await startCluster();
    const before = await startWith(cluster, STORE);
    const ended = await before.signIn('ada');
    const other = await before.signIn('ada');
    await before.call('/oauth/logout', { token: ended.access_token });
    const after = await restarted(before, cluster, STORE);
    for (const pair of [ended, other]) {
      const refused = await after.refresh(pair.refresh_token);
      expect([refused.status, refused.body]).toEqual([400, INVALID_GRANT]);
    }
    const [line] = after.gatehouse.log.filter(({ event }) => event === 'refresh');
    expect(line).toMatchObject({ result: 'refused', reason: 'begun_elsewhere', user: 'ada' });
  });

  test('T-18 lets access tokens from before it live until they expire', async () => {
    const cluster = await startCluster();
    const before = await startWith(cluster, STORE);
    const { access_token: token } = await before.signIn('ada');
    const after = await restarted(before, cluster, STORE);
    expect((await after.list(token)).status).toBe(200);
  });

  test('T-18 can end such a session all the same', async () => {
    const cluster = await startCluster();
    const before = await startWith(cluster, STORE);
    const { access_token: token } = await before.signIn('ada');
    const after = await restarted(before, cluster, STORE);
    await after.call('/oauth/logout', { token });
    expect((await after.list(token)).status).toBe(401);
  });

  test('T-18 calls no refresh token from before it active', async () => {
    const cluster = await startCluster();
    const before = await startWith(cluster, STORE);
    const { refresh_token: token } = await before.signIn('ada');
    const after = await restarted(before, cluster, STORE);
    const form = { ...CLIENT, token };
    expect((await after.call('/oauth/introspect', { form })).body).toEqual({ active: false });
  });

  test('T-18 refreshes the sessions that began after it', async () => {
    const cluster = await startCluster();
    const after = await restarted(await startWith(cluster, STORE), cluster, STORE);
    const second = (await after.refresh((await after.signIn('ada')).refresh_token)).body;
    expect((await after.refresh(second.refresh_token)).status).toBe(200);
  });
});

describe('a restart that moves sessions from memory into the cluster', () => {
  test('T-18 refreshes none that began in memory, since their ends were not written', async () => {
    const cluster = await startCluster();
    const before = await startWith(cluster, 'memory');
    const pair = await before.signIn('ada');
    await before.call('/oauth/logout', { token: pair.access_token });
    const after = await restarted(before, cluster, 'kubernetes');
    expect((await after.refresh(pair.refresh_token)).body).toEqual(INVALID_GRANT);
    expect((await after.refresh((await after.signIn('ada')).refresh_token)).status).toBe(200);
  });
});
