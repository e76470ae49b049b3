import { describe, expect, test } from 'vitest';
import type { Client } from '../../../../src/oauth/options.ts';
import type { User } from '../../../../src/users/user.ts';
import { refresh, refusalOf, type TestServer, testOptions } from '../test-server.ts';
import { authorize, CALLBACK, endSession, newBrowserServer, post, redeem, returned, signOut } from './sign-in-flow.ts';

const BYE = 'https://app.example.com/bye';
const grants = { grantTypes: ['authorization_code', 'refresh_token'], redirectURIs: [CALLBACK] };
const clients: readonly Client[] = [
  ...testOptions.clients,
  { name: 'web', secret: 'made-up-secret-of-web', public: false, ...grants, postLogoutRedirectURIs: [BYE] },
  { name: 'rival', secret: 'made-up-secret-of-web', public: false, ...grants, postLogoutRedirectURIs: [] },
];

/** A person who is signed in at both clients, the cookie, and the tokens of the clients. */
async function start(form: Record<string, string> = {}) {
  const server = await newBrowserServer({ clients });
  server.users.set('bob', { ...(server.users.get('alice') as User), name: 'bob', uid: 'uid-of-bob' });
  return { server, ...(await signedIn(server, form)) };
}

async function signedIn(server: TestServer, form: Record<string, string> = {}) {
  const answer = await post(server, await authorize(server), form);
  const session = answer.session ?? '';
  const web = await redeem(server, returned(answer)['code'] ?? '');
  const code = returned(await authorize(server, { client_id: 'rival' }, session))['code'] ?? '';
  const rival = await redeem(server, code, { client_id: 'rival' });
  return { session, web, rival, hint: web.id_token ?? '' };
}

const isGood = (server: TestServer, token: string): boolean => 'identity' in server.verifier.verify(token);

const SIGNED_OUT = { kind: 'signed-out', locales: [], session: '' };

