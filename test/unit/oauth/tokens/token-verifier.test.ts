import { createHmac } from 'node:crypto';
import { createLocalJWKSet, importJWK, type JWK, jwtVerify, SignJWT } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import { DataTooOld, neverProven } from '../../../../src/data-age.ts';
import type { Verification } from '../../../../src/oauth/tokens/identity.ts';
import type { User } from '../../../../src/users/user.ts';
import { countedBy } from '../../../support/counted.ts';
import {
  KEYS_SECRET,
  keyData,
  newTestServer,
  partsOf,
  setBack,
  signInAlice,
  type TestServer,
  until,
} from '../test-server.ts';

type Claims = Record<string, unknown>;

let server: TestServer;
let token: string;
let privateJwk: JWK;

beforeAll(async () => {
  server = await newTestServer();
  token = (await signInAlice(server)).access_token;
  const document = JSON.parse((await keyData)['keys.json']?.toString() ?? '') as { keys: [{ jwk: JWK }] };
  privateJwk = document.keys[0].jwk;
});

const now = (): number => Math.floor(server.clock.now() / 1000);
const part = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

/** Signs exactly this header and these claims (objects, or JSON text) with the server's own key. */
async function signed(header: unknown, claims: unknown): Promise<string> {
  const key = (await importJWK(privateJwk, 'RS256')) as CryptoKey;
  const input = `${part(header)}.${part(claims)}`;
  const signature = await crypto.subtle.sign('RSASSA-PKCS1-v1_5', key, Buffer.from(input));
  return `${input}.${Buffer.from(signature).toString('base64url')}`;
}

/** A good token of alice with some claims or header members changed; `undefined` leaves a member out. */
async function changed(claims: Claims, header: Claims = {}): Promise<string> {
  const [goodHeader, goodClaims] = partsOf(token);
  return signed({ ...goodHeader, ...header }, { ...goodClaims, ...claims });
}

const verify = (text: string): Verification => server.verifier.verify(text);
const INVALID = { fault: 'invalid' };

