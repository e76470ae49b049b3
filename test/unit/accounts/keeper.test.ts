import { describe, expect, test } from 'vitest';
import { createExpiry, createKeeper } from '../../../src/accounts/keeper/keeper.ts';
import { createPasswordMigration } from '../../../src/accounts/keeper/password-migration.ts';
import { createGuarding, createUserRemoval } from '../../../src/accounts/keeper/user-removal.ts';
import { userRef } from '../../../src/accounts/names.ts';
import { movedMark } from '../../../src/accounts/passwords/moved-mark.ts';
import type { KubernetesObject } from '../../../src/kubernetes/object.ts';
import { dummyHash } from '../../../src/users/password-hash.ts';
import { MemoryObjects } from '../../support/accounts/memory-objects.ts';
import { MemoryUserRecords, NAMES } from '../../support/accounts/memory-user-records.ts';
import { RecordedEvents } from '../../support/accounts/recorded-events.ts';
import { atEnd } from '../../support/at-end.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const quiet = { info: () => {}, warn: () => {}, debug: () => {} } as never;
const LABELS = { 'iam.gatehouse.io/user-ref': 'alice' };
const OURS = 'finalizers.gatehouse.io/users';
const HASH = dummyHash(10);

function start() {
  const clock = new FakeClock();
  const users = new MemoryUserRecords();
  const [objects, bindings, loginRecords] = [new MemoryObjects(), new MemoryObjects(), new MemoryObjects()];
  objects.onChange = (name, object) => (object ? users.putObject(object) : users.delete(name));
  const done: string[] = [];
  const hashes = new Map<string, string>();
  const events = new RecordedEvents();
  const state = { isKnown: true };
  const passwords = {
    hashOf: ({ name }: { name: string }) => hashes.get(name),
    set: async ({ name }: { name: string }, hash: string) => void hashes.set(name, hash),
    remove: async ({ name }: { name: string }) => void done.push(`password of ${name}`),
  };
  const ends = { user: async (name: string) => void done.push(`sessions of ${name}`) };
  const signIn = { hash: async (password: string) => ({ kind: 'ok', hash: `hash of ${password.length}` }) as const };
  const keeper = createKeeper({
    ...{ users, clock, logger: quiet, random: { bytes: (length) => Buffer.alloc(length), fraction: () => 0 } },
    isKnown: () => state.isKnown,
    jobs: {
      removal: createUserRemoval({ names: NAMES, objects, bindings, loginRecords, passwords, ends, clock }),
      expiry: createExpiry(objects),
      guarding: createGuarding({ names: NAMES, objects }),
      migration: createPasswordMigration({ names: NAMES, passwords, objects, signIn, clock, events }),
    },
  });
  const stop = new AbortController();
  const running = keeper.run(stop.signal);
  atEnd(async () => {
    stop.abort();
    await running;
  });
  const put = (metadata: Partial<KubernetesObject['metadata']>, more: object = {}): KubernetesObject =>
    objects.put({
      metadata: { name: 'alice', uid: 'first', resourceVersion: '', finalizers: [OURS], ...metadata },
      ...more,
    });
  return { clock, users, objects, bindings, loginRecords, done, hashes, events, state, put };
}

const binding = (name: string, subject: string, labels: Record<string, string> = LABELS): KubernetesObject => ({
  metadata: { name, uid: `uid-${name}`, resourceVersion: '', labels },
  subjects: [{ kind: 'User', name: subject }],
});
const record = (name: string, labels: Record<string, string> = LABELS): KubernetesObject => ({
  metadata: { name, uid: `uid-${name}`, resourceVersion: '', labels },
});

