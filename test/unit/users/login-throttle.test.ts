import { describe, expect, test } from 'vitest';
import { LoginThrottle } from '../../../src/users/login-throttle.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const MINUTE = 60_000;
const LIMITS = { user: { limit: 5, windowMs: 30 * MINUTE }, address: { limit: 30, windowMs: MINUTE } };

function newThrottle() {
  const clock = new FakeClock();
  return { clock, throttle: new LoginThrottle(LIMITS, clock) };
}

const at = (user: string, source = '192.0.2.1') => ({ user, typed: user, source, limitedBy: undefined });
const byEmail = (user: string, source?: string) => ({ ...at(user, source), typed: `${user}@example.com` });

describe('the login throttle', () => {
  test('N-15 lets five failures of a user in 30 min pass, from any address, and stops the sixth attempt', async () => {
    const { throttle, clock } = newThrottle();
    for (let failure = 0; failure < 5; failure++) {
      expect(throttle.check(at('alice', `192.0.2.${failure}`))).toBe(undefined);
      throttle.failed(at('alice', `192.0.2.${failure}`));
      await clock.advance(MINUTE);
    }
    expect(throttle.check(at('alice', '198.51.100.1'))).toEqual({ bucket: 'user', waitMs: 25 * MINUTE });
    expect(throttle.check(at('bob', '192.0.2.1'))).toBe(undefined);
  });

  test('N-15 opens again when the oldest failure leaves its window, for one attempt at a time', async () => {
    const { throttle, clock } = newThrottle();
    for (let failure = 0; failure < 5; failure++) {
      throttle.failed(at('alice'));
      await clock.advance(MINUTE);
    }
    await clock.advance(25 * MINUTE - 1);
    expect(throttle.check(at('alice'))).toEqual({ bucket: 'user', waitMs: 1 });
    await clock.advance(1);
    expect(throttle.check(at('alice'))).toBe(undefined);
    throttle.failed(at('alice'));
    expect(throttle.check(at('alice'))).toEqual({ bucket: 'user', waitMs: MINUTE });
  });

  test('N-15 stops an address after 30 failures in a minute, whatever the names', () => {
    const { throttle } = newThrottle();
    for (let failure = 0; failure < 30; failure++) throttle.failed(at(`user-${failure}`));
    expect(throttle.check(at('alice'))).toEqual({ bucket: 'address', waitMs: MINUTE });
    expect(throttle.check(at('alice', '192.0.2.2'))).toBe(undefined);
  });

  test('N-15 does not let a stranger lock a user out of an address where the user succeeded', () => {
    const { throttle } = newThrottle();
    throttle.succeeded(at('alice', 'home'));
    for (let failure = 0; failure < 30; failure++) throttle.failed(at('alice', 'stranger'));
    expect(throttle.check(at('alice', 'stranger'))?.bucket).toBe('user');
    expect(throttle.check(at('alice', 'home'))).toBe(undefined);
  });

  test('N-15 opens all buckets of a user who is unlocked, and none of anybody else or of an address', () => {
    const { throttle } = newThrottle();
    throttle.succeeded(at('alice', 'home'));
    for (let failure = 0; failure < 5; failure++)
      for (const attempt of [at('alice'), byEmail('alice'), at('alice', 'home'), at('bob')]) throttle.failed(attempt);
    const isFull = () =>
      [at('alice'), byEmail('alice'), at('alice', 'home'), at('bob')].map((one) => throttle.check(one) !== undefined);
    expect(isFull()).toEqual([true, true, true, true]);
    throttle.unlock({ name: 'alice', email: 'alice@example.com' });
    expect(isFull()).toEqual([false, false, false, true]);
    for (let failure = 0; failure < 15; failure++) throttle.failed(at(`other-${failure}`));
    throttle.unlock({ name: 'alice' });
    expect(throttle.check(at('alice'))?.bucket).toBe('address');
  });

  test('N-15 takes a pair from elsewhere as known good for what is left of 24 h, by name and e-mail', async () => {
    const { throttle, clock } = newThrottle();
    const alice = { name: 'alice', email: 'alice@example.com' };
    throttle.known(alice, 'home', 23 * 60 * MINUTE);
    throttle.known(alice, 'home', 23.5 * 60 * MINUTE);
    for (let failure = 0; failure < 5; failure++) throttle.failed(at('alice', 'stranger'));
    expect([at('alice', 'home'), byEmail('alice', 'home')].map((one) => throttle.check(one))).toEqual([
      undefined,
      undefined,
    ]);
    await clock.advance(59 * MINUTE);
    expect(throttle.check({ ...at('alice', 'home'), limitedBy: 'operator' as const })).toBeUndefined();
    await clock.advance(2 * MINUTE);
    expect(throttle.check({ ...at('alice', 'home'), limitedBy: 'operator' as const })?.bucket).toBe('user');
  });

  test('N-15 does not let a stranger at the same address lock a user out', () => {
    const { throttle } = newThrottle();
    throttle.succeeded(at('alice', 'office'));
    for (let failure = 0; failure < 30; failure++) throttle.failed(at(`guess-${failure}`, 'office'));
    expect(throttle.check(at('bob', 'office'))?.bucket).toBe('address');
    expect(throttle.check(at('alice', 'office'))).toBe(undefined);
  });

  test('gives a known good pair five failures of its own, and leaves the bucket of the user alone', () => {
    const { throttle } = newThrottle();
    throttle.succeeded(at('alice', 'home'));
    for (let failure = 0; failure < 5; failure++) throttle.failed(at('alice', 'home'));
    expect(throttle.check(at('alice', 'home'))?.bucket).toBe('known_good');
    expect(throttle.check(at('alice', 'elsewhere'))).toBe(undefined);
  });

  test('forgets a known good pair after 24 hours', async () => {
    const { throttle, clock } = newThrottle();
    throttle.succeeded(at('alice', 'home'));
    await clock.advance(24 * 60 * MINUTE);
    for (let failure = 0; failure < 5; failure++) throttle.failed(at('alice', 'stranger'));
    expect(throttle.check(at('alice', 'home'))?.bucket).toBe('user');
  });

  test('empties the buckets of the user and of the address at a success', () => {
    const { throttle } = newThrottle();
    for (let failure = 0; failure < 4; failure++) throttle.failed(at('alice'));
    throttle.succeeded(at('alice'));
    for (let failure = 0; failure < 4; failure++) throttle.failed(at('alice', 'elsewhere'));
    expect(throttle.check(at('alice', 'elsewhere'))).toBe(undefined);
    for (let failure = 0; failure < 29; failure++) throttle.failed(at(`guess-${failure}`, 'office'));
    throttle.succeeded(at('bob', 'office'));
    for (let failure = 0; failure < 29; failure++) throttle.failed(at(`guess-${failure}`, 'office'));
    expect(throttle.check(at('carol', 'office'))).toBe(undefined);
  });

  test('empties the bucket of a known good pair at the next success there', () => {
    const { throttle } = newThrottle();
    throttle.succeeded(at('alice', 'home'));
    for (let failure = 0; failure < 4; failure++) throttle.failed(at('alice', 'home'));
    throttle.succeeded(at('alice', 'home'));
    for (let failure = 0; failure < 4; failure++) throttle.failed(at('alice', 'home'));
    expect(throttle.check(at('alice', 'home'))).toBe(undefined);
  });

  test('A-42 answers a user whose bucket filled on another replica as anybody with a wrong password, by every spelling', () => {
    const { throttle } = newThrottle();
    const full = { limitedBy: 'replica' as const };
    for (const attempt of [at('alice', 'home'), byEmail('alice', 'home')])
      expect([
        throttle.check({ ...attempt, ...full }),
        throttle.failed({ ...attempt, ...full }).mayMatch,
        throttle.failed({ ...attempt, user: undefined, limitedBy: undefined }).mayMatch,
      ]).toEqual([undefined, false, false]);
    for (let failure = 2; failure < 5; failure++) throttle.failed({ ...at('alice', 'home'), ...full });
    expect(throttle.check({ ...at('alice', 'home'), ...full })).toEqual({ bucket: 'user', waitMs: 30 * MINUTE });
    expect(throttle.check({ ...byEmail('alice', 'home'), ...full })).toBe(undefined);
  });

  test('N-15 compares the password of a user whose bucket filled on another replica where the pair is known good', () => {
    const { throttle } = newThrottle();
    throttle.succeeded(at('alice', 'home'));
    expect(throttle.failed({ ...at('alice', 'home'), limitedBy: 'replica' }).mayMatch).toBe(true);
    expect(throttle.failed({ ...at('alice', 'away'), limitedBy: 'replica' }).mayMatch).toBe(false);
  });

  test('takes the bucket of a user for full when an operator says so, known good addresses aside', () => {
    const { throttle } = newThrottle();
    const limited = { ...at('alice', 'home'), limitedBy: 'operator' as const };
    expect(throttle.check(limited)).toEqual({ bucket: 'user', waitMs: 30 * MINUTE });
    throttle.succeeded(at('alice', 'home'));
    expect(throttle.check(limited)).toBe(undefined);
  });

  test('N-15 names the bucket that a failure made full, once', () => {
    const { throttle } = newThrottle();
    throttle.succeeded(at('alice', 'home'));
    const full = (user: string, source: string) => throttle.failed(at(user, source)).stands();
    expect(Array.from({ length: 6 }, () => full('alice', 'home'))).toEqual([[], [], [], [], ['known_good'], []]);
    expect(Array.from({ length: 6 }, (_, index) => full('bob', `from-${index}`))).toEqual([
      [],
      [],
      [],
      [],
      ['user'],
      [],
    ]);
    const guesses = Array.from({ length: 31 }, (_, index) => full(`guess-${index}`, 'flood'));
    expect([guesses.slice(0, 29).flat(), guesses[29], guesses[30]]).toEqual([[], ['address'], []]);
  });

  test('A-43 remembers 100,000 known good pairs and forgets the one whose success is oldest', () => {
    const { throttle } = newThrottle();
    for (let index = 0; index < 100_000; index++) throttle.succeeded(at(`user-${index}`, 'home'));
    throttle.succeeded(at('user-0', 'home'));
    throttle.succeeded(at('one more', 'home'));
    const isKnownGood = (user: string): boolean =>
      throttle.check({ ...at(user, 'home'), limitedBy: 'operator' as const }) === undefined;
    expect(['user-0', 'user-1', 'user-2', 'one more'].map(isKnownGood)).toEqual([true, false, true, true]);
  });

  test('C-33 measures its windows by the monotonic clock', () => {
    const { throttle, clock } = newThrottle();
    for (let failure = 0; failure < 5; failure++) throttle.failed(at('alice'));
    clock.jumpWall(86_400_000);
    expect(throttle.check(at('alice'))).toEqual({ bucket: 'user', waitMs: 30 * MINUTE });
  });

  test('N-15 never empties the bucket of an address at a success that is known good there', () => {
    const { throttle } = newThrottle();
    throttle.succeeded(at('mallory', 'office'));
    for (let failure = 0; failure < 30; failure++) {
      throttle.failed(at(`guess-${failure}`, 'office'));
      throttle.succeeded(failure % 2 ? at('mallory', 'office') : byEmail('mallory', 'office'));
    }
    expect(throttle.check(at('alice', 'office'))).toEqual({ bucket: 'address', waitMs: MINUTE });
  });

  test('N-15 lets five failures of a user pass to a compare, by whichever spelling', () => {
    const { throttle } = newThrottle();
    const mayMatch = [at, byEmail, at, byEmail, at, byEmail].map((by) => throttle.failed(by('alice')).mayMatch);
    expect(mayMatch).toEqual([true, true, true, true, true, false]);
  });

  test('A-42 answers by the spelling alone: the bucket of one says nothing of the other', () => {
    const { throttle } = newThrottle();
    for (let failure = 0; failure < 5; failure++) throttle.failed(at('alice'));
    expect(throttle.check(at('alice'))).toEqual({ bucket: 'user', waitMs: 30 * MINUTE });
    expect(throttle.check(byEmail('alice'))).toBe(undefined);
  });

  test('A-42 leaves the bucket of the other spelling as it is at a success', async () => {
    const { throttle, clock } = newThrottle();
    for (let failure = 0; failure < 5; failure++) throttle.failed(at('alice'));
    await clock.advance(29 * MINUTE);
    for (let failure = 0; failure < 5; failure++) throttle.failed(byEmail('alice', 'elsewhere'));
    await clock.advance(MINUTE);
    throttle.succeeded(at('alice'));
    expect(throttle.check(byEmail('alice'))).toEqual({ bucket: 'user', waitMs: 29 * MINUTE });
  });

  test('A-42 treats the other spelling at a known good address as anywhere, and still lets its password in', () => {
    const { throttle } = newThrottle();
    throttle.succeeded(at('alice', 'office'));
    for (let failure = 0; failure < 5; failure++) throttle.failed(at('alice', 'stranger'));
    for (let failure = 0; failure < 30; failure++) throttle.failed(at(`guess-${failure}`, 'office'));
    expect(throttle.check(byEmail('alice', 'office'))?.bucket).toBe('address');
    expect(throttle.check(at('alice', 'office'))).toBe(undefined);
    expect(throttle.failed(byEmail('alice', 'office')).mayMatch).toBe(true);
  });

  test('N-15 gives a known good pair five compares, by whichever spelling', () => {
    const { throttle } = newThrottle();
    throttle.succeeded(at('alice', 'home'));
    const mayMatch = [at, byEmail, at, byEmail, at, byEmail].map((by) => throttle.failed(by('alice', 'home')).mayMatch);
    expect(mayMatch).toEqual([true, true, true, true, true, false]);
    expect(throttle.check(at('alice', 'home'))).toBe(undefined);
  });

  test('N-15 counts an attempt that had no real compare for its spelling alone', async () => {
    const { throttle, clock } = newThrottle();
    for (let failure = 0; failure < 5; failure++) throttle.failed(at('alice'));
    await clock.advance(29 * MINUTE);
    expect(throttle.failed(byEmail('alice')).mayMatch).toBe(false);
    await clock.advance(MINUTE);
    const mayMatch = Array.from({ length: 5 }, () => throttle.failed(at('alice')).mayMatch);
    expect(mayMatch).toEqual([true, true, true, true, true]);
  });

  test('N-15 tells of a user once, whichever spelling is tried on', () => {
    const { throttle } = newThrottle();
    const told = [at, byEmail].flatMap((by) =>
      Array.from({ length: 5 }, (_, index) => throttle.failed(by('alice', `from-${index}`)).stands()),
    );
    expect(told.flat()).toEqual(['user']);
  });
});
