import { pino } from 'pino';
import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { createTokenMetrics } from '../../../../src/oauth/metrics.ts';
import { type Client, DEVICE_GRANT, type OAuthOptions } from '../../../../src/oauth/options.ts';
import { createMemorySessions } from '../../../../src/oauth/sessions/memory-sessions.ts';
import { createSessionEnds } from '../../../../src/oauth/sessions/session-ends.ts';
import { systemRandom } from '../../../../src/runtime/random.ts';
import type { User } from '../../../../src/users/user.ts';
import { countedBy } from '../../../support/counted.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import {
  newTestServer,
  ORIGIN,
  refresh,
  refusalOf,
  signInAlice,
  type TestServer,
  testOptions,
} from '../test-server.ts';

const SECOND = 1000;

const isGood = (test: TestServer, token: string): boolean => 'identity' in test.verifier.verify(token);

const logOut = ({ server }: TestServer, accessToken: string) =>
  server.logout({ ...ORIGIN, method: 'GET', queryString: '', authorization: `Bearer ${accessToken}` });

/** Any change of a user's record drops what has expired of it. */
const changeRecord = async (test: TestServer): Promise<void> => {
  await refresh(test, (await signInAlice(test)).refresh_token);
};

/** The ends of alice's sessions in memory, each counted by its scope and told as an event. */
function startEnds(change: Partial<OAuthOptions> = {}) {
  const [clock, registry, events] = [new FakeClock(), new Registry(), [] as unknown[]];
  const sessions = createMemorySessions({ clock, random: systemRandom });
  const ends = createSessionEnds(
    { ...testOptions, ...change },
    {
      ...{ sessions, clock, logger: pino({ enabled: false }), metrics: createTokenMetrics(registry) },
      events: { report: (event, fields) => void events.push([event, fields['reason']]) },
    },
  );
  const counted = (): Promise<unknown> => countedBy(registry, 'gatehouse_token_revocations_total', 'scope');
  const now = (): number => clock.now() / SECOND;
  return { clock, sessions, ends, events, counted, now };
}

describe('an end', () => {
  test('of one session counts once, however often it is asked for', async () => {
    const { clock, sessions, ends, counted, now } = startEnds();
    await ends.session('alice', 'a');
    await clock.advance(SECOND);
    await ends.session('alice', 'a');
    expect([await counted(), sessions.read('alice').dead.get('a')?.endedAt]).toEqual([{ session: 1 }, now() - 1]);
  });

  test('of all sessions counts once a second, unless it spares another session than before', async () => {
    const { clock, ends, counted, now } = startEnds();
    const seen: unknown[] = [];
    for (const spared of ['a', 'a', 'b', undefined, undefined]) {
      await (spared ? ends.others('alice', spared, now()) : ends.user('alice', now()));
      seen.push(await counted());
    }
    await clock.advance(SECOND);
    await ends.user('alice', now());
    expect([...seen, await counted()]).toEqual([1, 1, 2, 3, 3, 4].map((user) => ({ user })));
  });

  test('of all sessions takes in a token of a replica whose clock is ahead, and remembers it for as long', async () => {
    const { sessions, ends, now } = startEnds();
    await ends.user('alice', now() + 9);
    expect(sessions.read('alice')).toMatchObject({ cutOff: now() + 9, cutOffKeepUntil: now() + 9 + 14_410 + 20 });
    await ends.user('alice', now());
    expect(sessions.read('alice').cutOff).toBe(now() + 9);
  });

  test.each<[string, Partial<Client>]>([
    ['sign in by browser', { redirectURIs: ['https://app.example.com/'] }],
    ['allow devices', { grantTypes: [DEVICE_GRANT] }],
  ])('B-28 is remembered for as long as a browser may be signed in, if people %s', async (_, more) => {
    const of = { public: true, grantTypes: [], redirectURIs: [], postLogoutRedirectURIs: [] };
    const { sessions, ends, now } = startEnds({ clients: [{ name: 'one', ...of, ...more }] });
    await ends.session('alice', 'a');
    expect(sessions.read('alice').dead.get('a')?.keepUntil).toBe(now() + 12 * 3600 + 20);
  });

  test('B-28 is remembered as long where people sign in for the page alone', async () => {
    const { sessions, ends, now } = startEnds({ clients: [], hasPage: true });
    await ends.session('alice', 'a');
    expect(sessions.read('alice').dead.get('a')?.keepUntil).toBe(now() + 12 * 3600 + 20);
  });

  test('for a change of the user is made, counted and told once by all who see the same change', async () => {
    const { clock, sessions, ends, events, counted, now } = startEnds();
    await ends.changed('alice', 'disabled');
    await clock.advance(SECOND);
    await ends.changed('alice', 'disabled');
    expect(sessions.read('alice').cutOff).toBe(now() - 1);
    expect([await counted(), events]).toEqual([{ user: 1 }, [['user_sessions_ended', 'changed']]]);
    await ends.changed('alice', 'enabled');
    expect([await counted(), events.length]).toEqual([{ user: 2 }, 2]);
  });
});

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
    const told = test.lines.filter(({ msg }) => msg === 'a session that must end cannot be ended yet');
    expect(told).toMatchObject([{ user: 'alice', sid: expect.any(String), err: { message: 'the cluster is away' } }]);
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