describe('a user who is being deleted', () => {
  test('takes sessions, role bindings, login records and password along, and nothing that is of others as well', async () => {
    const { clock, objects, bindings, loginRecords, done, put } = start();
    bindings.put(binding('alice-role', 'alice'));
    bindings.put(binding('labelled', 'somebody-else'));
    const [alice, bob] = ['alice', 'bob'].map((name) => ({ kind: 'User', name }));
    bindings.put({ ...binding('shared', 'alice'), subjects: [alice, bob] });
    bindings.put({ ...binding('of-a-group', 'alice'), subjects: [{ kind: 'Group', name: 'alice' }] });
    bindings.put(binding('bob-role', 'bob', { 'iam.gatehouse.io/user-ref': 'bob' }));
    loginRecords.put(record('alice-1'));
    loginRecords.put(record('bob-1', { 'iam.gatehouse.io/user-ref': 'bob' }));
    put({ deletionTimestamp: '2026-03-09T10:00:00Z' });
    await clock.advance(1000);
    expect(done).toEqual(['sessions of alice', 'password of alice']);
    expect([bindings, loginRecords].map((one) => one.all().map(({ metadata }) => metadata.name))).toEqual([
      ['labelled', 'shared', 'of-a-group', 'bob-role'],
      ['bob-1'],
    ]);
    expect(objects.peek('alice')).toBeUndefined();
  });

  test('keeps the finalizers of others', async () => {
    const { clock, objects, put } = start();
    put({ deletionTimestamp: '2026-03-09T10:00:00Z', finalizers: ['theirs', OURS] });
    await clock.advance(1000);
    expect(objects.peek('alice')?.metadata['finalizers']).toEqual(['theirs']);
    expect(objects.writes).toHaveLength(1);
  });

  test('stays until everything has gone, and is tried again', async () => {
    const { clock, objects, bindings, done, put } = start();
    bindings.put(binding('alice-role', 'alice'));
    bindings.failure = new Error('away');
    put({ deletionTimestamp: '2026-03-09T10:00:00Z' });
    await clock.advance(10_000);
    expect(objects.peek('alice')).toBeDefined();
    expect(done).not.toContain('password of alice');
    bindings.failure = undefined;
    await clock.advance(20_000);
    expect(objects.peek('alice')).toBeUndefined();
  });

  test('is tried again after twice the time, up to once in half a minute to a minute', async () => {
    const { clock, bindings, put } = start();
    const tries: number[] = [];
    bindings.put(binding('alice-role', 'alice'));
    bindings.failure = new Error('away');
    bindings.before = () => void tries.push(clock.monotonic());
    put({ deletionTimestamp: '2026-03-09T10:00:00Z' });
    await clock.advance(100_000);
    const pauses = tries.slice(1).map((at, index) => at - (tries[index] as number));
    // Half of what it may be: no chance adds to it here.
    expect(pauses).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  });

  test('holds no other user up while it cannot be removed', async () => {
    const { clock, objects, bindings, put } = start();
    bindings.put(binding('alice-role', 'alice'));
    bindings.failure = new Error('away');
    put({ deletionTimestamp: '2026-03-09T10:00:00Z' });
    put({ name: 'bob', uid: 'bob', finalizers: [] });
    await clock.advance(2000);
    expect(objects.peek('bob')?.metadata['finalizers']).toEqual([OURS]);
  });
});

describe('the login records of a user who is being deleted', () => {
  const gone = { deletionTimestamp: '2026-03-09T10:00:00Z' };

  test('stay when they are those of a longer name, whose label is the name of this user', async () => {
    const { clock, objects, loginRecords, put } = start();
    const long = `${'long-name.'.repeat(8)}x`;
    const name = userRef(long);
    const labels = { 'iam.gatehouse.io/user-ref': name };
    for (const one of [`${long}-0123456789`, `${name}-0123456789`, 'odd']) loginRecords.put(record(one, labels));
    put({ name, ...gone });
    await clock.advance(1000);
    expect(objects.peek(name)).toBeUndefined();
    expect(loginRecords.all().map(({ metadata }) => metadata.name)).toEqual([`${long}-0123456789`]);
    put({ name: long, uid: 'long', ...gone });
    loginRecords.put(record(`${name}-1`, labels));
    await clock.advance(1000);
    expect(loginRecords.all().map(({ metadata }) => metadata.name)).toEqual([`${name}-1`]);
  });

  test('go in turns of 50, between which others have theirs, and the sessions end once', async () => {
    const { clock, objects, loginRecords, done, put } = start();
    for (let index = 0; index < 120; index++) loginRecords.put(record(`alice-${index}`));
    const left: number[] = [];
    objects.before = () => void left.push(loginRecords.all().length);
    put(gone);
    put({ name: 'bob', uid: 'bob', finalizers: [] });
    await clock.advance(2000);
    expect(left).toEqual([70, 0]);
    expect([objects.peek('alice'), done]).toEqual([undefined, ['sessions of alice', 'password of alice']]);
  });

  test('are gone on with after a failure of the cluster', async () => {
    const { clock, objects, loginRecords, put } = start();
    for (let index = 0; index < 60; index++) loginRecords.put(record(`alice-${index}`));
    loginRecords.before = () => {
      loginRecords.failure = loginRecords.all().length === 30 ? new Error('away') : undefined;
    };
    put(gone);
    await clock.advance(500);
    expect(loginRecords.all()).toHaveLength(30);
    loginRecords.before = () => {
      loginRecords.failure = undefined;
    };
    await clock.advance(5000);
    expect([loginRecords.all(), objects.peek('alice')]).toEqual([[], undefined]);
  });
});

