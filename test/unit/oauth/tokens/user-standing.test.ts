import { describe, expect, test } from 'vitest';
import type { TokenClaims } from '../../../../src/oauth/tokens/claims.ts';
import { createLiveUsers, createUserStandings, standingDigest } from '../../../../src/oauth/tokens/user-standing.ts';
import type { User } from '../../../../src/users/user.ts';

const alice: User = {
  name: 'alice',
  uid: 'u-1',
  passwordHash: 'made-up-hash',
  groups: ['developers'],
  state: 'Active',
};
const { passwordHash: _, ...withoutPassword } = alice;

/** Standings under a key that a test may take away. */
function start() {
  const held: { key: Buffer | undefined } = { key: Buffer.alloc(32, 1) };
  const standing = createUserStandings({ digestKey: () => held.key } as Parameters<typeof createUserStandings>[0]);
  return { held, standing };
}

describe('the standing of a user', () => {
  test('tells two passwords apart in 11 characters', () => {
    const { standing } = start();
    const digest = standing(alice).pwd;
    expect(digest).toMatch(/^[\w-]{11}$/);
    expect(standing({ ...alice }).pwd).toBe(digest);
    expect(standing({ ...alice, passwordHash: 'another-hash' }).pwd).not.toBe(digest);
  });

  test('has no digest for a user without a password', () => {
    expect(start().standing(withoutPassword).pwd).toBeUndefined();
  });

  test('has no claim for a User object, and tells its passwords apart nevertheless', () => {
    const { standing } = start();
    const object = { ...alice, isObject: true } as const;
    expect(standing(object).pwd).toBeUndefined();
    const [before, after] = [object, { ...object, passwordHash: 'another-hash' }].map((user) =>
      standingDigest(user, standing),
    );
    expect(before).not.toBe(after);
  });

  test('has no digest before the key is known, and one from then on', () => {
    const { held, standing } = start();
    const { key } = held;
    held.key = undefined;
    expect(standing(alice).pwd).toBeUndefined();
    held.key = key;
    expect(standing(alice).pwd).toMatch(/^[\w-]{11}$/);
  });

  test('A-31 leaves out the groups of the cluster itself', () => {
    expect(start().standing({ ...alice, groups: ['system:masters', 'a', 'system:nodes', 'b'] }).groups).toEqual([
      'a',
      'b',
    ]);
  });

  test('is worked out once for each user object', () => {
    const { standing } = start();
    expect(standing(alice)).toBe(standing(alice));
    expect(standing({ ...alice })).not.toBe(standing(alice));
  });
});

describe('what a user has become', () => {
  test('is another word for another person, another password and another right to sign in', () => {
    const { standing } = start();
    const changes: Partial<User>[] = [{}, { uid: 'u-2' }, { passwordHash: 'another-hash' }, { state: 'Disabled' }];
    const words = [...changes.map((change) => ({ ...alice, ...change })), withoutPassword, undefined].map((user) =>
      standingDigest(user, standing),
    );
    expect(new Set(words).size).toBe(6);
    for (const word of words.slice(0, 5)) expect(word).toMatch(/^[\w-]{11}$/);
  });

  test('is the same word while only a throttle or the groups change', () => {
    const { standing } = start();
    const word = standingDigest(alice, standing);
    expect(standingDigest({ ...alice, state: 'AuthLimitExceeded' }, standing)).toBe(word);
    expect(standingDigest({ ...alice, groups: [] }, standing)).toBe(word);
  });
});

describe('the user of a token', () => {
  test.each<[string, User | undefined, boolean]>([
    ['unchanged', alice, true],
    ['throttled', { ...alice, state: 'AuthLimitExceeded' }, true],
    ['disabled', { ...alice, state: 'Disabled' }, false],
    ['with another password', { ...alice, passwordHash: 'another-hash' }, false],
    ['without a password', withoutPassword, false],
    ['gone', undefined, false],
    ['who came after the token, by more than clocks may differ', { ...alice, tokensNotBefore: 1_011 }, false],
    ['whose clock is ahead of the token’s', { ...alice, tokensNotBefore: 1_010 }, true],
  ])('who is %s may use it: %s', (...[, user, isLive]) => {
    const { standing } = start();
    const claims = { sub: 'alice', pwd: standing(alice).pwd, iat: 1_000 } as TokenClaims;
    const users = { byName: (name: string) => (name === 'alice' ? user : undefined) };
    const liveUser = createLiveUsers(users as Parameters<typeof createLiveUsers>[0], standing, {
      maximumClockSkewSeconds: 10,
    });
    expect(liveUser(claims)).toBe(isLive ? user : undefined);
  });
});
