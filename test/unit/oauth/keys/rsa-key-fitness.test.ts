import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import type { JWK } from 'jose';
import { describe, expect, test } from 'vitest';
import { isFitForRs256 } from '../../../../src/oauth/keys/signing-key-data.ts';

const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const jwk = publicKey.export({ format: 'jwk' }) as JWK;

const toBase64Url = (value: bigint): string =>
  Buffer.from(value.toString(16).padStart(2 * Math.ceil(value.toString(16).length / 2), '0'), 'hex').toString(
    'base64url',
  );

/** A modulus as the weak library's were: a power of 65537 modulo the product of the first primes. Nobody has its factors. */
function rocaModulus(): bigint {
  let product = 1n;
  for (let number = 2n; number <= 701n; number++) {
    let isPrime = true;
    for (let divisor = 2n; divisor * divisor <= number; divisor++) if (number % divisor === 0n) isPrime = false;
    if (isPrime) product *= number;
  }
  const power = 65537n ** 12n % product;
  return (((1n << 2047n) / product) * 2n - 1n) * product + power;
}

const isFit = (change: Partial<JWK>): boolean => {
  const changed = { ...jwk, ...change };
  const { n, e } = changed as { n: string; e: string };
  return isFitForRs256(changed, createPublicKey({ key: { kty: 'RSA', n, e }, format: 'jwk' }));
};

describe('a key that is read', () => {
  test('is taken when it says nothing of its use, or names ours', () => {
    expect(isFit({})).toBe(true);
    expect(isFit({ use: 'sig', alg: 'RS256', key_ops: ['verify'] })).toBe(true);
    expect(isFit({ key_ops: ['sign'] })).toBe(true);
  });

  test.each<[string, Partial<JWK>]>([
    ['another use', { use: 'enc' }],
    ['another algorithm', { alg: 'PS256' }],
    ['other operations', { key_ops: ['encrypt', 'wrapKey'] }],
    ['the exponent 1', { e: 'AQ' }],
    ['the exponent 3', { e: 'Aw' }],
  ])('N-43 is refused with %s', (_, change) => {
    expect(isFit(change)).toBe(false);
  });

  test('N-43 is refused when its modulus is short, or absurdly long', () => {
    const keyOf = (modulusLength: number) => generateKeyPairSync('rsa', { modulusLength }).publicKey;
    expect(isFitForRs256({}, keyOf(1024))).toBe(false);
    const ofBits = (bits: bigint): boolean => isFit({ n: toBase64Url((1n << (bits - 1n)) + 1n) });
    expect([2047n, 2048n, 8192n, 8193n].map(ofBits)).toEqual([false, true, true, false]);
  });

  test('N-43 is refused when its modulus has the form of CVE-2017-15361', () => {
    const modulus = rocaModulus();
    expect(modulus.toString(2).length).toBeGreaterThanOrEqual(2048);
    expect(isFit({ n: toBase64Url(modulus) })).toBe(false);
    expect(isFit({ n: toBase64Url(modulus + 2n) })).toBe(true);
  });
});
