import { describe, expect, test } from 'vitest';
import type { User } from '../../../src/users/user.ts';
import { newTestServer, ORIGIN, refresh, refusalOf, signInAlice, type TestServer } from './test-server.ts';

const SECOND = 1000;

const isGood = (test: TestServer, token: string): boolean => 'identity' in test.verifier.verify(token);

const logOut = ({ server }: TestServer, accessToken: string) =>
  server.logout({ ...ORIGIN, method: 'GET', queryString: '', authorization: `Bearer ${accessToken}` });

/** Any change of a user's record drops what has expired of it. */
const changeRecord = async (test: TestServer): Promise<void> => {
  await refresh(test, (await signInAlice(test)).refresh_token);
};

describe('the end of a session', () => {
  test('stands each time a user is gone, although nobody tells of the namesake in between', async () => {
    const test = await newTestServer();
    const alice = test.users.get('alice') as User;
    for (const attempt of ['first', 'second', 'third']) {
      const { access_token } = await signInAlice(test);
      test.users.delete('alice');
      test.changed('alice');
      await test.clock.advance(2 * SECOND);
      test.users.set('alice', alice);
      expect([attempt, isGood(test, access_token)]).toEqual([attempt, false]);
    }
  });

  test('R-22 is told once for a user who changed or is gone, and not beside the act that asked for it', async () => {
    const test = await newTestServer();
    const alice = test.users.get('alice') as User;
    await logOut(test, (await signInAlice(test)).access_token);
    for (const state of ['Disabled', undefined] as const) {
      if (state) test.users.set('alice', { ...alice, state });
      else test.users.delete('alice');
      test.changed('alice');
      await test.clock.advance(SECOND);
    }
    expect(test.lines.map(({ event, user, reason }) => [event, user, reason])).toEqual([
      ['sign_in', 'alice', undefined],
      ['sign_out', 'alice', undefined],
      ['user_sessions_ended', 'alice', 'changed'],
      ['user_sessions_ended', 'alice', 'gone'],
    ]);
  });

  test('T-14 is tried by one timer, and written once, however often the refresh token comes again', async () => {
    const test = await newTestServer();
    const first = await signInAlice(test);
    const third = await refresh(test, (await refresh(test, first.refresh_token)).refresh_token);
    const { writes } = test.sessions;
    test.sessions.writeFault = new Error('the cluster is away');
    const reuse = () => refusalOf(() => refresh(test, first.refresh_token));
    await Promise.all(Array.from({ length: 20 }, reuse));
    expect(test.clock.pendingTimers).toBe(1);
    test.sessions.writeFault = undefined;
    await Promise.all(Array.from({ length: 20 }, reuse));
    await test.clock.advance(5 * SECOND);
    expect([test.clock.pendingTimers, test.sessions.writes - writes, isGood(test, third.access_token)]).toEqual([
      0,
      1,
      false,
    ]);
  });

  test('T-17 outlives tokens that were issued under longer lifetimes than today’s', async () => {
    const before = await newTestServer({ accessTokenInactivityTimeoutSeconds: 20 * 3600 });
    const issued = await signInAlice(before);
    const now = await newTestServer();
    await logOut(now, issued.access_token);
    await now.clock.advance((14_400 + 60) * SECOND);
    await changeRecord(now);
    expect(await refusalOf(() => refresh(now, issued.refresh_token))).toMatchObject({ code: 'invalid_grant' });
  });

  test('T-17 N-37 outlives tokens of a replica whose clock is ahead by the skew', async () => {
    const ahead = await newTestServer();
    await ahead.clock.advance(10 * SECOND);
    const issued = await signInAlice(ahead);
    const behind = await newTestServer();
    await logOut(behind, issued.access_token);
    await behind.clock.advance((14_400 + 19) * SECOND);
    await changeRecord(behind);
    expect(await refusalOf(() => refresh(behind, issued.refresh_token))).toMatchObject({ code: 'invalid_grant' });
  });
});
