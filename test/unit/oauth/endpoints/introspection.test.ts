import { describe, expect, test } from 'vitest';
import { neverProven } from '../../../../src/data-age.ts';
import type { FormRequest, Introspection } from '../../../../src/oauth/authorization-server.ts';
import { newKeyData } from '../../../../src/oauth/keys/signing-key-data.ts';
import type { OAuthOptions } from '../../../../src/oauth/options.ts';
import { systemRandom } from '../../../../src/runtime/random.ts';
import type { User } from '../../../../src/users/user.ts';
import { countedBy } from '../../../support/counted.ts';
import {
  formRequest,
  KEYS_SECRET,
  keyData,
  newTestServer,
  ORIGIN,
  partsOf,
  refresh,
  refusalOf,
  signInAlice,
  type TestServer,
  testOptions,
  until,
} from '../test-server.ts';

const CONSOLE = { client_id: 'console', client_secret: 'made-up-secret' };
const READER = { client_id: 'reader', client_secret: 'made-up-other' };
const INACTIVE = { active: false };

const introspect = (
  test: TestServer,
  form: Record<string, string>,
  change: Partial<FormRequest> = {},
): Promise<Introspection> => test.server.introspect(formRequest(form, change));

const isActive = async (test: TestServer, token: string): Promise<boolean> =>
  (await introspect(test, { ...CONSOLE, token })).active;

async function signedIn(change: Partial<OAuthOptions> = {}, more: Record<string, string> = {}) {
  const test = await newTestServer(change);
  return { test, pair: await signInAlice(test, more) };
}

/** Puts this key out of use, and another into it. */
async function revokeKey(test: TestServer, kid: string): Promise<void> {
  const documentOf = (data: Readonly<Record<string, Buffer>>): { keys: object[] } =>
    JSON.parse(data['keys.json']?.toString() ?? '') as { keys: object[] };
  const mine = await keyData;
  const [others, [key]] = [documentOf(await newKeyData(test.clock.now(), systemRandom)).keys, documentOf(mine).keys];
  const keys = [{ ...key, state: 'revoked' }, ...others];
  test.secrets.put(KEYS_SECRET, { ...mine, 'keys.json': Buffer.from(JSON.stringify({ keys })) });
  await until(() => test.keys.verificationKey(kid) === undefined);
}

const results = ({ registry }: TestServer): Promise<Record<string, number>> =>
  countedBy(registry, 'gatehouse_introspection_requests_total', 'result');

