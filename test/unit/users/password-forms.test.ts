import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { passwordFaults } from '../../../src/accounts/passwords/password-rules.ts';
import { createPasswordMetrics } from '../../../src/users/metrics.ts';
import { readNewPassword } from '../../../src/users/new-password.ts';
import { createPasswordCompare, dummyHash, hashPassword, libraryBcrypt } from '../../../src/users/password-hash.ts';
import type { User } from '../../../src/users/user.ts';

/** "Süßes-1", whose "ü" is one character, or "u" with an accent of its own as macOS writes it. */
const COMPOSED = 'S\u00fc\u00dfes-1';
const DECOMPOSED = 'Su\u0308\u00dfes-1';

const STORED = `$2b$11$${'a'.repeat(53)}`;
const DUMMY = dummyHash(11);

/** Only `right` is equal to the stored hash, and nothing to the dummy; each compare is noted. */
function newCompare(right: string) {
  const compared: (readonly [string, string])[] = [];
  const compare = createPasswordCompare(
    { cost: 11, maxCost: 12 },
    {
      events: { report: () => {} },
      duration: createPasswordMetrics(new Registry()).duration,
      bcrypt: {
        async compare(password, stored) {
          compared.push([password, stored]);
          return stored === STORED && password === right;
        },
      },
    },
  );
  return { compare, compared };
}

const userWith = (passwordHash: string): User => ({
  ...{ name: 'alice', uid: '1', groups: [], state: 'Active', passwordHash },
});

/** Whether a hash that was made of these very characters lets in somebody who types the others. */
const letsIn = (hashed: string, typed: string): Promise<boolean> => newCompare(hashed).compare(userWith(STORED), typed);

describe('a password that Unicode writes in several ways', () => {
  test.each([
    ['decomposed', COMPOSED, DECOMPOSED],
    ['composed', DECOMPOSED, COMPOSED],
    ['with Korean syllables as single letters', '\ud55c\uae00-Aa1', '\u1112\u1161\u11ab\u1100\u1173\u11af-Aa1'],
    ['with Korean syllables as such', '\u1112\u1161\u11ab\u1100\u1173\u11af-Aa1', '\ud55c\uae00-Aa1'],
    ['with accents in another order', 'a\u0323\u0307-Bb1', 'a\u0307\u0323-Bb1'],
    ['with one accent composed and one not', '\u00fc\u00e4-Aa1', '\u00fca\u0308-Aa1'],
    ['with the sign of a unit for the letter', '\u00c5-Aa1', '\u212b-Aa1'],
    ['decomposed, in more than 72 bytes', '\u00fc'.repeat(30), 'u\u0308'.repeat(30)],
  ])('signs in when it is typed %s', async (_, hashed, typed) => {
    expect(await letsIn(hashed, typed)).toBe(true);
  });

  test('signs in with a hash that another program made of exactly what is typed', async () => {
    for (const text of [COMPOSED, DECOMPOSED, '\u00fca\u0308-Aa1', '\u212b-Aa1'])
      expect(await letsIn(text, text)).toBe(true);
  });

  test.each([
    ['a letter without its accent', COMPOSED, 'Sus\u0308es-1'],
    ['a full-width letter', 'Aa-12345', '\uff21a-12345'],
    ['a ligature', 'Affe-123', 'A\ufb00e-123'],
    ['another case', COMPOSED, COMPOSED.toUpperCase()],
  ])('is not equal to %s, which is another text', async (_, hashed, typed) => {
    expect(await letsIn(hashed, typed)).toBe(false);
  });

  test.each([COMPOSED, DECOMPOSED, '\u00fca\u0308-Aa1', 'u\u0308'.repeat(30), '\u00fc'.repeat(36)])(
    'N-14 R-03 costs as many compares whoever types it, and whichever of them is equal (%#)',
    async (typed) => {
      const people = [undefined, userWith(STORED), userWith('plain')];
      const costs = new Set<number>();
      for (const user of people)
        for (const right of [typed, typed.normalize('NFC'), typed.normalize('NFD'), 'another one']) {
          const { compare, compared } = newCompare(right);
          await compare(user, typed);
          costs.add(compared.length);
        }
      expect([...costs]).toEqual([new Set([typed, typed.normalize('NFC'), typed.normalize('NFD')]).size]);
    },
  );

  test('N-14 compares with the dummy where a form is longer than bcrypt reads', async () => {
    const { compare, compared } = newCompare('');
    const typed = 'u\u0308'.repeat(30);
    await compare(userWith(STORED), typed);
    expect(compared).toEqual([
      [typed, DUMMY],
      [typed.normalize('NFC'), STORED],
    ]);
  });

  test('N-14 costs one compare in ASCII, and where no form of it is short enough', async () => {
    for (const typed of ['Made-up-1', 'x'.repeat(73), 'u\u0308'.repeat(5000)]) {
      const { compare, compared } = newCompare('');
      await compare(userWith(STORED), typed);
      expect(compared).toHaveLength(1);
    }
  });
});

describe('the hash of a new password', () => {
  test('is made of the composed form', async () => {
    const stored = await hashPassword(DECOMPOSED, 10);
    expect([await libraryBcrypt.compare(COMPOSED, stored), await libraryBcrypt.compare(DECOMPOSED, stored)]).toEqual([
      true,
      false,
    ]);
  });

  test('is made of a password that has at most 72 bytes once it is composed', async () => {
    const [fits, tooLong] = ['u\u0308'.repeat(30), 'u\u0308'.repeat(37)];
    expect(await libraryBcrypt.compare('\u00fc'.repeat(30), await hashPassword(fits, 10))).toBe(true);
    await expect(hashPassword(tooLong, 10)).rejects.toThrow('the password is longer than 72 bytes');
    expect(readNewPassword(Buffer.from(fits))).toEqual({ password: fits });
    expect(readNewPassword(Buffer.from(tooLong))).toEqual({
      fault: 'a password has 1 to 72 bytes, this one has 74',
    });
  });

  test('is made by the rules of accounts for the composed form: its characters and its bytes', () => {
    const faultsOf = (password: string) => passwordFaults('password', password).map(({ message }) => message);
    expect(faultsOf(`Aa1${'u\u0308'.repeat(30)}`)).toEqual([]);
    expect(faultsOf(`Aa1${'u\u0308'.repeat(4)}`)).toEqual([expect.stringContaining('must have at least 8 characters')]);
    expect(faultsOf(`Aa1${'\u0958'.repeat(20)}`)).toEqual([
      expect.stringContaining('must have at most 72 bytes in UTF-8'),
    ]);
  });
});