describe('a user whom nobody completes', () => {
  test.each(['2026-03-09T10:00:00Z', '2025-01-01T00:00:00Z', '2027-01-01T00:00:00Z', 'no time'])(
    'is deleted 90 s after it was first seen, whatever the clock of its maker said (%s)',
    async (since) => {
      const { clock, objects, put } = start();
      put({ annotations: { [NAMES.incomplete]: since }, finalizers: [] });
      await clock.advance(89_000);
      expect(objects.peek('alice')).toBeDefined();
      await clock.advance(2_000);
      expect(objects.peek('alice')).toBeUndefined();
    },
  );

  test('has 90 s of its own when an earlier one of the name was incomplete, too', async () => {
    const { clock, objects, put } = start();
    const incomplete = { annotations: { [NAMES.incomplete]: '2026-03-09T10:00:00Z' }, finalizers: [] };
    put(incomplete);
    await clock.advance(60_000);
    put({ ...incomplete, uid: 'second' });
    await clock.advance(60_000);
    expect(objects.peek('alice')).toBeDefined();
  });

  test('stays when it is completed in time', async () => {
    const { clock, objects, put } = start();
    put({ annotations: { [NAMES.incomplete]: '2026-03-09T10:00:00Z' } });
    await clock.advance(89_000);
    put({});
    await clock.advance(90_000);
    expect(objects.writes).toEqual([]);
  });
});

describe('a user who was made by another tool', () => {
  test('gets our finalizer beside the others', async () => {
    const { clock, objects, put } = start();
    put({ finalizers: ['theirs'] });
    await clock.advance(1000);
    expect(objects.peek('alice')?.metadata['finalizers']).toEqual(['theirs', OURS]);
    expect(objects.writes).toHaveLength(1);
  });

  test('is left alone before all users are known', async () => {
    const { clock, objects, state, put } = start();
    state.isKnown = false;
    put({ finalizers: [] });
    await clock.advance(5000);
    expect(objects.writes).toEqual([]);
    state.isKnown = true;
    await clock.advance(1000);
    expect(objects.peek('alice')?.metadata['finalizers']).toEqual([OURS]);
  });
});

describe('a password in a User object, found by the keeper', () => {
  const inObject = (objects: MemoryObjects): unknown =>
    (objects.peek('alice')?.['spec'] as Record<string, unknown> | undefined)?.['password'];

  test('is moved as it is when it is a bcrypt hash, and leaves the object when all replicas have seen that', async () => {
    const { clock, objects, hashes, events, put } = start();
    put({ annotations: { 'kubectl.kubernetes.io/last-applied-configuration': HASH } }, { spec: { password: HASH } });
    await clock.advance(1000);
    expect([hashes.get('alice'), inObject(objects)]).toEqual([HASH, HASH]);
    await clock.advance(10_000);
    expect(JSON.stringify(objects.peek('alice'))).not.toContain(HASH);
    // For replicas with the configuration of before, which go on with the hash.
    expect(objects.peek('alice')?.metadata.annotations).toEqual({ [NAMES.passwordMoved]: movedMark(HASH) });
    expect(events.all).toEqual([{ event: 'password_moved', user: 'alice', how: 'moved' }]);
  });

  test('is hashed when it is clear text that meets the rules', async () => {
    const { clock, objects, hashes, events, put } = start();
    put({}, { spec: { password: 'Made-up-1' } });
    await clock.advance(12_000);
    expect([hashes.get('alice'), inObject(objects)]).toEqual(['hash of 9', undefined]);
    expect(events.all).toEqual([{ event: 'password_moved', user: 'alice', how: 'hashed' }]);
  });

  test('is removed when it is clear text against the rules', async () => {
    const { clock, objects, hashes, events, put } = start();
    put({}, { spec: { password: 'short' } });
    await clock.advance(1000);
    expect([hashes.get('alice'), inObject(objects)]).toEqual([undefined, undefined]);
    expect(events.all).toEqual([{ event: 'password_moved', user: 'alice', how: 'removed' }]);
  });

  test('is removed where there is another one, which stays', async () => {
    const { clock, objects, hashes, events, put } = start();
    hashes.set('alice', dummyHash(11));
    put({}, { spec: { password: HASH } });
    await clock.advance(12_000);
    expect([hashes.get('alice'), inObject(objects)]).toEqual([dummyHash(11), undefined]);
    expect(objects.peek('alice')?.metadata.annotations ?? {}).not.toHaveProperty([NAMES.passwordMoved]);
    expect(events.all).toEqual([{ event: 'password_moved', user: 'alice', how: 'removed' }]);
  });
});
