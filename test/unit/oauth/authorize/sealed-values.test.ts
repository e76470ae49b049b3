import { EncryptJWT, jwtDecrypt } from 'jose';
import { describe, expect, test } from 'vitest';
import { createSealedValues } from '../../../../src/oauth/authorize/sealed-values.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const TYP = 'made-up+jwe';
const VALUE = { text: 'Grüße', list: [1, 2, 3] };
const LIFE = 60;

/** Sealed values under the key of the name `k1`, and what else a test needs. */
function newValues({ typ = TYP, fill = 1 }: { typ?: string; fill?: number } = {}) {
  const clock = new FakeClock();
  const key = new Uint8Array(32).fill(fill);
  const keyOf = (kid = 'k1') => (kid === 'k1' ? { kid, key } : undefined);
  return { clock, key, values: createSealedValues<typeof VALUE>(typ, { clock, key: keyOf }) };
}

/** The texts that differ from this one in one character. */
const variants = (text: string): string[] =>
  [...text].map((character, at) => `${text.slice(0, at)}${character === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`);

describe('a sealed value', () => {
  test('B-20 is opened until its end', async () => {
    const { clock, values } = newValues();
    const sealed = values.seal(VALUE, LIFE);
    expect(values.open(sealed)).toEqual(VALUE);
    await clock.advance(LIFE * 1_000 - 1);
    expect(values.open(sealed)).toEqual(VALUE);
    await clock.advance(1);
    expect(values.open(sealed)).toBeUndefined();
  });

  test('R-02 is sealed and opened at once, without the thread pool, where it could queue behind password hashes', () => {
    const { values } = newValues();
    const sealed: unknown = values.seal(VALUE, LIFE);
    expect(sealed).toEqual(expect.any(String));
    expect(values.open(sealed as string)).toEqual(VALUE);
  });

  test('B-40 is a JWE that jose opens, and the other way round', async () => {
    const { clock, key, values } = newValues();
    const currentDate = new Date(clock.now());
    const opened = await jwtDecrypt(values.seal(VALUE, LIFE), key, { typ: TYP, currentDate });
    expect(opened.protectedHeader).toEqual({ alg: 'dir', enc: 'A256GCM', typ: TYP, kid: 'k1' });
    expect(opened.payload).toEqual({ value: VALUE, exp: clock.now() / 1_000 + LIFE });
    const theirs = await new EncryptJWT({ value: VALUE })
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', typ: TYP, kid: 'k1' })
      .setExpirationTime(clock.now() / 1_000 + LIFE)
      .encrypt(key);
    expect(values.open(theirs)).toEqual(VALUE);
  });

  test('B-20 has another text each time', () => {
    const { values } = newValues();
    expect(values.seal(VALUE, LIFE)).not.toBe(values.seal(VALUE, LIFE));
  });

  test('B-20 is not opened after any change of a character, nor cut short', () => {
    const { values } = newValues();
    const sealed = values.seal(VALUE, LIFE);
    for (const changed of variants(sealed)) expect(values.open(changed)).toBeUndefined();
    for (let length = 0; length < sealed.length; length++) expect(values.open(sealed.slice(0, length))).toBeUndefined();
    expect(values.open(`${sealed}A`)).toBeUndefined();
  });

  test('B-20 has one text: its last characters cannot be written in another way', () => {
    const { values } = newValues();
    const sealed = values.seal(VALUE, LIFE);
    const last = sealed.at(-1) ?? '';
    // The 22 characters of the tag have four bits more than its 16 bytes.
    const spellings = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'];
    const opened = spellings.filter((one) => values.open(sealed.slice(0, -1) + one) !== undefined);
    expect(opened).toEqual([last]);
  });

  test('B-20 is not opened as one of another purpose, under another key, or by a key that nobody has', () => {
    const { values, key } = newValues();
    expect(newValues({ typ: 'another+jwe' }).values.open(values.seal(VALUE, LIFE))).toBeUndefined();
    expect(newValues({ fill: 2 }).values.open(values.seal(VALUE, LIFE))).toBeUndefined();
    const clock = new FakeClock();
    const others = createSealedValues<typeof VALUE>(TYP, { clock, key: () => ({ kid: 'k2', key }) });
    expect(values.open(others.seal(VALUE, LIFE))).toBeUndefined();
  });

  test.each([
    ['another algorithm', { alg: 'dir', enc: 'A128CBC-HS256', typ: TYP, kid: 'k1' }, 32],
    ['no purpose', { alg: 'dir', enc: 'A256GCM', kid: 'k1' }, 32],
    ['no name of a key', { alg: 'dir', enc: 'A256GCM', typ: TYP }, 32],
    ['a longer header', { alg: 'dir', enc: 'A256GCM', typ: TYP, kid: 'k1', cty: 'JWT' }, 32],
  ] as const)('B-20 is not opened with %s in its header', async (_, header, bytes) => {
    const { clock, key, values } = newValues();
    const text = await new EncryptJWT({ value: VALUE })
      .setProtectedHeader(header)
      .setExpirationTime(clock.now() / 1_000 + LIFE)
      .encrypt(key.subarray(0, bytes));
    expect(values.open(text)).toBeUndefined();
  });

  test('B-20 is not opened without an end', async () => {
    const { key, values } = newValues();
    const header = { alg: 'dir', enc: 'A256GCM', typ: TYP, kid: 'k1' };
    const text = await new EncryptJWT({ value: VALUE }).setProtectedHeader(header).encrypt(key);
    expect(values.open(text)).toBeUndefined();
  });

  test('C-38 cannot be made without a key: 503', () => {
    const values = createSealedValues(TYP, { clock: new FakeClock(), key: () => undefined });
    expect(() => values.seal(VALUE, LIFE)).toThrow('nobody can sign in now');
  });
});
