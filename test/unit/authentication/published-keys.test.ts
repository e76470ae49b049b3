import { createHook } from 'node:async_hooks';
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { type TokenAlgorithm, TokenKey } from '../../../dev/cluster/token-keys.ts';
import { isSignedByOne, parsePublishedKeys } from '../../../src/authentication/cluster-keys.ts';
import { parseCompactJws, toJwsPart } from '../../../src/oauth/tokens/compact-jws.ts';

const ALGORITHMS: readonly TokenAlgorithm[] = ['RS256', 'ES256', 'ES384', 'ES512'];
const CLAIMS = { iss: 'https://kubernetes.default.svc', sub: 'system:serviceaccount:a:b' };
const keys = new Map(ALGORITHMS.map((alg) => [alg, new TokenKey(alg)]));
const keyOf = (alg: TokenAlgorithm): TokenKey => keys.get(alg)!;
const all = { keys: [...keys.values()].map(({ jwk }) => jwk) };

/** Whether a set takes a token. */
const takes = async (token: string, set: object = all): Promise<boolean | undefined> => {
  const answer = isSignedByOne(parsePublishedKeys(set)!, parseCompactJws(token)!);
  return typeof answer === 'function' ? answer() : answer;
};

/** The token with another header, under the same signature. */
const withHeader = (token: string, header: object): string =>
  [toJwsPart(header), ...token.split('.').slice(1)].join('.');

const signedAs = (header: object, { key, hash }: { readonly key: KeyObject; readonly hash: string }): string => {
  const input = `${toJwsPart(header)}.${toJwsPart(CLAIMS)}`;
  return `${input}.${sign(hash, Buffer.from(input), key).toString('base64url')}`;
};

describe.each(ALGORITHMS)('a token under %s', (alg) => {
  const key = keyOf(alg);
  const token = key.sign(CLAIMS);
  const [header, payload, signature = ''] = token.split('.');

  test('is signed by the key that it names', async () => {
    expect(await takes(token)).toBe(true);
  });

  test('is not, when a bit of the signature or a claim is another', async () => {
    const bytes = Buffer.from(signature, 'base64url');
    bytes[3]! ^= 1;
    expect(await takes(`${header}.${payload}.${bytes.toString('base64url')}`)).toBe(false);
    expect(await takes(`${header}.${toJwsPart({ ...CLAIMS, sub: 'system:serviceaccount:a:c' })}.${signature}`)).toBe(
      false,
    );
  });

  test.each([0, 1, 31, 63, 65, 255, 257, 1_000])('is not, with a signature of %i bytes', async (length) => {
    expect(await takes(`${header}.${payload}.${Buffer.alloc(length || 1, 1).toString('base64url')}`)).toBe(false);
  });

  test('is not, when its header names another algorithm or none', async () => {
    for (const other of [
      ...ALGORITHMS.filter((one) => one !== alg),
      'none',
      'HS256',
      'PS256',
      alg.toLowerCase(),
      undefined,
    ])
      expect(await takes(withHeader(token, { alg: other, kid: key.kid }))).toBe(false);
  });

  test('is not, under the name of another key', async () => {
    for (const other of ALGORITHMS.filter((one) => one !== alg))
      expect(await takes(withHeader(token, { alg, kid: keyOf(other).kid }))).toBe(false);
  });

  test('is of an unknown key, when no key has the name', async () => {
    expect(await takes(withHeader(token, { alg, kid: 'unknown' }))).toBeUndefined();
    expect(await takes(withHeader(token, { alg, kid: '__proto__' }))).toBeUndefined();
  });

  test('is not, without a name that is text', async () => {
    for (const kid of [undefined, null, 1, [key.kid]]) expect(await takes(withHeader(token, { alg, kid }))).toBe(false);
  });
});

