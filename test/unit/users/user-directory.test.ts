import { pino } from 'pino';
import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { createSecurityEvents } from '../../../src/observability/security-events.ts';
import type { User } from '../../../src/users/user.ts';
import { createUserDirectory, type UserSource } from '../../../src/users/user-directory.ts';

const user = (name: string, more: Partial<User> = {}): User => ({
  ...{ name, uid: `uid-${name}`, groups: [], state: 'Active' },
  ...more,
});

function source(label: string, users: readonly User[]) {
  const listeners: (() => void)[] = [];
  const state = { users };
  const set = (next: readonly User[]): void => {
    state.users = next;
    for (const changed of listeners) changed();
  };
  const face: UserSource = { label, users: () => state.users, onChange: (changed) => listeners.push(changed) };
  return { ...face, set };
}

function directory(...sources: readonly UserSource[]) {
  const lines: Record<string, unknown>[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  return { users: createUserDirectory(sources, { events: createSecurityEvents(logger, new Registry()) }), lines };
}

describe('the user directory', () => {
  test('finds users of all sources by name and by exact e-mail', () => {
    const alice = user('alice', { email: 'Alice@example.com' });
    const bob = user('bob');
    const { users } = directory(source('one', [alice]), source('two', [bob]));
    expect([users.byName('alice'), users.byName('bob'), users.byName('Bob')]).toEqual([alice, bob, undefined]);
    expect([users.byEmail('Alice@example.com'), users.byEmail('alice@example.com')]).toEqual([alice, undefined]);
  });

  test('gives a name of two sources to the first, and says so', () => {
    const { users, lines } = directory(
      source('one', [user('alice', { uid: '1' })]),
      source('two', [user('alice', { uid: '2' })]),
    );
    expect(users.byName('alice')?.uid).toBe('1');
    expect(lines).toMatchObject([
      { event: 'user_refused', user: 'alice', source: 'two', reason: 'an earlier source has the same name' },
    ]);
  });

  test('A-41 knows nobody by an address that two users have', () => {
    const email = 'team@example.com';
    const { users } = directory(source('one', [user('a', { email }), user('b', { email }), user('c', { email })]));
    expect([users.byEmail(email), users.byName('a')?.name]).toEqual([undefined, 'a']);
  });

  // A service account never signs in: with `authentication.serviceAccountTokens` it calls with a token of the cluster's, which
  // no directory is asked about. That is the one exception to the row, and off by default.
  test.each([
    'kubernetes-admin',
    'kubernetes-super-admin',
    'kube-admin',
    'system:admin',
    'system:node:x',
    'system:serviceaccount:a:b',
    'kubeadm:x',
  ])('A-32 knows nobody of the reserved name %s', (name) => {
    const { users } = directory(source('one', [user(name, { email: 'x@example.com' })]));
    expect([users.byName(name), users.byEmail('x@example.com')]).toEqual([undefined, undefined]);
  });

  test('follows each change of a source', () => {
    const one = source('one', [user('alice', { email: 'a@example.com' })]);
    const { users } = directory(one, source('two', [user('bob')]));
    one.set([user('carol')]);
    expect(['alice', 'bob', 'carol'].map((name) => users.byName(name)?.name)).toEqual([undefined, 'bob', 'carol']);
    expect(users.byEmail('a@example.com')).toBe(undefined);
  });

  test.each([
    ['is gone', []],
    ['has another uid', [user('alice', { uid: 'other' })]],
    ['has another password', [user('alice', { passwordHash: 'other' })]],
    ['is disabled', [user('alice', { state: 'Disabled' })]],
  ] as const)('tells of a user who %s, once', (_, next) => {
    const alone = source('one', [user('alice'), user('bob')]);
    const { users } = directory(alone);
    const told: [string, User | undefined][] = [];
    users.onChange((name) => told.push([name, users.byName(name)]));
    alone.set([...next, user('bob')]);
    alone.set([...next, user('bob')]);
    expect(told).toEqual([['alice', next[0]]]);
  });

  test('tells of a user who is enabled again', () => {
    const alone = source('one', [user('alice', { state: 'Disabled' })]);
    const { users } = directory(alone);
    const told: string[] = [];
    users.onChange((name) => told.push(name));
    alone.set([user('alice')]);
    expect(told).toEqual(['alice']);
  });

  test('tells of nobody who came, moved between groups or is throttled', () => {
    const alone = source('one', [user('alice')]);
    const { users } = directory(alone);
    const told: string[] = [];
    users.onChange((name) => told.push(name));
    alone.set([user('alice', { groups: ['admins'], state: 'AuthLimitExceeded' }), user('bob')]);
    expect(told).toEqual([]);
  });
});
