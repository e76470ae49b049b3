import { createHash } from 'node:crypto';
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import { describe, expect, test } from 'vitest';
import type { TokenResponse } from '../../../../src/oauth/authorization-server.ts';
import type { OAuthOptions } from '../../../../src/oauth/options.ts';
import type { User } from '../../../../src/users/user.ts';
import {
  formRequest,
  newTestServer,
  PASSWORD_FORM,
  partsOf,
  refresh,
  refusalOf,
  signInAlice,
  type TestServer,
  testOptions,
} from '../test-server.ts';

/** Changes what the directory knows about alice. */
const changeAlice = (test: TestServer, change: Partial<User>): void => {
  test.users.set('alice', { ...(test.users.get('alice') as User), ...change });
};

const claimsOf = ({ id_token }: TokenResponse) => partsOf(id_token as string)[1];

/** The claims about the user in the ID token of a sign-in with this scope. */
async function userClaims(
  scope: string,
  { change = {}, options = {} }: { readonly change?: Partial<User>; readonly options?: Partial<OAuthOptions> } = {},
) {
  const test = await newTestServer(options);
  changeAlice(test, change);
  const { iss, sub, aud, exp, iat, auth_time, sid, at_hash, ...rest } = claimsOf(await signInAlice(test, { scope }));
  return rest;
}

const OF_ALICE = { email: 'alice@example.com' };

describe('the ID token', () => {
  test('ID-02 verifies by the published keys, and names issuer, client, session, sign-in and access token', async () => {
    const test = await newTestServer();
    const tokens = await signInAlice(test, { scope: 'openid' });
    const keys = createLocalJWKSet(JSON.parse(test.server.keys().body.toString()) as JSONWebKeySet);
    const checks = { issuer: testOptions.issuer, audience: 'console', algorithms: ['RS256'], typ: 'JWT' };
    const { payload } = await jwtVerify(tokens.id_token as string, keys, {
      ...checks,
      currentDate: new Date(test.clock.now()),
    });
    const [, access] = partsOf(tokens.access_token);
    const digest = createHash('sha256').update(tokens.access_token).digest().subarray(0, 16);
    expect(payload).toEqual({
      iss: testOptions.issuer,
      sub: 'alice',
      aud: 'console',
      exp: access['exp'],
      iat: access['iat'],
      auth_time: access['iat'],
      sid: access['sid'],
      at_hash: digest.toString('base64url'),
    });
  });

  test('ID-01 comes with every grant of a session whose scope has openid, and only then', async () => {
    const test = await newTestServer();
    for (const scope of ['openid', 'email openid']) {
      const first = await signInAlice(test, { scope });
      const second = await refresh(test, first.refresh_token);
      expect(claimsOf(second)).toMatchObject({ sub: 'alice', auth_time: claimsOf(first)['auth_time'] });
    }
    for (const more of [{}, { scope: 'profile' }]) {
      const first = await signInAlice(test, more as Record<string, string>);
      const second = await refresh(test, first.refresh_token);
      expect([first.id_token, second.id_token]).toEqual([undefined, undefined]);
    }
  });

  test('ID-01 T-13 is the same token when a refresh is repeated', async () => {
    const test = await newTestServer();
    const { refresh_token } = await signInAlice(test, { scope: 'openid profile' });
    const first = await refresh(test, refresh_token);
    await test.clock.advance(5_000);
    expect((await refresh(test, refresh_token)).id_token).toBe(first.id_token);
  });

  test('ID-01 is the last member of the answer', async () => {
    const test = await newTestServer();
    expect(Object.keys(await signInAlice(test, { scope: 'openid' }))).toEqual(
      'access_token token_type refresh_token expires_in scope id_token'.split(' '),
    );
  });

  test.each([
    ['openid', {}],
    ['openid profile', { name: 'alice', preferred_username: 'alice' }],
    ['openid email', OF_ALICE],
    ['openid groups', { groups: ['developers'] }],
    ['openid offline_access', {}],
  ])('ID-02 has the claims of the scope %s', async (scope, claims) => {
    expect(await userClaims(scope)).toEqual(claims);
  });

  test('ID-03 says that an address is verified only if the account says so', async () => {
    expect(await userClaims('openid email', { change: { emailVerified: true } })).toEqual({
      ...OF_ALICE,
      email_verified: true,
    });
    expect(await userClaims('openid email', { change: { email: '', emailVerified: true } })).toEqual({});
  });

  test('ID-03 has an address of the fallback domain for a user without one, which nobody has verified', async () => {
    const options = { emailFallbackDomain: 'users.example.com' };
    const change = { email: '', emailVerified: true } as const;
    expect(await userClaims('openid email', { change, options })).toEqual({ email: 'alice@users.example.com' });
    expect(await userClaims('openid email', { options })).toEqual(OF_ALICE);
    expect(await userClaims('openid', { change, options })).toEqual({});
  });

  test('ID-04 lives as long as the client says, else as its access tokens, and never longer than the session', async () => {
    const lifeWith = async (idTokenMaxAgeSeconds: number, more: Partial<OAuthOptions> = {}) => {
      const clients = testOptions.clients.map((client) => ({ ...client, idTokenMaxAgeSeconds }));
      const test = await newTestServer({ clients, ...more });
      const { exp, iat } = claimsOf(await signInAlice(test, { scope: 'openid' }));
      return Number(exp) - Number(iat);
    };
    expect(await lifeWith(900)).toBe(900);
    expect(await lifeWith(900_000, { sessionMaxAgeSeconds: 10_000 })).toBe(10_000);
  });

  test('ID-05 leaves the groups out when it would pass 2 KiB with them', async () => {
    const groups = Array.from({ length: 100 }, (_, index) => `group-number-${index}`);
    expect(await userClaims('openid groups', { change: { groups } })).toEqual({});
    expect(await userClaims('openid groups', { change: { groups: groups.slice(0, 10) } })).toEqual({
      groups: groups.slice(0, 10),
    });
  });

  test('ID-06 is refused as a bearer, as a refresh token and by introspection', async () => {
    const test = await newTestServer();
    const { id_token } = await signInAlice(test, { scope: 'openid' });
    const token = id_token as string;
    expect(test.verifier.verify(token)).toEqual({ fault: 'invalid' });
    expect(await refusalOf(() => test.server.userinfo(`Bearer ${token}`))).toMatchObject({ code: 'invalid_token' });
    expect(await refusalOf(() => refresh(test, token))).toMatchObject({ code: 'invalid_grant' });
    const { client_id, client_secret } = PASSWORD_FORM;
    const introspection = test.server.introspect(formRequest({ client_id, client_secret, token }));
    expect(await introspection).toEqual({ active: false });
  });
});
