import { describe, expect, test } from 'vitest';
import type { OAuthOptions } from '../../../../src/oauth/options.ts';
import type { User } from '../../../../src/users/user.ts';
import { partsOf, refresh, refusalOf, type TestServer } from '../test-server.ts';
import { authorize, CALLBACK, newBrowserServer, newCode, post, redeem, returned } from './sign-in-flow.ts';

const HOUR_MS = 3_600_000;

/** A person who has signed in for the client `web`: the cookie, and the parameters with which the browser went back. */
async function signedIn(test: TestServer, form: Record<string, string> = {}) {
  const answer = await post(test, await authorize(test), form);
  return { session: answer.session ?? '', to: returned(answer) };
}

const start = async (change: Partial<OAuthOptions> = {}) => {
  const server = await newBrowserServer(change);
  return { server, ...(await signedIn(server)) };
};

const change = (server: TestServer, now: Partial<User>): void => {
  server.users.set('alice', { ...(server.users.get('alice') as User), ...now });
};

const sidOf = (token: string) => partsOf(token)[1]['sid'] as string;

const PAGE = { kind: 'sign-in', username: 'alice' };

describe('the session of a browser', () => {
  test('B-27 signs the person in for another client without a password', async () => {
    const { server, session } = await start();
    const answer = await authorize(server, { client_id: 'rival', state: 'state of rival' }, session);
    const { code = '', state } = returned(answer);
    expect(state).toBe('state of rival');
    expect(answer.session).toMatch(/^[\w-]+\.\.[\w-]+\.[\w-]+\.[\w-]+$/);
    const tokens = await redeem(server, code, { client_id: 'rival' });
    expect(partsOf(tokens.access_token)[1]).toMatchObject({ sub: 'alice', client_id: 'rival' });
  });

  test('B-27 answers a silent request with a code, too', async () => {
    const { server, session } = await start();
    expect(returned(await authorize(server, { prompt: 'none' }, session))).toHaveProperty('code');
  });

  test('B-27 keeps the time of the password, which the ID token tells', async () => {
    const { server, session, to } = await start();
    const first = await redeem(server, to['code'] ?? '');
    await server.clock.advance(100_000);
    const second = await redeem(server, returned(await authorize(server, {}, session))['code'] ?? '');
    const authTime = (token = '') => partsOf(token)[1]['auth_time'];
    expect(authTime(second.id_token)).toBe(authTime(first.id_token));
  });

  test('B-27 is not accepted when it was changed, or is of another kind', async () => {
    const { server, session, to } = await start();
    const changed = `${session.slice(0, -4)}AAAA`;
    for (const cookie of [changed, to['code'], 'garbage', ''])
      expect(await authorize(server, {}, cookie)).toMatchObject({ kind: 'sign-in', username: '' });
  });

  test('B-27 has another id after each password', async () => {
    const { server, session, to } = await start();
    const again = await post(server, await authorize(server, { prompt: 'login' }, session), { session });
    const [first, second] = [to['code'], returned(again)['code']];
    const sids = [];
    for (const code of [first, second]) sids.push(sidOf((await redeem(server, code ?? '')).access_token).split('~')[0]);
    expect(new Set(sids).size).toBe(2);
  });

  test('B-11 B-12 B-13 lets a client ask for the password, for an account, or name a person', async () => {
    const { server, session } = await start();
    await server.clock.advance(60_000);
    const asked = async (change: Record<string, string>) => {
      const answer = await authorize(server, change, session);
      return answer.kind === 'sign-in' ? [answer.username, answer.signedIn] : answer.kind;
    };
    expect(await asked({ prompt: 'login' })).toEqual(['alice', 'alice']);
    expect(await asked({ prompt: 'select_account' })).toEqual(['', 'alice']);
    expect(await asked({ max_age: '59' })).toEqual(['alice', 'alice']);
    expect(await asked({ max_age: '0' })).toEqual(['alice', 'alice']);
    expect(await asked({ max_age: '60' })).toBe('redirect');
    expect(await asked({ login_hint: 'bob' })).toEqual(['bob', 'alice']);
    expect(await asked({ login_hint: 'Alice@Example.com' })).toBe('redirect');
    expect(await asked({ id_token_hint: 'garbage' })).toEqual(['alice', 'alice']);
  });

  test.each([{ login_hint: 'bob' }, { max_age: '0' }, { id_token_hint: 'garbage' }])(
    'B-11 B-13 is login_required for a silent request when the password would be asked for: %j',
    async (hint) => {
      const { server, session } = await start();
      await server.clock.advance(1000);
      expect(returned(await authorize(server, { prompt: 'none', ...(hint as object) }, session))).toMatchObject({
        error: 'login_required',
      });
    },
  );

  test('B-13 knows the person of an ID token that has expired', async () => {
    const { server, session, to } = await start({ browserSessionIdleSeconds: 10 * 3600 });
    const { id_token: hint = '' } = await redeem(server, to['code'] ?? '');
    await server.clock.advance(3 * HOUR_MS);
    expect(returned(await authorize(server, { prompt: 'none', id_token_hint: hint }, session))).toHaveProperty('code');
    expect(await authorize(server, { id_token_hint: hint })).toMatchObject(PAGE);
  });

  test('B-13 tells the client when another person has signed in than its ID token names', async () => {
    const { server, session, to } = await start();
    const { id_token: hint = '' } = await redeem(server, to['code'] ?? '');
    server.users.set('bob', { ...(server.users.get('alice') as User), name: 'bob', uid: 'uid-of-bob' });
    const page = await authorize(server, { id_token_hint: hint, prompt: 'login' }, session);
    const answer = await post(server, page, { username: 'bob', session });
    expect(returned(answer)).toMatchObject({ error: 'login_required', state: 'state of web' });
    expect(returned(await authorize(server, { prompt: 'none', login_hint: 'bob' }, answer.session))).toHaveProperty(
      'code',
    );
  });

  test('B-28 ends twelve hours after the password, and two hours after the last request', async () => {
    const { server, session } = await start();
    let cookie = session;
    for (let hours = 1.5; hours < 12; hours += 1.5) {
      await server.clock.advance(1.5 * HOUR_MS);
      const answer = await authorize(server, {}, cookie);
      expect(returned(answer)).toHaveProperty('code');
      cookie = answer.session ?? '';
    }
    await server.clock.advance(1.5 * HOUR_MS);
    expect(await authorize(server, {}, cookie)).toMatchObject({ kind: 'sign-in' });
  });

  test('B-28 ends when no client has used it for two hours', async () => {
    const { server, session } = await start();
    await server.clock.advance(2 * HOUR_MS);
    expect(await authorize(server, {}, session)).toMatchObject({ kind: 'sign-in', username: '' });
  });

  test.each<[string, (server: TestServer) => unknown]>([
    ['another password', (server) => change(server, { passwordHash: `$2b$10$${'b'.repeat(53)}` })],
    ['a disabled user', (server) => change(server, { state: 'Disabled' })],
    ['another user of the same name', (server) => change(server, { uid: 'another' })],
    ['a deleted user', (server) => server.users.delete('alice')],
    ['the end of all sessions', (server) => change(server, { tokensNotBefore: server.clock.now() / 1000 + 60 })],
    ['a process that cannot know its end', (server) => Object.assign(server.sessions, { begunElsewhere: true })],
  ])('B-28 ends with %s', async (_, happens) => {
    const { server, session } = await start();
    happens(server);
    expect(await authorize(server, {}, session)).toMatchObject({ kind: 'sign-in', username: '' });
  });

  test('B-28 ends when all sessions of the user end', async () => {
    const { server, session } = await start();
    change(server, { passwordHash: `$2b$10$${'b'.repeat(53)}` });
    server.changed('alice');
    change(server, { passwordHash: `$2b$10$${'a'.repeat(53)}` });
    expect(await authorize(server, {}, session)).toMatchObject({ kind: 'sign-in' });
  });

  test('B-29 is that of the last person who signed in', async () => {
    const { server, session } = await start();
    server.users.set('bob', { ...(server.users.get('alice') as User), name: 'bob', uid: 'uid-of-bob' });
    const page = await authorize(server, { prompt: 'select_account' }, session);
    const answer = await post(server, page, { username: 'bob', session });
    const next = returned(await authorize(server, {}, answer.session))['code'] ?? '';
    expect(partsOf((await redeem(server, next)).access_token)[1]).toMatchObject({ sub: 'bob' });
  });

  test('C-38 is not accepted while it cannot be told whether it has ended', async () => {
    const { server, session } = await start();
    server.sessions.unknown = 'the session records are not loaded yet';
    expect(await refusalOf(() => authorize(server, { prompt: 'none' }, session))).toMatchObject({ status: 503 });
    expect(returned(await authorize(server, { prompt: 'none' }))).toMatchObject({ error: 'login_required' });
  });

  test('B-41 keeps the other clients of the browser when every sign-in ends the other sessions of the user', async () => {
    const { server, session, to } = await start({ multipleLogin: false });
    const first = await redeem(server, to['code'] ?? '');
    await server.clock.advance(2000);
    const rival = returned(await authorize(server, { client_id: 'rival' }, session))['code'] ?? '';
    await redeem(server, rival, { client_id: 'rival' });
    expect(server.verifier.verify(first.access_token)).toHaveProperty('identity');
    await server.clock.advance(2000);
    await redeem(server, await newCode(server));
    expect(server.verifier.verify(first.access_token)).toEqual({ fault: 'revoked' });
    expect(await refusalOf(() => refresh(server, first.refresh_token))).toMatchObject({ status: 400 });
    expect(await authorize(server, {}, session)).toMatchObject({ kind: 'sign-in' });
  });

  test('B-44 leaves each code in the audit trail, with what it was given for', async () => {
    const { server, session } = await start();
    await authorize(server, {}, session);
    await authorize(server, {});
    const codes = server.lines.filter(({ event }) => event !== undefined);
    expect(codes).toMatchObject([
      { event: 'code_issued', user: 'alice', clientId: 'web', by: 'password' },
      { event: 'code_issued', user: 'alice', clientId: 'web', by: 'session' },
    ]);
    expect(JSON.stringify(server.lines)).not.toContain(session);
  });

  test('B-03 sends nobody to an address that is not registered, signed in or not', async () => {
    const { server, session } = await start();
    const answer = await authorize(server, { redirect_uri: `${CALLBACK}&x` }, session);
    expect(answer).toEqual({ kind: 'fault', fault: 'unknown_redirect' });
  });
});