describe('an access token of ours', () => {
  test('has the header and the claims of the contract, in their order', () => {
    const [header, claims] = partsOf(token);
    expect(Object.entries(header).map(([name, value]) => `${name}=${String(value)}`)).toEqual([
      'alg=RS256',
      'typ=at+jwt',
      `kid=${server.keys.publicKeys()[0]?.kid}`,
    ]);
    expect(claims).toEqual({
      iss: 'https://gatehouse.example.com/oauth',
      sub: 'alice',
      aud: ['https://gatehouse.example.com/oauth'],
      client_id: 'console',
      exp: now() + 7200,
      iat: now(),
      jti: expect.stringMatching(/^[\w-]{22}$/),
      sid: expect.stringMatching(/^[\w-]{8}\.[\w-]{14}$/),
      token_type: 'access_token',
      username: 'alice',
      pwd: expect.stringMatching(/^[\w-]{11}$/),
      groups: ['developers'],
    });
  });

  test('says of a user without a first password what the annotation says, in 64 characters at most', async () => {
    const test = await newTestServer();
    const said = async (uninitialized: string): Promise<unknown[]> => {
      test.users.set('alice', { ...(test.users.get('alice') as User), isObject: true, uninitialized });
      const pair = await signInAlice(test);
      return [pair.access_token, pair.refresh_token].map((text) => partsOf(text)[1]['extra']);
    };
    expect(await said('true')).toEqual([{ uninitialized: ['true'] }, undefined]);
    expect(await said('x'.repeat(5000))).toEqual([{ uninitialized: ['x'.repeat(64)] }, undefined]);
  });

  test('is good for an independent library with the published keys', async () => {
    const jwks = JSON.parse(server.server.keys().body.toString());
    const result = await jwtVerify(token, createLocalJWKSet(jwks), {
      issuer: 'https://gatehouse.example.com/oauth',
      audience: 'https://gatehouse.example.com/oauth',
      typ: 'at+jwt',
      currentDate: new Date(server.clock.now()),
    });
    expect(result.payload.sub).toBe('alice');
  });

  test('A-31 identifies its user with today’s groups, never those of the cluster itself', () => {
    const identity = {
      name: 'alice',
      uid: 'uid-of-alice',
      groups: ['developers', 'system:authenticated'],
      clientId: 'console',
      sid: partsOf(token)[1]['sid'],
      withheldGroups: ['system:masters'],
    };
    expect(verify(token)).toMatchObject({ identity });
    expect(verify(token)).toEqual({ identity, cached: true });
  });

  test('identifies its user by one object, until the user changes', async () => {
    const test = await newTestServer();
    const { access_token: text } = await signInAlice(test);
    const identity = (): unknown => {
      const verification = test.verifier.verify(text);
      return 'identity' in verification && verification.identity;
    };
    const first = identity();
    expect(identity()).toBe(first);
    test.users.set('alice', { ...(test.users.get('alice') as User), groups: ['auditors'] });
    const { withheldGroups: _, ...kept } = first as { withheldGroups: unknown };
    expect(identity()).toEqual({ ...kept, groups: ['auditors', 'system:authenticated'] });
  });

  test.each([1, 4, 5, 8, 9, 300])('identifies its user with all of %i groups, in their order', async (count) => {
    const test = await newTestServer();
    const groups = Array.from({ length: count }, (_, index) => `group-number-${index}`);
    test.users.set('alice', { ...(test.users.get('alice') as User), groups });
    const { access_token: text } = await signInAlice(test);
    for (const cached of [false, true]) {
      const verification = test.verifier.verify(text);
      expect(verification).toMatchObject({ cached, identity: { groups: [...groups, 'system:authenticated'] } });
    }
  });

  test('N-17 leaves the groups out when it would pass 2 KiB with them', async () => {
    const test = await newTestServer();
    const alice = test.users.get('alice');
    if (!alice) throw new Error('alice is missing');
    test.users.set('alice', { ...alice, groups: Array.from({ length: 100 }, (_, index) => `group-number-${index}`) });
    const answer = await signInAlice(test);
    expect(answer.access_token.length).toBeLessThanOrEqual(2048);
    expect(answer.refresh_token.length).toBeLessThanOrEqual(2048);
    expect('groups' in partsOf(answer.access_token)[1]).toBe(false);
    test.users.set('alice', { ...alice, groups: [] });
    expect(partsOf((await signInAlice(test)).access_token)[1]['groups']).toEqual([]);
  });

  test('N-17 keeps the groups in a token of 2 KiB to the letter', async () => {
    const test = await newTestServer();
    const signInWith = async (groupLength: number): Promise<string> => {
      test.users.set('alice', { ...(test.users.get('alice') as User), groups: ['g'.repeat(groupLength)] });
      return (await signInAlice(test)).access_token;
    };
    const [header = '', claims = '', signature = ''] = (await signInWith(1)).split('.');
    const bytesThatFit = Math.floor(((2048 - header.length - signature.length - 2) * 3) / 4);
    const longest = 1 + bytesThatFit - Buffer.from(claims, 'base64url').length;
    const [fits, over] = [await signInWith(longest), await signInWith(longest + 1)];
    expect([fits.length, 'groups' in partsOf(fits)[1]]).toEqual([2048, true]);
    expect('groups' in partsOf(over)[1]).toBe(false);
  });
});

