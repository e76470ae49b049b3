import { describe, expect, test } from 'vitest';
import type { User } from '../../../../src/users/user.ts';
import { newTestServer, ORIGIN, refusalOf, signInAlice, type TestServer } from '../test-server.ts';

const bearer = async (test: TestServer): Promise<string> => `Bearer ${(await signInAlice(test)).access_token}`;
const alice = (test: TestServer): User => test.users.get('alice') as User;

describe('userinfo', () => {
  test('N-46 says of the user what the directory knows, in the order of the contract', async () => {
    const test = await newTestServer();
    const authorization = await bearer(test);
    test.users.set('alice', { ...alice(test), locale: 'de-CH' });
    expect(JSON.stringify(test.server.userinfo(authorization))).toBe(
      '{"sub":"alice","name":"alice","email":"alice@example.com","locale":"de-CH","preferred_username":"alice"}',
    );
  });

  test('N-46 leaves out what is empty or unknown', async () => {
    const test = await newTestServer();
    const authorization = await bearer(test);
    test.users.set('alice', { ...alice(test), email: '' });
    expect(test.server.userinfo(authorization)).toEqual({ sub: 'alice', name: 'alice', preferred_username: 'alice' });
  });

  test.each([
    ['openid', { sub: 'alice' }],
    ['openid profile', { sub: 'alice', name: 'alice', locale: 'de-CH', preferred_username: 'alice' }],
    ['openid email', { sub: 'alice', email: 'alice@example.com', email_verified: true }],
    ['groups', { sub: 'alice', groups: ['developers'] }],
  ])('ID-07 answers with the claims of the scopes of the session (%s)', async (scope, claims) => {
    const test = await newTestServer();
    test.users.set('alice', { ...alice(test), locale: 'de-CH', emailVerified: true });
    const { access_token } = await signInAlice(test, { scope });
    expect(test.server.userinfo(`bearer  ${access_token}`)).toEqual(claims);
  });

  test('ID-05 has all groups, however many there are', async () => {
    const test = await newTestServer();
    const groups = Array.from({ length: 1_000 }, (_, index) => `group-number-${index}`);
    test.users.set('alice', { ...alice(test), groups });
    const { access_token } = await signInAlice(test, { scope: 'openid groups' });
    expect(test.server.userinfo(`Bearer ${access_token}`)).toEqual({ sub: 'alice', groups });
  });

  test.each([undefined, '', 'Basic YTpi', 'Digest x'])(
    'T-21 wants a sign-in without a bearer (%j), with a challenge that names no error',
    async (authorization) => {
      const { server } = await newTestServer();
      expect(await refusalOf(() => server.userinfo(authorization))).toEqual({
        status: 401,
        code: 'login_required',
        description: 'no bearer token was sent',
        headers: { 'WWW-Authenticate': 'Bearer realm="gatehouse"' },
      });
    },
  );

  const INVALID_TOKEN = {
    status: 401,
    code: 'invalid_token',
    description: 'the access token is not valid',
    headers: { 'WWW-Authenticate': 'Bearer realm="gatehouse", error="invalid_token"' },
  };

  test.each(['Bearer garbage', 'Bearer a,b', `Bearer ${'a'.repeat(8193)}`])('T-22 refuses %.20s', async (header) => {
    const { server } = await newTestServer();
    expect(await refusalOf(() => server.userinfo(header))).toEqual(INVALID_TOKEN);
  });

  test('T-22 refuses a refresh token', async () => {
    const test = await newTestServer();
    const { refresh_token } = await signInAlice(test);
    expect(await refusalOf(() => test.server.userinfo(`Bearer ${refresh_token}`))).toEqual(INVALID_TOKEN);
  });

  test('T-22 refuses the token of a session that ended, and of a user who is disabled', async () => {
    const test = await newTestServer();
    const [ended, disabled] = [await bearer(test), await bearer(test)];
    await test.server.logout({ ...ORIGIN, method: 'GET', queryString: '', authorization: ended });
    expect(await refusalOf(() => test.server.userinfo(ended))).toEqual(INVALID_TOKEN);
    test.users.set('alice', { ...alice(test), state: 'Disabled' });
    expect(await refusalOf(() => test.server.userinfo(disabled))).toEqual(INVALID_TOKEN);
  });

  test.each(['Bearer', 'Bearer a b'])('N-29 refuses the malformed header %j', async (authorization) => {
    const { server } = await newTestServer();
    expect(await refusalOf(() => server.userinfo(authorization))).toMatchObject({
      status: 400,
      headers: { 'WWW-Authenticate': 'Bearer realm="gatehouse", error="invalid_request"' },
    });
  });

  test('C-38 calls no token bad while ended sessions may be unknown', async () => {
    const test = await newTestServer();
    const authorization = await bearer(test);
    test.sessions.unknown = 'the session records are stale';
    expect(await refusalOf(() => test.server.userinfo(authorization))).toMatchObject({
      status: 503,
      code: 'server_error',
      headers: { 'Retry-After': '1' },
    });
  });
});
