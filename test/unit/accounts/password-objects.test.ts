import { describe, expect, test } from 'vitest';
import { movedMark } from '../../../src/accounts/passwords/moved-mark.ts';
import { createPasswordObjects } from '../../../src/accounts/passwords/password-objects.ts';
import type { KubernetesObject } from '../../../src/kubernetes/object.ts';
import { dummyHash } from '../../../src/users/password-hash.ts';
import { MemoryUserRecords, NAMES, userRecord } from '../../support/accounts/memory-user-records.ts';

const OLD = dummyHash(10);
const NEW = dummyHash(11);
const ALICE = { name: 'alice', uid: 'uid-alice' };

function store(storedPassword?: string) {
  const users = new MemoryUserRecords([userRecord('alice', { storedPassword })]);
  const patches: object[] = [];
  const patch = async (name: string, change: object): Promise<KubernetesObject> => {
    patches.push(change);
    return { metadata: { name, uid: 'uid-alice', resourceVersion: '7' } };
  };
  return {
    users,
    patches,
    passwords: createPasswordObjects({ maxStalenessMs: 1000 }, { names: NAMES, users, objects: { patch } }),
  };
}

describe('a password in the User object', () => {
  test('counts for its uid, and when it is a bcrypt hash', () => {
    expect(store(OLD).passwords.hashOf(ALICE)).toBe(OLD);
    expect(store(OLD).passwords.hashOf({ name: 'alice', uid: 'other' })).toBeUndefined();
    expect(store('in the clear').passwords.hashOf(ALICE)).toBeUndefined();
  });

  test('is patched with the uid, and shown before the watch shows it', async () => {
    const { passwords, patches, users } = store(OLD);
    await passwords.set(ALICE, NEW);
    expect(patches).toEqual([{ metadata: { uid: 'uid-alice' }, spec: { password: NEW } }]);
    expect(passwords.hashOf(ALICE)).toBe(NEW);
    users.put(userRecord('alice', { storedPassword: OLD, resourceVersion: '6' }));
    expect(passwords.hashOf(ALICE)).toBe(NEW);
    users.put(userRecord('alice', { storedPassword: OLD, resourceVersion: '8' }));
    expect(passwords.hashOf(ALICE)).toBe(OLD);
  });

  test('counts after it was moved into another store, until the password changes or the object is another', () => {
    const { passwords, users } = store();
    const told: (string | undefined)[] = [];
    passwords.onChange(() => told.push(passwords.hashOf(ALICE)));
    const moved = userRecord('alice', { passwordMoved: movedMark(OLD) });
    users.put(userRecord('alice', { storedPassword: OLD }));
    users.put(moved);
    users.put(userRecord('alice', { passwordMoved: movedMark(NEW) }));
    users.put(moved); // as at a start: this replica has not seen the hash
    expect(told).toEqual([OLD, OLD, undefined, undefined]);
    users.put(userRecord('alice', { storedPassword: OLD }));
    users.put(userRecord('alice'));
    users.put(userRecord('alice', { storedPassword: OLD }));
    users.put({ ...moved, uid: 'other' });
    expect(told.slice(4)).toEqual([OLD, undefined, OLD, undefined]);
    expect(passwords.hashOf({ name: 'alice', uid: 'other' })).toBeUndefined();
  });

  test('is no longer marked as moved once it is written here again', async () => {
    const { passwords, patches, users } = store();
    users.put(userRecord('alice', { passwordMoved: movedMark(OLD) }));
    await passwords.set(ALICE, NEW);
    const annotations = { [NAMES.passwordMoved]: null };
    expect(patches).toEqual([{ metadata: { uid: 'uid-alice', annotations }, spec: { password: NEW } }]);
  });

  test('is removed', async () => {
    const { passwords, patches } = store(OLD);
    await passwords.remove(ALICE);
    expect(patches).toEqual([{ metadata: { uid: 'uid-alice' }, spec: { password: null } }]);
    expect(passwords.hashOf(ALICE)).toBeUndefined();
  });
});