describe('verification', () => {
  test('N-33 refuses other characters', () => {
    expect(verify('a b')).toEqual(INVALID);
    expect(verify('ü')).toEqual(INVALID);
    expect(verify('')).toEqual(INVALID);
    expect(verify('a'.repeat(100_000))).toEqual(INVALID);
  });

  test('N-33 refuses 8 KiB and a character, signed or not, and takes what is shorter', async () => {
    const padded = (length: number): Promise<string> => changed({ pad: 'x'.repeat(length) });
    const [fits, over] = [await padded(5_000), await padded(5_900)];
    expect([fits.length < 8_192, over.length > 8_192, over.length < 9_000]).toEqual([true, true, true]);
    expect(verify(fits)).toHaveProperty('identity');
    expect(verify(over)).toEqual(INVALID);
  });

  test.each(['none', 'NoNe', 'HS256', 'PS256', 'ES256', 'RS512'])('N-34 A-16 refuses alg %s', async (alg) => {
    expect(verify(await changed({}, { alg }))).toEqual(INVALID);
  });

  test('N-34 refuses an HMAC made with the public key, and an empty signature', () => {
    const [, claims] = partsOf(token);
    const { n = '' } = server.keys.publicKeys()[0] ?? {};
    const input = `${part({ alg: 'HS256', typ: 'at+jwt', kid: server.keys.publicKeys()[0]?.kid })}.${part(claims)}`;
    expect(verify(`${input}.${createHmac('sha256', n).update(input).digest('base64url')}`)).toEqual(INVALID);
    expect(verify(token.slice(0, token.lastIndexOf('.') + 1))).toEqual(INVALID);
  });

  test.each<[string, Claims]>([
    ['iss with a slash', { iss: 'https://gatehouse.example.com/oauth/' }],
    ['foreign iss', { iss: 'https://other.example.com/oauth' }],
    ['foreign aud', { aud: ['https://other.example.com'] }],
    ['aud as text', { aud: 'https://gatehouse.example.com/oauth' }],
    ['empty aud', { aud: [] }],
    ['refresh token_type', { token_type: 'refresh_token' }],
    ['no token_type', { token_type: undefined }],
  ])('N-35 N-36 refuses %s', async (_, claims) => {
    expect(verify(await changed(claims))).toEqual(INVALID);
  });

  test.each(['iss', 'exp', 'aud', 'sub', 'client_id', 'iat', 'jti', 'sid'])(
    'N-38 refuses a token without %s',
    async (name) => {
      expect(verify(await changed({ [name]: undefined }))).toEqual(INVALID);
    },
  );

  test.each<[string, Claims]>([
    ['exp as text', { exp: '1893456000' }],
    ['a fraction', { exp: 1893456000.5 }],
    ['a negative iat', { iat: -1 }],
    ['nbf as text', { nbf: '1' }],
    ['sub as number', { sub: 1 }],
    ['pwd as number', { pwd: 1 }],
  ])('N-37 N-38 refuses %s', async (_, claims) => {
    expect(verify(await changed(claims))).toEqual(INVALID);
  });

  test('N-37 refuses exp 1e400', async () => {
    const [header, claims] = partsOf(token);
    const text = JSON.stringify(claims).replace(/"exp":\d+/, '"exp":1e400');
    expect(verify(await signed(header, text))).toEqual(INVALID);
  });

  test('says of a bad token the same each time: only good ones are remembered', async () => {
    const [expired, early] = [await changed({ exp: now() - 11 }), await changed({ iat: now() + 11 })];
    for (const _ of ['first', 'second']) {
      expect(verify(expired)).toEqual({ fault: 'expired' });
      expect(verify(early)).toEqual({ fault: 'not_yet_valid' });
    }
  });

  test('N-37 takes 9 s of skew and refuses 11 s, at exp, iat and nbf', async () => {
    expect(verify(await changed({ exp: now() - 9 }))).toHaveProperty('identity');
    expect(verify(await changed({ exp: now() - 11 }))).toEqual({ fault: 'expired' });
    expect(verify(await changed({ iat: now() + 9 }))).toHaveProperty('identity');
    expect(verify(await changed({ iat: now() + 11 }))).toEqual({ fault: 'not_yet_valid' });
    expect(verify(await changed({ nbf: now() + 9 }))).toHaveProperty('identity');
    expect(verify(await changed({ nbf: now() + 11 }))).toEqual({ fault: 'not_yet_valid' });
  });

  test.each<[string, Claims]>([
    ['an unknown kid', { kid: 'unknown' }],
    ['a path as kid', { kid: '../../etc/passwd' }],
    ['SQL as kid', { kid: "' OR 1=1 --" }],
    ['NUL in the kid', { kid: 'a\0' }],
    ['an array as kid', { kid: ['a'] }],
    ['a property name as kid', { kid: '__proto__' }],
    ['no kid', { kid: undefined }],
    ['typ JWT', { typ: 'JWT' }],
    ['typ of refresh tokens', { typ: 'rt+jwt' }],
    ['no typ', { typ: undefined }],
    ['jku', { jku: 'http://127.0.0.1:1/keys' }],
    ['jwk', { jwk: {} }],
    ['x5c', { x5c: [] }],
    ['x5u', { x5u: 'http://127.0.0.1:1/' }],
    ['crit', { crit: ['x'] }],
    ['b64', { b64: false, crit: ['b64'] }],
    ['zip', { zip: 'DEF' }],
    ['a harmless member more', { cty: 'JWT' }],
  ])('N-39 N-40 A-17 A-18 refuses a header with %s', async (_, header) => {
    expect(verify(await changed({}, header))).toEqual(INVALID);
  });

  test('takes typ as the full media type', async () => {
    expect(verify(await changed({}, { typ: 'application/at+jwt' }))).toHaveProperty('identity');
  });

  test('N-41 A-19 refuses every other text of a good token', () => {
    const [header, claims, signature] = token.split('.') as [string, string, string];
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    // 256 bytes leave four unused bits in the last character: any of them changed decodes to the same bytes.
    const last = alphabet[alphabet.indexOf(signature.at(-1) ?? '') ^ 1];
    const other = [
      `${token}=`,
      `${token}\n`,
      `${token} `,
      `${header}.${claims}.${signature.slice(0, -1)}${last}`,
      `${header}..${signature}`,
      `${token}.`,
      `${token}.${signature}.`,
      `.${token}`,
      `${header}=.${claims}.${signature}`,
      token.replaceAll('-', '+').replaceAll('_', '/'),
      JSON.stringify({ payload: claims, protected: header, signature }),
    ];
    // One token in fifty thousand has neither - nor _ to be replaced.
    for (const text of other.filter((one) => one !== token)) expect([text, verify(text)]).toEqual([text, INVALID]);
  });

  test('A-20 A-21 refuses deep nesting and encrypted forms at once', async () => {
    const [header] = partsOf(token);
    expect(verify(await signed(header, `{"a":${'['.repeat(2000)}${']'.repeat(2000)}}`))).toEqual(INVALID);
    expect(verify(`${part({ alg: 'RSA-OAEP', enc: 'A256GCM' })}.a.b.c.d`)).toEqual(INVALID);
  });

  test.each([
    ['a repeated sub', '{"sub":"alice",'],
    ['a sub repeated with an escape', '{"\\u0073ub":"alice",'],
    ['a repeated name deeper down', '{"deep":[{"a":1,"a":2}],'],
  ])('N-42 refuses %s, though correctly signed', async (_, start) => {
    const [header, claims] = partsOf(token);
    expect(verify(await signed(header, `${start}${JSON.stringify(claims).slice(1)}`))).toEqual(INVALID);
  });

  test('A-23 is not fooled by a member named __proto__', async () => {
    const [header, claims] = partsOf(token);
    const { sub: _, ...rest } = claims;
    const text = JSON.stringify(rest).replace('{', '{"__proto__":{"sub":"alice"},');
    expect(verify(await signed(header, text))).toEqual(INVALID);
  });

  test('N-42 refuses claims that are no object, not JSON or not UTF-8', async () => {
    const [header] = partsOf(token);
    for (const claims of ['[]', 'null', '1', '"a"', '{', `{"a":"\\x"}`, '\uFEFF{}'])
      expect(verify(await signed(header, claims))).toEqual(INVALID);
  });

  test('refuses a token of a key of somebody else under our kid', async () => {
    const [header, claims] = partsOf(token);
    const { privateKey } = await crypto.subtle.generateKey(
      { name: 'RSASSA-PKCS1-v1_5', modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' },
      true,
      ['sign', 'verify'],
    );
    const foreign = await new SignJWT(claims).setProtectedHeader(header as { alg: string }).sign(privateKey);
    expect(verify(foreign)).toEqual(INVALID);
  });

  test('N-36 refuses a refresh token as a bearer', async () => {
    expect(verify((await signInAlice(server)).refresh_token)).toEqual(INVALID);
  });

  // Whoever is let in by `authentication.serviceAccountTokens` is judged by the cluster, never here: the row holds without
  // exception in this verifier, and for every bearer where that setting is off, as it is by default.
  test('N-36 refuses a service account token, though it says our audience', async () => {
    const sub = 'system:serviceaccount:shop:robot';
    const [, { aud }] = partsOf(token) as [Claims, Claims];
    const claims = { iss: 'https://kubernetes.default.svc', sub, aud, exp: now() + 600, iat: now() };
    const { keys } = server;
    expect(verify(await signed({ alg: 'RS256', kid: keys.publicKeys()[0]?.kid }, claims))).toEqual(INVALID);
    expect(verify(await changed(claims))).toEqual(INVALID);
  });

  test.each<[string, (test: TestServer) => unknown]>([
    ['there are no keys', ({ secrets }) => Object.assign(secrets.proof, neverProven())],
    ['the session records are not known', ({ sessions }) => Object.assign(sessions, { unknown: 'not loaded' })],
    ['not every user is known', ({ missing }) => Object.assign(missing, { users: 'not read yet' })],
  ])('C-38 fails as unavailable, for good tokens and bad, while %s', async (_, miss) => {
    const test = await newTestServer();
    const { access_token } = await signInAlice(test);
    miss(test);
    for (const token of [access_token, 'a.b.c'])
      expect(() => test.verifier.verify(token)).toThrow('tokens cannot be verified now');
  });

  test.each<[string, (test: TestServer) => unknown]>([
    ['signing keys', ({ secrets, clock }) => setBack(secrets.proof, clock)],
    ['sessions', ({ sessions, clock }) => setBack(sessions.proof, clock)],
    ['users', ({ missing, clock }) => setBack(missing.proof, clock)],
  ])('C-38 names what is too old, and the limit, for good tokens and bad: %s', async (data, age) => {
    const test = await newTestServer();
    const { access_token } = await signInAlice(test);
    age(test);
    for (const token of [access_token, 'a.b.c'])
      expect(() => test.verifier.verify(token)).toThrow(
        new DataTooOld(`${data} are not available: data is older than 10m0s`),
      );
  });

  test('keys are judged by at the limit of their age', async () => {
    const test = await newTestServer();
    const { access_token } = await signInAlice(test);
    test.secrets.proof.at = test.clock.monotonic() - 600_000;
    expect(test.verifier.verify(access_token)).toMatchObject({ identity: { name: 'alice' } });
  });
});

describe('a verified token', () => {
  test('is refused once it has expired', async () => {
    const test = await newTestServer();
    const { access_token } = await signInAlice(test);
    expect(test.verifier.verify(access_token)).toMatchObject({ cached: false });
    await test.clock.advance(7209_000);
    expect(test.verifier.verify(access_token)).toMatchObject({ cached: true });
    await test.clock.advance(1000);
    expect(test.verifier.verify(access_token)).toEqual({ fault: 'expired' });
  });

  test('is refused once its user is disabled, deleted or has another password; a throttle leaves it alone', async () => {
    const test = await newTestServer();
    const { access_token } = await signInAlice(test);
    const alice = test.users.get('alice');
    if (!alice) throw new Error('alice is missing');
    test.verifier.verify(access_token);
    const results = (['Disabled', 'AuthLimitExceeded'] as const).map((state) => {
      test.users.set('alice', { ...alice, state });
      return 'fault' in test.verifier.verify(access_token);
    });
    expect(results).toEqual([true, false]);
    test.users.set('alice', { ...alice, passwordHash: `$2b$10$${'b'.repeat(53)}` });
    expect(test.verifier.verify(access_token)).toEqual({ fault: 'revoked' });
    test.users.delete('alice');
    expect(test.verifier.verify(access_token)).toEqual({ fault: 'revoked' });
  });

  test('is refused once its key is revoked', async () => {
    const test = await newTestServer();
    const { access_token } = await signInAlice(test);
    test.verifier.verify(access_token);
    const data = test.secrets.stored.get(KEYS_SECRET)?.data ?? {};
    const { newKeyData } = await import('../../../../src/oauth/keys/signing-key-data.ts');
    const { systemRandom } = await import('../../../../src/runtime/random.ts');
    const other = await newKeyData(test.clock.now(), systemRandom);
    const [mine, others] = [data, other].map((one) => JSON.parse(one['keys.json']?.toString() ?? '').keys[0]);
    const keys = [{ ...mine, state: 'revoked' }, others];
    test.secrets.put(KEYS_SECRET, { ...data, 'keys.json': Buffer.from(JSON.stringify({ keys })) });
    await until(() => test.keys.publicKeys()[0]?.kid !== partsOf(access_token)[0]['kid']);
    expect(test.verifier.verify(access_token)).toEqual({ fault: 'invalid' });
  });

  test('counts verifications by result', async () => {
    const test = await newTestServer();
    const { access_token } = await signInAlice(test);
    test.verifier.verify(access_token);
    test.verifier.verify(access_token);
    test.verifier.verify('garbage');
    const counts = await countedBy(test.registry, 'gatehouse_token_verifications_total', 'result');
    expect(counts).toEqual({ ok: 1, cached: 1, invalid: 1 });
  });
});