describe('the end session endpoint', () => {
  test('B-50 ends the session of the ID token with the tokens of all its clients, and returns to the client', async () => {
    const { server, session, web, rival, hint } = await start();
    const answer = await endSession(
      server,
      { id_token_hint: hint, post_logout_redirect_uri: BYE, state: 's /1' },
      session,
    );
    expect(answer).toEqual({ kind: 'redirect', location: `${BYE}?state=s%20%2F1`, session: '' });
    for (const { access_token: token } of [web, rival]) expect(isGood(server, token)).toBe(false);
    expect(await refusalOf(() => refresh(server, web.refresh_token))).toMatchObject({ status: 400 });
    expect(await authorize(server, {}, session)).toMatchObject({ kind: 'sign-in', username: '' });
    expect(server.sessions.writes).toBe(3); // two redemptions and the end
    expect(server.sessions.read('alice').live.size).toBe(0);
  });

  test('B-50 ends a code that no client has redeemed yet', async () => {
    const { server, session, hint } = await start();
    const { code = '' } = returned(await authorize(server, {}, session));
    await endSession(server, { id_token_hint: hint }, session);
    expect(await refusalOf(() => redeem(server, code))).toMatchObject({ code: 'invalid_grant' });
  });

  test('B-50 counts an ID token that has expired, and a session that was idle', async () => {
    const { server, session, web, hint } = await start();
    await server.clock.advance(3 * 3_600_000);
    expect(await endSession(server, { id_token_hint: hint }, session)).toEqual(SIGNED_OUT);
    expect(await refusalOf(() => refresh(server, web.refresh_token))).toMatchObject({ status: 400 });
  });

  test('B-50 ends the sessions of the same person from before the password was asked for again', async () => {
    const { server, session, web, rival } = await start();
    const again = await post(server, await authorize(server, { prompt: 'login' }, session), { session });
    const { id_token: hint = '' } = await redeem(server, returned(again)['code'] ?? '');
    await endSession(server, { id_token_hint: hint }, again.session);
    for (const { access_token: token } of [web, rival]) expect(isGood(server, token)).toBe(false);
  });

  test('B-51 asks first without an ID token, with one that is not ours, and with that of another session or user', async () => {
    const { server, session, web, hint } = await start();
    const another = await signedIn(server);
    const bob = await signedIn(server, { username: 'bob' });
    const foreign = `${hint.slice(0, -4)}AAAA`;
    for (const one of ['', foreign, another.hint, bob.hint, web.access_token]) {
      const page = await endSession(server, one === '' ? {} : { id_token_hint: one }, session);
      expect(page).toMatchObject({ kind: 'sign-out', signedIn: 'alice' });
    }
    expect(isGood(server, web.access_token)).toBe(true);
  });

  test('B-51 ends the session when the person says so', async () => {
    const { server, session, web, rival } = await start();
    const more = await signedIn(server);
    const asked = { client_id: 'web', post_logout_redirect_uri: BYE, state: 's' };
    const page = await endSession(server, asked, session);
    expect(page).toMatchObject({ kind: 'sign-out', redirectURI: `${BYE}?state=s` });
    expect(await signOut(server, page, { session })).toEqual({
      ...{ kind: 'redirect', location: `${BYE}?state=s`, session: '' },
    });
    for (const { access_token: token } of [web, rival]) expect(isGood(server, token)).toBe(false);
    expect(isGood(server, more.web.access_token)).toBe(true);
  });

  test('B-51 ends nothing by the form of another browser, of another session, or too late', async () => {
    const { server, session, web } = await start();
    const page = await endSession(server, {}, session);
    const another = await signedIn(server);
    for (const cookies of [
      { session, browser: 'browser-of-mallory-12' },
      { session, browser: '' },
      { session: another.session },
      { session: undefined },
    ])
      expect(await signOut(server, page, cookies)).toMatchObject({ kind: 'fault' });
    await server.clock.advance(600_000);
    expect(await signOut(server, page, { session })).toMatchObject({ kind: 'fault', fault: 'expired' });
    expect(isGood(server, web.access_token)).toBe(true);
  });

  test.each([
    { post_logout_redirect_uri: 'https://evil.example/' },
    { post_logout_redirect_uri: `${BYE}?x` },
    { post_logout_redirect_uri: BYE, client_id: 'rival' },
    { post_logout_redirect_uri: BYE, client_id: 'nobody' },
  ])('B-52 never goes to an address that is not registered for the client: %j', async (asked) => {
    const { server, session, hint } = await start();
    const answer = await endSession(server, { ...(asked as Record<string, string>), id_token_hint: hint }, session);
    expect(answer).toEqual(SIGNED_OUT);
    expect(await endSession(server, asked as Record<string, string>)).toEqual({ kind: 'signed-out', locales: [] });
  });

  test('B-50 returns to the client when nobody is signed in', async () => {
    const { server } = await start();
    const asked = { client_id: 'web', post_logout_redirect_uri: BYE };
    expect(await endSession(server, asked)).toEqual({ kind: 'redirect', location: BYE });
  });

  test('B-28 remembers the end for as long as a copy of the cookie could be shown', async () => {
    const server = await newBrowserServer({ clients, browserSessionIdleSeconds: 12 * 3600 });
    const { session, hint } = await signedIn(server);
    await endSession(server, { id_token_hint: hint }, session);
    for (let hours = 0; hours < 11; hours++) {
      await server.clock.advance(3_600_000);
      await signedIn(server); // a write, at which ends that nobody needs are forgotten
      expect(await authorize(server, {}, session)).toMatchObject({ kind: 'sign-in' });
    }
  });

  test('B-53 ends every session of the user from our own page', async () => {
    const { server, session, web } = await start();
    const more = await signedIn(server);
    const page = await endSession(server, { all: 'true' }, session);
    expect(page).toMatchObject({ kind: 'sign-out' });
    expect(await signOut(server, page, { session, all: 'true' })).toEqual(SIGNED_OUT);
    for (const { access_token: token } of [web, more.web]) expect(isGood(server, token)).toBe(false);
    expect(await authorize(server, {}, more.session)).toMatchObject({ kind: 'sign-in' });
  });

  test('B-53 cannot be done with a session that has ended, because there may be a copy of its cookie', async () => {
    const { server, session, hint } = await start();
    await endSession(server, { id_token_hint: hint }, session);
    const later = await signedIn(server);
    const page = await endSession(server, {}, session);
    expect(await signOut(server, page, { session, all: 'true' })).toMatchObject({ kind: 'fault', fault: 'expired' });
    expect(isGood(server, later.web.access_token)).toBe(true);
  });

  test('B-50 answers 503 when the end cannot be written, and keeps the cookie', async () => {
    const { server, session, hint } = await start();
    server.sessions.writeFault = new Error('no write');
    expect(await refusalOf(() => endSession(server, { id_token_hint: hint }, session))).toMatchObject({ status: 503 });
    server.sessions.writeFault = undefined;
    expect(await endSession(server, { id_token_hint: hint }, session)).toEqual(SIGNED_OUT);
  });

  test('B-50 leaves a sign-out in the audit trail, with its extent', async () => {
    const { server, session, hint } = await start();
    await endSession(server, {}, session);
    await endSession(server, { id_token_hint: hint }, session);
    const lines = server.lines.filter(({ event }) => event === 'sign_out');
    expect(lines).toMatchObject([{ result: 'ok', user: 'alice', clientId: 'web', scope: 'session' }]);
  });
});
