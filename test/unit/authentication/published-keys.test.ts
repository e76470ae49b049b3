import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { type TokenAlgorithm, TokenKey } from '../../../dev/cluster/token-keys.ts';
import { isSignedByOne, parsePublishedKeys } from '../../../src/authentication/published-keys.ts';
import { parseCompactJws, toJwsPart } from '../../../src/oauth/compact-jws.ts';

const ALGORITHMS: readonly TokenAlgorithm[] = ['RS256', 'ES256', 'ES384', 'ES512'];
const CLAIMS = { iss: 'https://kubernetes.default.svc', sub: 'system:serviceaccount:a:b' };
const keys = new Map(ALGORITHMS.map((alg) => [alg, new TokenKey(alg)]));
const keyOf = (alg: TokenAlgorithm): TokenKey => keys.get(alg)!;
const all = { keys: [...keys.values()].map(({ jwk }) => jwk) };

/** Whether a set takes a token. */
const takes = (token: string, set: object = all): boolean | undefined =>
  isSignedByOne(parsePublishedKeys(set)!, parseCompactJws(token)!);

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

  test('is signed by the key that it names', () => {
    expect(takes(token)).toBe(true);
  });

  test('is not, when a bit of the signature or a claim is another', () => {
    const bytes = Buffer.from(signature, 'base64url');
    bytes[3]! ^= 1;
    expect(takes(`${header}.${payload}.${bytes.toString('base64url')}`)).toBe(false);
    expect(takes(`${header}.${toJwsPart({ ...CLAIMS, sub: 'system:serviceaccount:a:c' })}.${signature}`)).toBe(false);
  });

  test.each([0, 1, 31, 63, 65, 255, 257, 1_000])('is not, with a signature of %i bytes', (length) => {
    expect(takes(`${header}.${payload}.${Buffer.alloc(length || 1, 1).toString('base64url')}`)).toBe(false);
  });

  test('is not, when its header names another algorithm or none', () => {
    for (const other of [
      ...ALGORITHMS.filter((one) => one !== alg),
      'none',
      'HS256',
      'PS256',
      alg.toLowerCase(),
      undefined,
    ])
      expect(takes(withHeader(token, { alg: other, kid: key.kid }))).toBe(false);
  });

  test('is not, under the name of another key', () => {
    for (const other of ALGORITHMS.filter((one) => one !== alg))
      expect(takes(withHeader(token, { alg, kid: keyOf(other).kid }))).toBe(false);
  });

  test('is of an unknown key, when no key has the name', () => {
    expect(takes(withHeader(token, { alg, kid: 'unknown' }))).toBeUndefined();
    expect(takes(withHeader(token, { alg, kid: '__proto__' }))).toBeUndefined();
  });

  test('is not, without a name that is text', () => {
    for (const kid of [undefined, null, 1, [key.kid]]) expect(takes(withHeader(token, { alg, kid }))).toBe(false);
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
    ['is of another type', { ...edwards, kid: 'k', use: 'sig', alg: 'EdDSA' }],
    ['is a secret', { kty: 'oct', kid: 'k', alg: 'HS256', k: 'c2VjcmV0' }],
    ['has no name', { ...rsa, kid: undefined }],
    ['has a name that is no text', { ...rsa, kid: 1 }],
  ])('leaves out, and names, a key that %s', (_, jwk) => {
    const { kid } = jwk as { kid?: unknown };
    const set = parsePublishedKeys({ keys: [jwk, keyOf('ES512').jwk] });
    expect([[...set!.keys.keys()], set?.unfit]).toEqual([[keyOf('ES512').kid], [String(kid)]]);
  });

  test('takes a key that does not say what it is for', () => {
    const { use: _, alg: __, ...plain } = rsa;
    expect(takes(keyOf('RS256').sign(CLAIMS), { keys: [plain] })).toBe(true);
  });

  test('takes a key that is listed twice, and the first of two with one name', () => {
    expect(parsePublishedKeys({ keys: [rsa, rsa] })?.unfit).toEqual([]);
    const set = { keys: [rsa, { ...curve, kid: rsa['kid'] }] };
    expect(parsePublishedKeys(set)?.unfit).toEqual([rsa['kid']]);
    expect(takes(keyOf('RS256').sign(CLAIMS), set)).toBe(true);
  });

  test('verifies by the key’s own algorithm: another in the header is refused, however it is signed', () => {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const set = { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k' }] };
    const takesUnder = (alg: string, hash: string): boolean | undefined =>
      takes(signedAs({ alg, kid: 'k' }, { key: privateKey, hash }), set);
    expect(takesUnder('RS256', 'sha256')).toBe(true);
    for (const [alg, hash] of [
      ['RS512', 'sha512'],
      ['RS512', 'sha256'],
      ['PS256', 'sha256'],
      ['none', 'sha256'],
    ] as const)
      expect(takesUnder(alg, hash)).toBe(false);
  });
});
