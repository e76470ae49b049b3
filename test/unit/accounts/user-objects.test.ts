import { describe, expect, test } from 'vitest';
import { createUserObjects } from '../../../src/accounts/directory/user-objects.ts';
import { createPasswordSecrets } from '../../../src/accounts/passwords/password-secrets.ts';
import type { UserRecord } from '../../../src/accounts/users/user-record.ts';
import { areCurrent } from '../../../src/data-age.ts';
import { dummyHash } from '../../../src/users/password-hash.ts';
import type { User } from '../../../src/users/user.ts';
import { createUserDirectory } from '../../../src/users/user-directory.ts';
import { MemorySecretRecords } from '../../support/accounts/memory-secret-records.ts';
import { MemoryUserRecords, userRecord } from '../../support/accounts/memory-user-records.ts';
import { RecordedEvents } from '../../support/accounts/recorded-events.ts';
import { atEnd } from '../../support/at-end.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const HASH = dummyHash(10);
const quiet = { error: () => {} } as unknown as Parameters<typeof createPasswordSecrets>[1]['logger'];

async function start(users: readonly UserRecord[] = [], { isSynced = true } = {}) {
  const clock = new FakeClock();
  const events = new RecordedEvents();
  const records = new MemoryUserRecords(users);
  const secrets = new MemorySecretRecords();
  records.isSynced = isSynced;
  const random = { bytes: (length: number) => Buffer.alloc(length), fraction: () => 0 };
  const passwords = createPasswordSecrets(
    { namePrefix: 'p-', maxStalenessMs: 1000 },
    { records: secrets, currentUid: async (name) => records.get(name)?.uid, clock, random, logger: quiet, events },
  );
  const source = createUserObjects({ maxStalenessMs: 1000 }, { users: records, passwords, clock, events });
  const directory = createUserDirectory([source], { events });
  const told: string[] = [];
  directory.onChange((name) => told.push(name));
  const stop = new AbortController();
  const running = source.run(stop.signal);
  atEnd(async () => {
    stop.abort();
    await running;
  });
  await clock.advance(100);
  return { clock, events, records, secrets, passwords, source, directory, told };
}

const ALICE = { name: 'alice', uid: 'uid-alice' };

describe('the users that are objects', () => {
  test('ID-03 have a verified address only if the present one was verified', async () => {
    const cases = { ada: ['ada@example.com'], bob: ['old@example.com'], eve: ['', ''] } as const;
    const users = Object.entries(cases).map(([name, [verifiedEmail, email = `${name}@example.com`]]) =>
      userRecord(name, { email, verifiedEmail }),
    );
    const { directory } = await start(users);
    const verified = Object.keys(cases).map((name) => directory.byName(name)?.emailVerified);
    expect(verified).toEqual([true, undefined, undefined]);
  });

  test('are known when all of them and their passwords are', async () => {
    const { clock, records, secrets, source, directory } = await start([userRecord('alice')], { isSynced: false });
    expect([source.fault(), directory.byName('alice')]).toEqual(['the users are not loaded yet', undefined]);
    expect(areCurrent(source.copies, clock.monotonic())).toBe(false);
    records.isSynced = true;
    secrets.isSynced = false;
    await clock.advance(100);
    expect([source.fault(), directory.byName('alice')]).toEqual([
      'the passwords of users are not loaded yet',
      undefined,
    ]);
    expect(areCurrent(source.copies, clock.monotonic())).toBe(false);
    secrets.isSynced = true;
    await clock.advance(100);
    expect([source.fault(), directory.byName('alice')?.uid]).toEqual([undefined, 'uid-alice']);
    expect(areCurrent(source.copies, clock.monotonic())).toBe(true);
  });

  test('have e-mail, language, groups, password and what they must do first', async () => {
    const { directory, passwords } = await start([
      userRecord('alice', { email: 'a@example.com', lang: 'en', groups: ['developers', ''], uninitialized: 'true' }),
    ]);
    await passwords.set(ALICE, HASH);
    expect(directory.byEmail('a@example.com')).toEqual<User>({
      ...{ name: 'alice', uid: 'uid-alice', email: 'a@example.com', locale: 'en', passwordHash: HASH },
      ...{ groups: ['developers'], state: 'Active', isObject: true, uninitialized: 'true' },
    });
  });

  test.each([
    ['being made', { isIncomplete: true }],
    ['being deleted', { isDeleting: true }],
  ])('are no users while %s', async (_, change) => {
    const { directory, records, told } = await start([userRecord('alice'), userRecord('bob', change)]);
    expect(directory.byName('bob')).toBeUndefined();
    records.put(userRecord('alice', change));
    expect([directory.byName('alice'), told]).toEqual([undefined, ['alice']]);
  });

  test.each([
    ['', 'Active'],
    ['Active', 'Active'],
    ['AuthLimitExceeded', 'AuthLimitExceeded'],
    ['Disabled', 'Disabled'],
    ['Pending', 'Disabled'],
  ])('of state "%s" count as %s', async (state, counted) => {
    const { directory } = await start([userRecord('alice', { state })]);
    expect(directory.byName('alice')?.state).toBe(counted);
  });

  test('are told of once when something in them cannot be used', async () => {
    const odd = { state: 'Pending', email: 'no address', groups: Array(1001).fill('g') };
    const { directory, events, records, source } = await start([userRecord('alice', odd)]);
    records.put(userRecord('alice', { ...odd, resourceVersion: '2' }));
    expect(directory.byName('alice')).toMatchObject({ state: 'Disabled', groups: [] });
    expect(directory.byName('alice')?.email).toBeUndefined();
    expect(events.named('user_object_faulty').map(({ reason }) => String(reason).split(' ')[0])).toEqual([
      'status.state',
      'spec.email',
      'spec.groups',
    ]);
    expect(source.faulty()).toBe(1);
    records.put(userRecord('alice'));
    expect(source.faulty()).toBe(0);
  });

  test('sign in with a bcrypt string in the object, until there is a Secret; never with clear text', async () => {
    const stored = dummyHash(11);
    const { directory, passwords, records } = await start([userRecord('alice', { storedPassword: stored })]);
    expect(directory.byName('alice')?.passwordHash).toBe(stored);
    await passwords.set(ALICE, HASH);
    expect(directory.byName('alice')?.passwordHash).toBe(HASH);
    records.put(userRecord('bob', { storedPassword: 'in the clear' }));
    expect(directory.byName('bob')?.passwordHash).toBeUndefined();
  });

  test('are told of as changed when deleted, disabled, made again or given another password', async () => {
    const { records, passwords, told } = await start(['a', 'b', 'c', 'd', 'e'].map((name) => userRecord(name)));
    await passwords.set({ name: 'd', uid: 'uid-d' }, HASH);
    expect(told).toEqual([]);
    records.delete('a');
    records.put(userRecord('b', { state: 'Disabled' }));
    records.put(userRecord('c', { uid: 'other' }));
    await passwords.set({ name: 'd', uid: 'uid-d' }, dummyHash(11));
    records.put(userRecord('e', { state: 'AuthLimitExceeded', groups: ['x'], email: 'e@example.com' }));
    expect(told).toEqual(['a', 'b', 'c', 'd']);
  });

  test('cost the same to change, however many there are', async () => {
    const many = Array.from({ length: 10_000 }, (_, index) => userRecord(`u${index}`));
    const { records, directory } = await start(many);
    records.all = () => {
      throw new Error('all users are read');
    };
    records.put(userRecord('u1', { email: 'one@example.com' }));
    expect(directory.byEmail('one@example.com')?.name).toBe('u1');
  });
});