describe('introspection', () => {
  test('RFC 7662 2.2 tells of an access token, members in the order of the contract', async () => {
    const { test, pair } = await signedIn({}, { scope: 'openid' });
    const [, claims] = partsOf(pair.access_token);
    expect(JSON.stringify(await introspect(test, { ...CONSOLE, token: pair.access_token }))).toBe(
      JSON.stringify({
        active: true,
        client_id: 'console',
        username: 'alice',
        sub: 'alice',
        aud: ['https://gatehouse.example.com/oauth'],
        iss: 'https://gatehouse.example.com/oauth',
        exp: claims['exp'],
        iat: claims['iat'],
        jti: claims['jti'],
        scope: 'openid',
        token_type: 'Bearer',
      }),
    );
    expect(await results(test)).toEqual({ active: 1 });
  });

  test('RFC 7662 2.2 tells of a refresh token, which is no bearer', async () => {
    const { test, pair } = await signedIn();
    const [, claims] = partsOf(pair.refresh_token);
    expect(JSON.stringify(await introspect(test, { ...CONSOLE, token: pair.refresh_token }))).toBe(
      JSON.stringify({
        active: true,
        client_id: 'console',
        username: 'alice',
        sub: 'alice',
        aud: ['https://gatehouse.example.com/oauth/token'],
        iss: 'https://gatehouse.example.com/oauth',
        exp: claims['exp'],
        iat: claims['iat'],
        jti: claims['jti'],
      }),
    );
  });

  test.each(['access_token', 'refresh_token', 'made-up', ''])(
    'takes the hint %j whatever the token is',
    async (hint) => {
      const { test, pair } = await signedIn();
      const form = { ...CONSOLE, token: pair.refresh_token, token_type_hint: hint };
      expect(await introspect(test, form)).toMatchObject({ active: true });
    },
  );

  test.each(['garbage', 'a.b.c', 'ü', 'a'.repeat(9000)])('N-49 T-26 knows nothing of %.10s', async (token) => {
    const { test } = await signedIn();
    expect(await introspect(test, { ...CONSOLE, token })).toEqual(INACTIVE);
    expect(await results(test)).toEqual({ inactive: 1 });
  });

  test('N-49 no token is active once its session has ended, or all of the user’s', async () => {
    const { test, pair } = await signedIn();
    const other = await signInAlice(test);
    const logout = (token: string, queryString: string) =>
      test.server.logout({ ...ORIGIN, method: 'GET', queryString, authorization: `Bearer ${token}` });
    await logout(pair.access_token, '');
    expect([await isActive(test, pair.access_token), await isActive(test, pair.refresh_token)]).toEqual([false, false]);
    expect([await isActive(test, other.access_token), await isActive(test, other.refresh_token)]).toEqual([true, true]);
    await logout(other.access_token, 'all=true');
    expect([await isActive(test, other.access_token), await isActive(test, other.refresh_token)]).toEqual([
      false,
      false,
    ]);
  });

  test('N-49 each token is active until it expires', async () => {
    const { test, pair } = await signedIn();
    test.clock.jumpWall(7_209_000);
    expect(await isActive(test, pair.access_token)).toBe(true);
    test.clock.jumpWall(1_000);
    expect([await isActive(test, pair.access_token), await isActive(test, pair.refresh_token)]).toEqual([false, true]);
    test.clock.jumpWall(7_200_000);
    expect(await isActive(test, pair.refresh_token)).toBe(false);
  });

  test('N-49 no refresh token is active past the longest age of its session', async () => {
    const { test, pair } = await signedIn({ sessionMaxAgeSeconds: 60 });
    test.clock.jumpWall(59_000);
    expect(await isActive(test, pair.refresh_token)).toBe(true);
    test.clock.jumpWall(1_000);
    expect(await isActive(test, pair.refresh_token)).toBe(false);
  });

  test('N-49 no token of a user who is disabled, gone or has another password is active', async () => {
    const { test, pair } = await signedIn();
    const alice = test.users.get('alice') as User;
    const states: (User | undefined)[] = [
      { ...alice, state: 'Disabled' },
      { ...alice, passwordHash: `$2b$10$${'b'.repeat(53)}` },
      undefined,
    ];
    for (const user of states) {
      test.users.delete('alice');
      if (user) test.users.set('alice', user);
      expect(await isActive(test, pair.access_token)).toBe(false);
      expect(await isActive(test, pair.refresh_token)).toBe(false);
    }
    test.users.set('alice', { ...alice, state: 'AuthLimitExceeded' });
    expect([await isActive(test, pair.access_token), await isActive(test, pair.refresh_token)]).toEqual([true, true]);
  });

  test('N-49 no token of a revoked key is active', async () => {
    const { test, pair } = await signedIn();
    const [{ kid }] = partsOf(pair.access_token);
    expect(await isActive(test, pair.access_token)).toBe(true);
    await revokeKey(test, String(kid));
    expect([await isActive(test, pair.access_token), await isActive(test, pair.refresh_token)]).toEqual([false, false]);
  });

  test('a refresh token that was used is not active, in the replay window neither; its successor is', async () => {
    const { test, pair } = await signedIn();
    const next = await refresh(test, pair.refresh_token);
    expect([await isActive(test, pair.refresh_token), await isActive(test, next.refresh_token)]).toEqual([false, true]);
    await test.clock.advance(31_000);
    expect([await isActive(test, pair.refresh_token), await isActive(test, next.refresh_token)]).toEqual([false, true]);
    expect([await isActive(test, pair.access_token), await isActive(test, next.access_token)]).toEqual([true, true]);
  });

  test('asking about a used refresh token is no reuse: the session goes on', async () => {
    const { test, pair } = await signedIn();
    const next = await refresh(test, pair.refresh_token);
    await test.clock.advance(31_000);
    await isActive(test, pair.refresh_token);
    expect(await refresh(test, next.refresh_token)).toMatchObject({ token_type: 'Bearer' });
    expect(test.lines.filter((line) => line['event'] === 'refresh_token_reused')).toEqual([]);
  });

  test('a refresh token is active although its session was refreshed too often just now', async () => {
    const { test, pair } = await signedIn();
    let { refresh_token } = pair;
    for (let turn = 0; turn < 10; turn++) ({ refresh_token } = await refresh(test, refresh_token));
    expect(await refusalOf(() => refresh(test, refresh_token))).toMatchObject({ status: 429 });
    expect(await isActive(test, refresh_token)).toBe(true);
  });

  test('a refresh token of a client that may not refresh is not active', async () => {
    const clients = testOptions.clients.map((one) => ({ ...one, grantTypes: ['password'] }));
    const { test, pair } = await signedIn({ clients });
    expect([await isActive(test, pair.access_token), await isActive(test, pair.refresh_token)]).toEqual([true, false]);
  });

  test.each(['access_token', 'refresh_token'] as const)(
    'T-26 the %s of another client is not active, but for a client with introspectAll',
    async (kind) => {
      const { test, pair } = await signedIn();
      expect(await introspect(test, { ...READER, token: pair[kind] })).toEqual(INACTIVE);
      const clients = testOptions.clients.map((one) => ({ ...one, introspectAll: one.name === 'reader' }));
      const all = await signedIn({ clients });
      expect(await introspect(all.test, { ...READER, token: all.pair[kind] })).toMatchObject({
        active: true,
        client_id: 'console',
      });
    },
  );

  test('T-26 a public client may not ask', async () => {
    const { test, pair } = await signedIn();
    const form = { client_id: 'app', token: pair.access_token };
    expect(await refusalOf(() => introspect(test, form))).toEqual({
      status: 400,
      code: 'unauthorized_client',
      description: 'a public client may not introspect tokens',
    });
    expect(await results(test)).toEqual({ unauthorized_client: 1 });
  });

  test.each<[string, (test: TestServer) => void]>([
    [
      'C-38 the session records are not known',
      (test) => (test.sessions.unknown = 'the session records are not loaded'),
    ],
    ['the signing keys are not loaded', ({ secrets }) => Object.assign(secrets.proof, neverProven())],
    ['C-38 not every user is known', (test) => (test.missing.users = 'the Secret is not read yet')],
  ])('%s: answers 503 to every client, never that a token is not active', async (_, breakIt) => {
    const { test, pair } = await signedIn();
    breakIt(test);
    for (const token of [pair.access_token, pair.refresh_token, 'garbage']) {
      for (const client of [CONSOLE, { client_id: 'app' }]) {
        expect(await refusalOf(() => introspect(test, { ...client, token }))).toMatchObject({
          status: 503,
          code: 'server_error',
          headers: { 'Retry-After': '1' },
        });
      }
    }
  });
});
