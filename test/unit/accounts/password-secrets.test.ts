import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { createPasswordSecrets, passwordSecretName } from '../../../src/accounts/passwords/password-secrets.ts';
import { MemorySecretRecords } from '../../support/accounts/memory-secret-records.ts';
import { RecordedEvents } from '../../support/accounts/recorded-events.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const PREFIX = 'gatehouse-password-';
const ALICE = { name: 'alice', uid: 'first' };
const SECRET = passwordSecretName(PREFIX, 'alice');
/** No hash of anything: nobody compares with it here. */
const HASH = 'made-up-hash';

function store() {
  const records = new MemorySecretRecords();
  const events = new RecordedEvents();
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(line) });
  const random = { bytes: (length: number) => Buffer.alloc(length), fraction: () => 0 };
  const options = { namePrefix: PREFIX, maxStalenessMs: 1000 };
  const users = { uid: 'first' };
  const passwords = createPasswordSecrets(options, {
    ...{ records, clock: new FakeClock(), random, logger, events },
    currentUid: async () => users.uid,
  });
  return { records, passwords, events, lines, users };
}

const data = (more: Record<string, string> = {}) =>
  Object.fromEntries(
    Object.entries({ user: 'alice', uid: 'first', hash: HASH, format: '1', ...more }).map(([key, value]) => [
      key,
      Buffer.from(value),
    ]),
  );

describe('a password in a Secret', () => {
  test('is named after 40 hex digits of the name and counts for its uid only', async () => {
    const { passwords, records } = store();
    await passwords.set(ALICE, HASH);
    expect([...records.names()]).toEqual([SECRET]);
    expect(SECRET).toMatch(/^gatehouse-password-[0-9a-f]{40}$/);
    expect(passwords.hashOf(ALICE)).toBe(HASH);
    expect(passwords.hashOf({ name: 'alice', uid: 'second' })).toBeUndefined();
  });

  test('replaces that of an earlier user of the name', async () => {
    const { passwords } = store();
    await passwords.set({ name: 'alice', uid: 'earlier' }, 'other');
    await passwords.set(ALICE, HASH);
    expect(passwords.hashOf(ALICE)).toBe(HASH);
    expect(passwords.hashOf({ name: 'alice', uid: 'earlier' })).toBeUndefined();
  });

  test('never replaces that of a later user of the name, however late it is written', async () => {
    const { passwords, users } = store();
    await passwords.set(ALICE, 'old');
    users.uid = 'second';
    await passwords.set({ name: 'alice', uid: 'second' }, HASH);
    await expect(passwords.set(ALICE, 'late')).rejects.toThrow('changed meanwhile');
    expect(passwords.hashOf({ name: 'alice', uid: 'second' })).toBe(HASH);
  });

  test('is written again after somebody else wrote first', async () => {
    const { passwords, records } = store();
    await passwords.set(ALICE, 'first');
    records.putUnseen(SECRET, data({ hash: 'of another replica' }));
    await passwords.set(ALICE, HASH);
    expect([passwords.hashOf(ALICE), records.refreshes]).toEqual([HASH, 1]);
  });

  test('is created by whoever comes first, and written by the other', async () => {
    const { passwords, records } = store();
    records.putUnseen(SECRET, data({ hash: 'of another replica' }));
    await passwords.set(ALICE, HASH);
    expect(passwords.hashOf(ALICE)).toBe(HASH);
  });

  test('is removed with its own user, not with an earlier one', async () => {
    const { passwords } = store();
    await passwords.set(ALICE, HASH);
    await passwords.remove({ name: 'alice', uid: 'earlier' });
    expect(passwords.hashOf(ALICE)).toBe(HASH);
    await passwords.remove(ALICE);
    await passwords.remove(ALICE);
    expect(passwords.hashOf(ALICE)).toBeUndefined();
  });

  test('is removed with its user although it was written a moment ago, and is not in memory yet', async () => {
    const { passwords, records } = store();
    records.putUnseen(SECRET, data());
    await passwords.remove(ALICE);
    await records.refresh(SECRET);
    expect(passwords.hashOf(ALICE)).toBeUndefined();
  });

  test('tells whose hash may have changed, when it already answers with it', async () => {
    const { passwords, records } = store();
    const told: unknown[] = [];
    passwords.onChange((name) => told.push([name, passwords.hashOf(ALICE)]));
    await passwords.set(ALICE, HASH);
    records.put(SECRET, data({ hash: 'other' }));
    await passwords.remove(ALICE);
    expect(told).toEqual([
      ['alice', HASH],
      ['alice', 'other'],
      ['alice', undefined],
    ]);
  });

  test.each([
    ['has another format', data({ format: '2' })],
    ['has no uid', data({ uid: '' })],
    ['is not named after its user', data({ user: 'bob' })],
  ])('lets nobody in when it %s, and says so once without its content', (_, content) => {
    const { passwords, records, events, lines } = store();
    records.put(SECRET, content);
    records.put(SECRET, { ...content });
    expect(passwords.hashOf(ALICE)).toBeUndefined();
    expect(passwords.hashOf({ name: 'bob', uid: 'first' })).toBeUndefined();
    expect(events.named('password_record_unreadable')).toHaveLength(1);
    expect(lines).toHaveLength(1);
    expect(JSON.stringify([events.all, lines])).not.toContain(HASH);
  });

  test('is set again over one that cannot be read', async () => {
    const { passwords, records } = store();
    records.put(SECRET, data({ format: '2' }));
    await passwords.set(ALICE, HASH);
    expect(passwords.hashOf(ALICE)).toBe(HASH);
  });

  test('is not known before the first list', () => {
    const { passwords, records } = store();
    expect(passwords.fault()).toBeUndefined();
    records.isSynced = false;
    expect(passwords.fault()).toBe('the passwords of users are not loaded yet');
  });
});
