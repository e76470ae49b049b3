import { Registry } from 'prom-client';
import { beforeAll, describe, expect, test } from 'vitest';
import type { SecurityEventName, SecurityEvents } from '../../../src/security-events.ts';
import { type Bcrypt, libraryBcrypt } from '../../../src/users/password-hash.ts';
import { createPasswordSignIn, type PasswordOptions } from '../../../src/users/password-sign-in.ts';
import type { SignInResult } from '../../../src/users/sign-in.ts';
import type { User, UserState } from '../../../src/users/user.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { hashOf, quickBcrypt } from '../../support/passwords.ts';

const MINUTE = 60_000;
const options: PasswordOptions = {
  throttle: { user: { limit: 5, windowMs: 30 * MINUTE }, address: { limit: 30, windowMs: MINUTE } },
  gate: { concurrency: 2, queue: 16, maxWaitMs: 2000 },
  cost: 10,
  maxCost: 12,
};
const REFUSED = { kind: 'refused' };

let hash: string;
beforeAll(async () => {
  hash = await hashOf('Made-up-1');
});

function newSignIn(state: UserState = 'Active', more: Partial<User> = {}, bcrypt: Partial<Bcrypt> = {}) {
  const clock = new FakeClock();
  const registry = new Registry();
  const told: Record<string, unknown>[] = [];
  const events: SecurityEvents = { report: (event, fields) => void told.push({ event, ...fields }) };
  const alice: User = {
    name: 'alice',
    uid: '1',
    email: 'alice@example.com',
    passwordHash: hash,
    groups: [],
    state,
    ...more,
  };
  const people = new Map([['alice', alice]]);
  const users = {
    byName: (name: string) => people.get(name),
    byEmail: (email: string) => [...people.values()].find((user) => user.email === email.toLowerCase()),
    all: () => people.values(),
  };
  const signIn = createPasswordSignIn(options, {
    users,
    clock,
    registry,
    events,
    bcrypt: { ...quickBcrypt, ...bcrypt },
  });
  const attempt = (
    username: string,
    password: string,
    change: { source?: string; signal?: AbortSignal } = {},
  ): Promise<SignInResult> =>
    signIn.signIn({ username, password, source: '192.0.2.1', signal: new AbortController().signal, ...change });
  const compares = async (): Promise<number> => {
    const metric = await registry.getSingleMetric('gatehouse_password_hash_duration_seconds')?.get();
    const values = (metric?.values ?? []) as { metricName?: string; value: number }[];
    return values.find((value) => value.metricName?.endsWith('_count'))?.value ?? 0;
  };
  const toldOf = (event: SecurityEventName) => told.filter((one) => one['event'] === event);
  return { attempt, signIn, alice, people, clock, registry, told, toldOf, compares };
}

describe('the hash of a new password', () => {
  const from = { source: '192.0.2.1', signal: new AbortController().signal };

  test('has the write cost, and matches', async () => {
    const made = await newSignIn('Active', {}, libraryBcrypt).signIn.hash('Made-up-2', from);
    if (made.kind !== 'ok') throw new Error('it is busy');
    expect(made.hash).toMatch(/^\$2[ab]\$10\$/);
    expect(await libraryBcrypt.compare('Made-up-2', made.hash)).toBe(true);
  });

  test('waits in the gate of the compares: it is busy when all seats are taken', async () => {
    const held = Promise.withResolvers<boolean>();
    const { signIn, attempt, clock } = newSignIn('Active', {}, { compare: () => held.promise });
    const compares = [attempt('alice', 'a'), attempt('alice', 'b')];
    const hashed = signIn.hash('Made-up-2', from);
    await clock.advance(2000);
    expect(await hashed).toEqual({ kind: 'busy', retryAfterSeconds: 1 });
    held.resolve(false);
    await Promise.all(compares);
  });
});

