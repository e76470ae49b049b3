import { describe, expect, test } from 'vitest';
import { costOf, dummyHash, hashFault, hashPassword, libraryBcrypt } from '../../../src/users/password-hash.ts';

describe('a password hash', () => {
  test('is made at the asked cost and compares', async () => {
    const stored = await hashPassword('Made-up-1', 10);
    expect([
      costOf(stored),
      await libraryBcrypt.compare('Made-up-1', stored),
      await libraryBcrypt.compare('x', stored),
    ]).toEqual([10, true, false]);
  });

  test.each(['2a', '2b', '2y'])('of variant $%s$ compares', async (variant) => {
    const stored = (await hashPassword('Made-up-1', 10)).replace(/^\$2.\$/, `$${variant}$`);
    expect([hashFault(stored, 12), await libraryBcrypt.compare('Made-up-1', stored)]).toEqual([undefined, true]);
  });

  test.each(['', 'x'.repeat(73), 'a\0b'])(
    'is not made of a password that bcrypt cannot tell from others (%#)',
    async (password) => {
      await expect(hashPassword(password, 10)).rejects.toThrow(/^the password is /);
    },
  );

  test.each([
    ['plain', 'is not a bcrypt hash; make one with "gatehouse hash-password"'],
    [
      `$2b$09$${'a'.repeat(53)}`,
      'has bcrypt cost 9, but 10 to 12 are accepted; make one with "gatehouse hash-password"',
    ],
    [
      `$2b$13$${'a'.repeat(53)}`,
      'has bcrypt cost 13, but 10 to 12 are accepted; make one with "gatehouse hash-password"',
    ],
    [`$2x$10$${'a'.repeat(53)}`, 'is not a bcrypt hash; make one with "gatehouse hash-password"'],
  ])('that is unfit is refused with the command that makes a fit one (%s)', (stored, fault) => {
    expect(hashFault(stored, 12)).toBe(fault);
  });

  test('that is the dummy is well-formed and matches nothing', async () => {
    expect([hashFault(dummyHash(10), 12), await libraryBcrypt.compare('', dummyHash(10))]).toEqual([undefined, false]);
  });
});
