import { describe, expect, test } from 'vitest';
import { withCutOff } from '../../../../src/oauth/sessions/session-rules.ts';
import type { User } from '../../../../src/users/user.ts';
import { authorize, CALLBACK, newBrowserServer, newCode, post, redeem, returned } from '../authorize/sign-in-flow.ts';
import { partsOf, refresh, refusalOf, type TestServer } from '../test-server.ts';

const NOT_VALID = { status: 400, code: 'invalid_grant', description: 'the authorization code is not valid' };

const change = (server: TestServer, more: Partial<User>): void => {
  server.users.set('alice', { ...(server.users.get('alice') as User), ...more });
};

describe('the authorization code grant', () => {
  test('gives the tokens of the sign-in, by one write', async () => {
    const server = await newBrowserServer();
    const code = await newCode(server);
    await server.clock.advance(5_000);
    const tokens = await redeem(server, code);
    expect(tokens).toMatchObject({ token_type: 'Bearer', expires_in: 7200, scope: 'openid profile' });
    expect(server.verifier.verify(tokens.access_token)).toMatchObject({ identity: { name: 'alice', clientId: 'web' } });
    expect(server.sessions.writes).toBe(1);
    const [, claims] = partsOf(tokens.id_token as string);
    expect(claims).toMatchObject({ sub: 'alice', aud: 'web', nonce: 'nonce-1', name: 'alice' });
    expect(Number(claims['iat']) - Number(claims['auth_time'])).toBe(5);
  });

  test('ID-02 has no nonce in the ID token of a refresh, and the time of the sign-in', async () => {
    const server = await newBrowserServer();
    const first = await redeem(server, await newCode(server));
    const form = { grant_type: 'refresh_token', client_id: 'web', client_secret: 'made-up-secret-of-web' };
    const body = Buffer.from(new URLSearchParams({ ...form, refresh_token: first.refresh_token }).toString());
    await server.clock.advance(60_000);
    const http = { authorization: undefined, source: '192.0.2.1', requestId: 'r', signal: AbortSignal.timeout(60_000) };
    const next = await server.server.token({ ...http, body });
    const [before, after] = [first, next].map(({ id_token }) => partsOf(id_token as string)[1]);
    expect(after).not.toHaveProperty('nonce');
    expect(after?.['auth_time']).toBe(before?.['auth_time']);
  });

  test('B-41 is worth nothing if all sessions had ended and the replica that issued it did not know yet', async () => {
    const server = await newBrowserServer();
    const { session } = await post(server, await authorize(server));
    await server.clock.advance(60_000);
    const code = returned(await authorize(server, {}, session))['code'] ?? '';
    const at = Math.floor(server.clock.now() / 1000) - 10;
    await server.sessions.update('alice', (now) => ({
      next: withCutOff(now, { at, keepUntil: at + 86_400 }),
      outcome: undefined,
    }));
    expect(await refusalOf(() => redeem(server, code))).toEqual(NOT_VALID);
  });

  test('B-41 is worth nothing if the account had ended earlier sessions and the replica that issued it did not know yet', async () => {
    const server = await newBrowserServer();
    const { session } = await post(server, await authorize(server));
    await server.clock.advance(60_000);
    const code = returned(await authorize(server, {}, session))['code'] ?? '';
    change(server, { tokensNotBefore: Math.floor(server.clock.now() / 1000) - 10 });
    expect(await refusalOf(() => redeem(server, code))).toEqual(NOT_VALID);
  });

  test('B-42 is used once: the second time ends the session', async () => {
    const server = await newBrowserServer();
    const code = await newCode(server);
    const { access_token, refresh_token } = await redeem(server, code);
    expect(await refusalOf(() => redeem(server, code))).toEqual(NOT_VALID);
    expect(server.verifier.verify(access_token)).toEqual({ fault: 'revoked' });
    expect(await refusalOf(() => refresh(server, refresh_token))).toMatchObject({ code: 'invalid_grant' });
    expect(await refusalOf(() => redeem(server, code))).toEqual(NOT_VALID);
    const events = server.lines.map(({ event, result }) => [event, result]);
    expect(events).toContainEqual(['code_redeemed', 'ok']);
    expect(events).toContainEqual(['code_reused', 'refused']);
  });

  test('B-42 is redeemed once by fifty requests at the same time', async () => {
    const server = await newBrowserServer();
    const code = await newCode(server);
    const results = await Promise.allSettled(Array.from({ length: 50 }, () => redeem(server, code)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  test('B-42 is still good after a failed client authentication, which x/oauth2 repeats in another way', async () => {
    const server = await newBrowserServer();
    const code = await newCode(server);
    expect(await refusalOf(() => redeem(server, code, { client_secret: 'wrong' }))).toMatchObject({
      code: 'invalid_client',
    });
    expect(await redeem(server, code)).toHaveProperty('access_token');
  });

  const OTHER = 'https://app.example.com/other';
  test.each<[string, Record<string, string>]>([
    ['another redirect address', { redirect_uri: OTHER }],
    ['no redirect address', { redirect_uri: '' }],
    ['no verifier', { code_verifier: '' }],
    ['another verifier', { code_verifier: 'x'.repeat(43) }],
    ['a short verifier', { code_verifier: 'x' }],
    ['another client', { client_id: 'rival' }],
    ['garbage', { code: 'garbage' }],
    ['a code of five empty parts', { code: '....' }],
  ])('B-43 is refused with %s, and is still good', async (_, form) => {
    const server = await newBrowserServer();
    const code = await newCode(server);
    expect(await refusalOf(() => redeem(server, code, form))).toEqual(NOT_VALID);
    expect(await redeem(server, code)).toHaveProperty('access_token');
  });

  test.each([
    ['other_redirect', { redirect_uri: OTHER }],
    ['wrong_verifier', { code_verifier: 'x'.repeat(43) }],
    ['other_client', { client_id: 'rival' }],
  ])('B-44 says in the audit trail alone whose code it was, and why it was refused: %s', async (reason, form) => {
    const server = await newBrowserServer();
    const code = await newCode(server);
    await refusalOf(() => redeem(server, code, form as Record<string, string>));
    expect(server.lines.at(-1)).toMatchObject({ event: 'code_redeemed', result: 'refused', reason, user: 'alice' });
  });

  test('B-41 ends the other sessions with the same write when each user has one', async () => {
    const server = await newBrowserServer({ multipleLogin: false });
    const other = await redeem(server, await newCode(server));
    await server.clock.advance(2_000);
    const before = server.sessions.writes;
    const tokens = await redeem(server, await newCode(server));
    expect(server.sessions.writes - before).toBe(1);
    expect(server.verifier.verify(other.access_token)).toEqual({ fault: 'revoked' });
    expect(server.verifier.verify(tokens.access_token)).toHaveProperty('identity');
  });

  test('B-41 is good for a user who signs in in the second of the end of all sessions, and then waits it out', async () => {
    const server = await newBrowserServer();
    const { access_token } = await redeem(server, await newCode(server));
    const origin = { source: '192.0.2.1', requestId: 'r' };
    const authorization = `Bearer ${access_token}`;
    await server.server.logout({ ...origin, method: 'GET', queryString: 'all=true', authorization });
    const code = newCode(server);
    await server.clock.advance(1_000);
    expect(await redeem(server, await code)).toHaveProperty('access_token');
  });

  test('B-43 is refused with a verifier that no challenge asked for', async () => {
    const server = await newBrowserServer();
    const code = await newCode(server, { code_challenge: '', code_challenge_method: '' });
    expect(await refusalOf(() => redeem(server, code))).toEqual(NOT_VALID);
    expect(await redeem(server, code, { code_verifier: '' })).toHaveProperty('access_token');
  });

  test('B-43 names a missing code', async () => {
    const server = await newBrowserServer();
    expect(await refusalOf(() => redeem(server, ''))).toMatchObject({
      ...{ code: 'invalid_request', description: 'the parameter code is missing' },
    });
  });

  test('B-40 is good for a minute', async () => {
    const server = await newBrowserServer();
    const [early, late] = [await newCode(server), await newCode(server)];
    await server.clock.advance(59_000);
    expect(await redeem(server, early)).toHaveProperty('access_token');
    await server.clock.advance(1_000);
    expect(await refusalOf(() => redeem(server, late))).toEqual(NOT_VALID);
  });

  test('B-40 ID-06 is no bearer, and a pending request is no code', async () => {
    const server = await newBrowserServer();
    expect(server.verifier.verify(await newCode(server))).toEqual({ fault: 'invalid' });
    const page = await authorize(server);
    const request = page.kind === 'sign-in' ? page.request : '';
    expect(await refusalOf(() => redeem(server, request))).toEqual(NOT_VALID);
  });

  test.each<[string, Partial<User>]>([
    ['has another password', { passwordHash: `$2b$10$${'b'.repeat(53)}` }],
    ['is disabled', { state: 'Disabled' }],
    ['is another one of that name', { uid: 'another' }],
  ])('B-41 is refused when the user %s by now', async (_, more) => {
    const server = await newBrowserServer();
    const code = await newCode(server);
    change(server, more);
    expect(await refusalOf(() => redeem(server, code))).toEqual(NOT_VALID);
  });

  test('B-41 is refused when the user was signed out everywhere, or is gone', async () => {
    const server = await newBrowserServer();
    const code = await newCode(server);
    const other = await redeem(server, await newCode(server));
    const origin = { source: '192.0.2.1', requestId: 'r' };
    const authorization = `Bearer ${other.access_token}`;
    await server.server.logout({ ...origin, method: 'GET', queryString: 'all=true', authorization });
    await server.clock.advance(2_000);
    expect(await refusalOf(() => redeem(server, code))).toEqual(NOT_VALID);
    const later = await newCode(server);
    server.users.delete('alice');
    expect(await refusalOf(() => redeem(server, later))).toEqual(NOT_VALID);
  });

  test('B-45 is still good when the record cannot be written', async () => {
    const server = await newBrowserServer();
    const code = await newCode(server);
    server.sessions.writeFault = new Error('etcd is away');
    expect(await refusalOf(() => redeem(server, code))).toMatchObject({ status: 503, headers: { 'Retry-After': '1' } });
    server.sessions.writeFault = undefined;
    expect(await redeem(server, code)).toHaveProperty('access_token');
  });

  test('needs no redirect address when the request named none', async () => {
    const clients = [
      {
        ...{ name: 'web', secret: 'made-up-secret-of-web', public: false, grantTypes: ['authorization_code'] },
        ...{ redirectURIs: [CALLBACK], postLogoutRedirectURIs: [] },
      },
    ];
    const server = await newBrowserServer({ clients });
    const answer = await post(server, await authorize(server, { redirect_uri: '', scope: 'email' }));
    const { code = '' } = returned(answer);
    expect(await redeem(server, code, { redirect_uri: '' })).toHaveProperty('access_token');
  });
});
