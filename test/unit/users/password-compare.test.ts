import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { createPasswordMetrics } from '../../../src/users/metrics.ts';
import { createPasswordCompare, dummyHash } from '../../../src/users/password-hash.ts';
import type { User } from '../../../src/users/user.ts';

const hashOf = (start: string): string => start + 'a'.repeat(53);
const FIT = hashOf('$2b$12$');
const userWith = (passwordHash?: string): User => ({
  ...{ name: 'alice', uid: '1', groups: [], state: 'Active' },
  ...(passwordHash === undefined ? {} : { passwordHash }),
});

/** Everything compares equal, and each compare is noted. */
function newCompare() {
  const compared: (readonly [string, string])[] = [];
  const compare = createPasswordCompare(
    { cost: 11, maxCost: 12 },
    {
      events: { report: () => {} },
      duration: createPasswordMetrics(new Registry()).duration,
      bcrypt: { compare: async (password, stored) => compared.push([password, stored]) > 0 },
    },
  );
  return { compare, compared };
}

describe('a compare of a password', () => {
  test('is with the stored hash when it may be used', async () => {
    for (const start of ['$2a$10$', '$2b$11$', '$2y$12$']) {
      const { compare, compared } = newCompare();
      expect(await compare(userWith(hashOf(start)), 'Made-up-1')).toBe(true);
      expect(compared).toEqual([['Made-up-1', hashOf(start)]]);
    }
  });

  test.each([
    ['nobody', undefined, 'Made-up-1'],
    ['a user without a password', userWith(), 'Made-up-1'],
    ['a hash that is none', userWith('plain'), 'Made-up-1'],
    ['a cost below 10', userWith(hashOf('$2b$09$')), 'Made-up-1'],
    ['a cost above the highest', userWith(hashOf('$2b$13$')), 'Made-up-1'],
    ['a password of 73 bytes', userWith(FIT), 'x'.repeat(73)],
    ['a password of 37 letters with 74 bytes', userWith(FIT), 'ß'.repeat(37)],
    ['a password with NUL', userWith(FIT), 'a\0b'],
  ])('N-14 R-03 is with a dummy of the write cost for %s, and never equal', async (_, user, password) => {
    const { compare, compared } = newCompare();
    expect(await compare(user, password)).toBe(false);
    expect(compared).toEqual([[password, dummyHash(11)]]);
  });
});