describe('a signature that takes milliseconds', () => {
  const huge = { kty: 'RSA', kid: 'huge', n: Buffer.alloc(1024, 0xff).toString('base64url'), e: 'AQAB' };
  const set = { keys: [...all.keys, huge] };
  const answerTo = (token: string) => isSignedByOne(parsePublishedKeys(set)!, parseCompactJws(token)!);

  test('is verified in the thread pool: by the two large curves, and by RSA of more than 4096 bits', async () => {
    const begun: string[] = [];
    const hook = createHook({ init: (_, type) => void begun.push(type) }).enable();
    try {
      for (const alg of ['ES384', 'ES512'] as const) {
        const answer = answerTo(keyOf(alg).sign(CLAIMS));
        begun.length = 0;
        expect([typeof answer, await (answer as () => Promise<boolean>)()]).toEqual(['function', true]);
        expect(begun).toContain('SIGNREQUEST');
      }
    } finally {
      hook.disable();
    }
    const ofHuge = withHeader(keyOf('RS256').sign(CLAIMS), { alg: 'RS256', kid: 'huge' });
    expect(await (answerTo(ofHuge) as () => Promise<boolean>)()).toBe(false);
  });

  test('is none by RSA of 2048 bits and by P-256: they are verified at once', () => {
    for (const alg of ['RS256', 'ES256'] as const) expect(answerTo(keyOf(alg).sign(CLAIMS))).toBe(true);
  });
});

describe('a set of keys', () => {
  test('is none without a list that has one usable key', () => {
    for (const document of [undefined, null, [], 'keys', {}, { keys: {} }, { keys: [] }, { keys: [null, 1, {}] }])
      expect(parsePublishedKeys(document)).toBeUndefined();
  });

  const rsa = keyOf('RS256').jwk as Record<string, unknown>;
  const curve = keyOf('ES256').jwk as Record<string, unknown>;
  const weak = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ format: 'jwk' });
  const edwards = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
  test.each<[string, object]>([
    ['is RSA for another algorithm', { ...rsa, alg: 'RS512' }],
    ['is RSA for encryption', { ...rsa, use: 'enc' }],
    ['is RSA of 1024 bits', { ...weak, kid: 'k' }],
    ['is RSA without a modulus', { ...rsa, n: undefined }],
    ['is a curve for another algorithm', { ...curve, alg: 'ES384' }],
    ['is a curve for encryption', { ...curve, use: 'enc' }],
    ['is a point beside its curve', { ...curve, x: curve['y'] }],
    ['is a curve that no algorithm has', { ...curve, crv: 'secp256k1' }],
    ['is a curve by the name of a method', { ...curve, crv: 'toString' }],
    ['is a curve that says another type', { ...curve, kty: 'OKP' }],
    ['is of another type', { ...edwards, kid: 'k', use: 'sig', alg: 'EdDSA' }],
    ['is a secret', { kty: 'oct', kid: 'k', alg: 'HS256', k: 'c2VjcmV0' }],
    ['has no name', { ...rsa, kid: undefined }],
    ['has a name that is no text', { ...rsa, kid: 1 }],
  ])('leaves out, and names, a key that %s', (_, jwk) => {
    const { kid } = jwk as { kid?: unknown };
    const set = parsePublishedKeys({ keys: [jwk, keyOf('ES512').jwk] });
    expect([[...set!.keys.keys()], set?.unfit]).toEqual([[keyOf('ES512').kid], [String(kid)]]);
  });

  test('takes a key that does not say what it is for', async () => {
    const { use: _, alg: __, ...plain } = rsa;
    expect(await takes(keyOf('RS256').sign(CLAIMS), { keys: [plain] })).toBe(true);
    const { use: _use, alg: _alg, ...plainCurve } = keyOf('ES512').jwk as Record<string, unknown>;
    expect(await takes(keyOf('ES512').sign(CLAIMS), { keys: [plainCurve] })).toBe(true);
  });

  test('takes a key that is listed twice, and the first of two with one name', async () => {
    expect(parsePublishedKeys({ keys: [rsa, rsa] })?.unfit).toEqual([]);
    const set = { keys: [rsa, { ...curve, kid: rsa['kid'] }] };
    expect(parsePublishedKeys(set)?.unfit).toEqual([rsa['kid']]);
    expect(await takes(keyOf('RS256').sign(CLAIMS), set)).toBe(true);
  });

  test('verifies by the key’s own algorithm: another in the header is refused, however it is signed', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const set = { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k' }] };
    const takesUnder = (alg: string, hash: string): Promise<boolean | undefined> =>
      takes(signedAs({ alg, kid: 'k' }, { key: privateKey, hash }), set);
    expect(await takesUnder('RS256', 'sha256')).toBe(true);
    for (const [alg, hash] of [
      ['RS512', 'sha512'],
      ['RS512', 'sha256'],
      ['PS256', 'sha256'],
      ['none', 'sha256'],
    ] as const)
      expect(await takesUnder(alg, hash)).toBe(false);
  });
});
