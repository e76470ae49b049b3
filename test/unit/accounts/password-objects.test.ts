import { describe, expect, test } from 'vitest';
import { createPasswordObjects } from '../../../src/accounts/passwords/password-objects.ts';
import type { KubernetesObject } from '../../../src/kubernetes/object.ts';
import { dummyHash } from '../../../src/users/password-hash.ts';
import { MemoryUserRecords, userRecord } from '../../support/accounts/memory-user-records.ts';

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
  return { users, patches, passwords: createPasswordObjects({ maxStalenessMs: 1000 }, { users, objects: { patch } }) };
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

  test('is removed', async () => {
    const { passwords, patches } = store(OLD);
    await passwords.remove(ALICE);
    expect(patches).toEqual([{ metadata: { uid: 'uid-alice' }, spec: { password: null } }]);
    expect(passwords.hashOf(ALICE)).toBeUndefined();
  });
});