describe('a sign-in by password', () => {
  test('counts no success as a failure, however many come at once', async () => {
    const { attempt } = newSignIn();
    for (let failure = 0; failure < 3; failure++) await attempt('alice', 'wrong');
    const results = await Promise.all([attempt('alice', 'Made-up-1'), attempt('alice', 'Made-up-1')]);
    expect(results.map((result) => result.kind)).toEqual(['ok', 'ok']);
    for (let failure = 0; failure < 5; failure++) expect(await attempt('alice', 'wrong')).toEqual(REFUSED);
    expect((await attempt('alice', 'wrong')).kind).toBe('throttled');
  });

  test('A-41 counts the failures of an address whatever the case of its letters', async () => {
    const { attempt } = newSignIn();
    const spellings = [
      'alice@example.com',
      'ALICE@example.com',
      'Alice@Example.com',
      'alice@EXAMPLE.COM',
      'aLICE@example.com',
    ];
    for (const spelling of spellings) expect(await attempt(spelling, 'wrong')).toEqual(REFUSED);
    expect((await attempt('AliCE@example.com', 'Made-up-1')).kind).toBe('throttled');
    expect((await attempt('alice@example.com', 'Made-up-1')).kind).toBe('throttled');
  });

  test('takes the name, or the e-mail in any case', async () => {
    const { attempt, alice } = newSignIn();
    expect(await attempt('alice', 'Made-up-1')).toEqual({ kind: 'ok', user: alice });
    expect(await attempt('alice@example.com', 'Made-up-1')).toEqual({ kind: 'ok', user: alice });
    expect(await attempt('ALICE@Example.com', 'Made-up-1')).toEqual({ kind: 'ok', user: alice });
  });

  test.each([
    ['a wrong password', 'alice', 'wrong'],
    ['a password with a space more', 'alice', 'Made-up-1 '],
    ['an unknown user', 'nobody', 'Made-up-1'],
    ['a name in other case', 'Alice', 'Made-up-1'],
    ['an e-mail with a letter that only looks like a case of another', 'al\u0130ce@example.com', 'Made-up-1'],
    ['a full-width name', 'ａlice', 'Made-up-1'],
    ['a Cyrillic letter', '\u0430lice', 'Made-up-1'],
    ['a Turkish i', 'al\u0131ce', 'Made-up-1'],
    ['a ligature', '\u00e6lice', 'Made-up-1'],
    ['an accent as a character of its own', 'alice\u0301', 'Made-up-1'],
    ['a joiner that cannot be seen', 'ali\u200dce', 'Made-up-1'],
    ['a mark that turns the direction', '\u202ealice', 'Made-up-1'],
    ['a full-width at sign', 'alice\uff20example.com', 'Made-up-1'],
    ['an e-mail of 15,000 letters', `${'a'.repeat(15_000)}@example.com`, 'Made-up-1'],
    ['a trailing dot', 'alice.', 'Made-up-1'],
    ['a trailing space', 'alice ', 'Made-up-1'],
    ['a name of 2,000 letters', 'u'.repeat(2000), 'x'],
    ['a reserved name', 'system:admin', 'x'],
  ])('N-14 A-40 A-42 refuses %s after exactly one compare', async (_, username, password) => {
    const { attempt, compares } = newSignIn();
    expect([await attempt(username, password), await compares()]).toEqual([REFUSED, 1]);
  });

  test.each([
    ['a disabled user', 'Disabled', {}],
    ['an empty hash', 'Active', { passwordHash: '' }],
    ['a hash that is none', 'Active', { passwordHash: 'plain text' }],
    ['a hash of a cost below 10', 'Active', { passwordHash: `$2b$04$${'a'.repeat(53)}` }],
    ['a hash of a cost above 12', 'Active', { passwordHash: `$2b$31$${'a'.repeat(53)}` }],
  ] as const)('N-14 A-42 A-46 refuses %s alike, after one compare of the write cost', async (_, state, more) => {
    const { attempt, compares } = newSignIn(state, more);
    expect([await attempt('alice', 'Made-up-1'), await compares()]).toEqual([REFUSED, 1]);
  });

  test('A-46 tells of an unfit hash once for each reading of its user, not once for each guess', async () => {
    const passwordHash = `$2b$31$${'a'.repeat(53)}`;
    const { attempt, told, people, alice } = newSignIn('Active', { passwordHash });
    for (let guess = 0; guess < 3; guess++) await attempt('alice', 'Made-up-1');
    const fault = 'has bcrypt cost 31, but 10 to 12 are accepted; make one with "gatehouse hash-password"';
    expect(told).toEqual([{ event: 'password_hash_refused', user: 'alice', fault }]);
    people.set('alice', { ...alice });
    await attempt('alice', 'Made-up-1');
    expect(told).toHaveLength(2);
  });

  test('R-03 counts users by what a compare with their hash tells', async () => {
    const { people, alice, registry } = newSignIn();
    const hashes = ['$2b$11$', '$2b$12$', '$2b$09$', '$2b$13$'].map((start) => start + 'a'.repeat(53));
    for (const passwordHash of [...hashes, 'plain']) people.set(passwordHash, { ...alice, passwordHash });
    const { passwordHash: _, ...without } = alice;
    people.set('without', without);
    const lines = (await registry.metrics()).split('\n').filter((line) => line.startsWith('gatehouse_users{'));
    expect(lines).toEqual([
      'gatehouse_users{password_hash="write_cost"} 1',
      'gatehouse_users{password_hash="other_cost"} 2',
      'gatehouse_users{password_hash="unfit"} 3',
      'gatehouse_users{password_hash="none"} 1',
    ]);
    people.clear();
    expect(await registry.metrics()).toContain('gatehouse_users{password_hash="write_cost"} 0');
  });

  test('N-15 tells of a full bucket once: the user who is known, the address, the bucket', async () => {
    const { attempt, toldOf, clock } = newSignIn();
    for (let failure = 0; failure < 4; failure++) await attempt('alice', 'wrong');
    expect(toldOf('sign_in_throttled')).toEqual([]);
    for (let failure = 0; failure < 3; failure++) await attempt('alice', 'wrong', { source: '192.0.2.9' });
    const event = { event: 'sign_in_throttled', user: 'alice', source: '192.0.2.9', bucket: 'user' };
    expect(toldOf('sign_in_throttled')).toEqual([event]);
    await clock.advance(30 * MINUTE);
    for (let failure = 0; failure < 6; failure++) await attempt('alice', 'wrong', { source: '192.0.2.9' });
    expect(toldOf('sign_in_throttled')).toEqual([event, event]);
  });

  test('N-15 tells its listeners which user’s bucket is full, and lets the user in again when it is opened', async () => {
    const { attempt, signIn, alice } = newSignIn();
    const limited: User[] = [];
    signIn.throttle.onLimited((user) => limited.push(user));
    for (let count = 0; count < 4; count++) await attempt('alice', 'wrong');
    for (let count = 0; count < 6; count++) await attempt('nobody', 'wrong', { source: '192.0.2.9' });
    expect(limited).toEqual([]);
    await attempt('alice', 'wrong');
    expect(limited).toEqual([alice]);
    expect((await attempt('alice', 'Made-up-1')).kind).not.toBe('ok');
    signIn.throttle.unlock(alice);
    expect(await attempt('alice', 'Made-up-1')).toMatchObject({ kind: 'ok' });
  });

  test('N-15 tells nothing of what was typed for a name that nobody has', async () => {
    const { attempt, told } = newSignIn();
    for (let failure = 0; failure < 6; failure++) await attempt('my-password-by-mistake', 'x');
    expect(told).toEqual([{ event: 'sign_in_throttled', source: '192.0.2.1', bucket: 'user' }]);
  });

  test('A-43 counts refused and turned away attempts for the alarm', async () => {
    const { attempt, toldOf } = newSignIn();
    for (let index = 0; index < 99; index++) await attempt('alice', 'wrong', { source: `192.0.2.${index}` });
    expect(toldOf('sign_in_failures_many')).toEqual([]);
    await attempt('alice', 'Made-up-1');
    expect(toldOf('sign_in_failures_many')).toHaveLength(1);
  });

  test('N-14 refuses a user who has no password after one compare, and tells nothing of it', async () => {
    const { attempt, people, alice, compares, told } = newSignIn();
    const { passwordHash: _, ...without } = alice;
    people.set('alice', without);
    expect([await attempt('alice', 'Made-up-1'), await compares(), told]).toEqual([REFUSED, 1, []]);
  });

  test('throttles a user in state AuthLimitExceeded, but not where that user succeeded in the last day', async () => {
    const { attempt, people, alice } = newSignIn();
    await attempt('alice', 'Made-up-1', { source: 'home' });
    people.set('alice', { ...alice, state: 'AuthLimitExceeded' });
    expect(await attempt('alice', 'Made-up-1')).toEqual({ kind: 'throttled', retryAfterSeconds: 1800 });
    expect((await attempt('alice', 'Made-up-1', { source: 'home' })).kind).toBe('ok');
  });

  test('refuses a password over 72 bytes or with NUL although bcrypt would cut it off', async () => {
    const long = 'x'.repeat(72);
    const { attempt } = newSignIn('Active', { passwordHash: await hashOf(long) }, libraryBcrypt);
    expect((await attempt('alice', `${long}y`)).kind).toBe('refused');
    expect((await attempt('alice', long)).kind).toBe('ok');
    const { attempt: other } = newSignIn('Active', {}, libraryBcrypt);
    expect((await other('alice', 'Made-up-1\0x')).kind).toBe('refused');
  });

  test('refuses a user who was disabled or got another password during the compare', async () => {
    const { attempt, people, alice } = newSignIn();
    const first = attempt('alice', 'Made-up-1');
    people.set('alice', { ...alice, state: 'Disabled' });
    expect(await first).toEqual(REFUSED);
    people.set('alice', alice);
    const second = attempt('alice', 'Made-up-1');
    people.set('alice', { ...alice, passwordHash: `$2b$10$${'a'.repeat(53)}` });
    expect(await second).toEqual(REFUSED);
  });

  test('N-15 stops the sixth attempt after five failures, with the right password too, without a compare', async () => {
    const { attempt, compares, registry } = newSignIn();
    for (let failure = 0; failure < 5; failure++) await attempt('alice', 'wrong');
    expect(await attempt('alice', 'Made-up-1')).toEqual({ kind: 'throttled', retryAfterSeconds: 1800 });
    expect(await compares()).toBe(5);
    expect(await registry.metrics()).toContain('gatehouse_login_throttled_total{bucket="user"} 1');
  });

  test('N-15 A-42 refuses the right password by another spelling after five failures, and one compare more', async () => {
    const { attempt, compares, clock } = newSignIn();
    for (let failure = 0; failure < 5; failure++) await attempt('alice', 'wrong');
    expect([await attempt('alice@example.com', 'Made-up-1'), await compares()]).toEqual([REFUSED, 6]);
    await clock.advance(30 * MINUTE);
    expect((await attempt('alice@example.com', 'Made-up-1')).kind).toBe('ok');
  });

  test('A-42 counts no success by another spelling at a known good address as a failure', async () => {
    const { attempt } = newSignIn();
    await attempt('alice', 'Made-up-1', { source: 'home' });
    const results = await Promise.all([1, 2].map(() => attempt('alice@example.com', 'Made-up-1', { source: 'home' })));
    expect(results.map((result) => result.kind)).toEqual(['ok', 'ok']);
    for (let failure = 0; failure < 5; failure++)
      expect(await attempt('alice@example.com', 'wrong', { source: 'elsewhere' })).toEqual(REFUSED);
  });

  test('A-43 holds a seat of the gate until its compare is over', async () => {
    let [atWork, most] = [0, 0];
    const compare = async (): Promise<boolean> => {
      most = Math.max(most, ++atWork);
      await new Promise(setImmediate);
      atWork--;
      return false;
    };
    const { attempt } = newSignIn('Active', {}, { compare });
    await Promise.all(Array.from({ length: 10 }, (_, index) => attempt(`guess-${index}`, 'wrong')));
    expect(most).toBe(options.gate.concurrency);
  });

  test('N-15 N-14 treats a name that nobody has the same', async () => {
    const { attempt } = newSignIn();
    for (let failure = 0; failure < 5; failure++) expect(await attempt('nobody', 'x')).toEqual(REFUSED);
    expect(await attempt('nobody', 'x')).toEqual({ kind: 'throttled', retryAfterSeconds: 1800 });
  });

  test('A-43 makes no more compares than the limit for attempts that come all at once', async () => {
    const { attempt, compares } = newSignIn();
    const results = await Promise.all(Array.from({ length: 40 }, () => attempt('alice', 'wrong')));
    const count = (kind: SignInResult['kind']): number => results.filter((result) => result.kind === kind).length;
    expect(await compares()).toBe(5);
    expect([count('busy'), count('refused') + count('throttled')]).toEqual([22, 18]);
  });

  test('does not count an attempt whose compare broke', async () => {
    const { attempt } = newSignIn('Active', {}, { compare: () => Promise.reject(new Error('the library broke')) });
    for (let index = 0; index < 6; index++) await expect(attempt('alice', 'Made-up-1')).rejects.toThrow('the library');
  });

  test('does not count an attempt that the gate turned away', async () => {
    const { attempt } = newSignIn();
    const gone = new AbortController();
    gone.abort();
    for (let index = 0; index < 6; index++)
      expect(await attempt('alice', 'wrong', { signal: gone.signal })).toEqual({ kind: 'busy', retryAfterSeconds: 1 });
    expect((await attempt('alice', 'Made-up-1')).kind).toBe('ok');
  });

  test('tells no password and no hash', async () => {
    const { attempt, told } = newSignIn('Active', { passwordHash: `$2b$31$${'a'.repeat(53)}` });
    await attempt('alice', 'Made-up-1');
    expect(told).toHaveLength(1);
    expect(JSON.stringify(told)).not.toMatch(/Made-up-1|aaaaa/);
  });
});
