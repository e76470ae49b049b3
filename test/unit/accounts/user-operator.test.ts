import { describe, expect, test } from 'vitest';
import { UserOperator } from '../../../src/accounts/operator/user-operator.ts';
import { createStatusPatch } from '../../../src/accounts/states/status-patch.ts';
import type { KubernetesObject } from '../../../src/kubernetes/object.ts';
import { RESERVED_NAMES, type User } from '../../../src/users/user.ts';
import { MemoryObjects } from '../../support/accounts/memory-objects.ts';
import { NAMES } from '../../support/accounts/memory-user-records.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { bindingObject, roleObject } from './mirrored.ts';

const NOW = '2026-03-09T10:00:00Z';

function start() {
  const [users, bindings, roles] = [new MemoryObjects(), new MemoryObjects(), new MemoryObjects()];
  const [printed, hashes] = [[] as string[], new Map<string, string>()];
  const operator = new UserOperator({
    ...{ names: NAMES, objects: users, bindings, roles, patchStatus: createStatusPatch(users), clock: new FakeClock() },
    reservedNames: new Set([...RESERVED_NAMES, 'root']),
    setPassword: async ({ name, uid }, hash) => void hashes.set(`${name} ${uid}`, hash),
    print: (line) => void printed.push(line),
  });
  roles.put(roleObject('regular'));
  const put = (name: string, { metadata = {}, ...more }: { metadata?: object; spec?: object; status?: object } = {}) =>
    users.put({ metadata: { name, uid: `uid-${name}`, resourceVersion: '', ...metadata }, ...more });
  return { users, bindings, roles, printed, hashes, operator, put };
}
const statusOf = (object: KubernetesObject | undefined): unknown => object?.['status'];

describe('the operator’s list', () => {
  test('has a dash for what is not there, the users by name, and columns as wide as their text', async () => {
    const { operator, bindings, printed, put } = start();
    put('zoe');
    put('mia', {
      spec: { email: 'mia@example.com' },
      status: { state: 'Active', lastLoginTime: '2026-03-01T00:00:00Z' },
    });
    bindings.put(bindingObject('mia', 'regular'));
    bindings.put(bindingObject('mia', 'admin'));
    const { metadata, ...rest } = bindingObject('zoe', 'admin');
    bindings.put({ ...rest, metadata: { ...metadata, labels: { [NAMES.userRef]: 'mia' } } });
    await operator.list();
    expect(printed).toEqual([
      'NAME  EMAIL            STATE   ROLE   LAST SIGN-IN',
      'mia   mia@example.com  Active  admin  2026-03-01T00:00:00Z',
      'zoe   -                -       -      -',
    ]);
  });
});

describe('a user whom the operator makes', () => {
  test('AC-10 is whole: address, groups, language, role, state and password', async () => {
    const { operator, users, bindings, hashes, printed } = start();
    const more = { groups: ['ops'], lang: 'de', role: 'regular', hash: 'a hash' };
    await operator.create({ name: 'mia', email: 'mia@example.com', ...more });
    const made = users.peek('mia');
    expect(made).toMatchObject({
      ...{ apiVersion: NAMES.apiVersion, kind: 'User' },
      spec: { email: 'mia@example.com', lang: 'de', groups: ['ops'] },
      status: { state: 'Active', lastTransitionTime: NOW },
    });
    expect(made?.metadata['finalizers']).toEqual([NAMES.finalizer]);
    expect(made?.metadata.annotations).toEqual({ [NAMES.lastPasswordChange]: NOW });
    expect(bindings.peek('mia-regular')).toMatchObject({ roleRef: { name: 'regular' }, subjects: [{ name: 'mia' }] });
    expect([...hashes]).toEqual([[`mia ${made?.metadata.uid}`, 'a hash']]);
    expect(printed).toEqual(['made the user mia']);
  });

  test('AC-17 has no password, no role and no groups unless they are given, and it is said', async () => {
    const { operator, users, bindings, hashes, printed } = start();
    await operator.create({ name: 'mia', email: '', groups: [] });
    expect(users.peek('mia')?.['spec']).toEqual({ email: '' });
    expect(users.peek('mia')?.metadata.annotations).toEqual({});
    expect([hashes.size, bindings.all()]).toEqual([0, []]);
    expect(printed).toEqual(['made the user mia, who has no password yet']);
  });

  test('AC-14 is refused when the name is taken, and any other fault is told as it is', async () => {
    const { operator, users, put } = start();
    put('mia');
    const mia = { name: 'mia', email: '', groups: [] };
    await expect(operator.create(mia)).rejects.toThrow('there is a user object mia');
    users.failure = new Error('away');
    await expect(operator.create({ ...mia, name: 'zoe' })).rejects.toThrow('away');
  });

  test('is removed again when it cannot be completed', async () => {
    const { operator, users, printed } = start();
    users.before = (write) => {
      users.failure = write.includes('/status') ? new Error('away') : undefined;
    };
    await expect(operator.create({ name: 'mia', email: '', groups: [] })).rejects.toThrow('away');
    expect(users.peek('mia')?.metadata).toHaveProperty('deletionTimestamp');
    expect(printed).toEqual([]);
  });

  test.each([
    [{ name: 'Not A Name' }, 'metadata.name: '],
    [{ name: 'root' }, 'metadata.name: '],
    [{ email: 'x' }, 'spec.email: '],
    [{ email: 'MIA@example.com' }, 'mia has this e-mail address'],
    [{ groups: ['a', 'a'] }, 'a group is given twice'],
    [{ groups: ['system:masters'] }, 'spec.groups[0]: '],
    [{ email: 'x', groups: ['a', 'a'] }, '; spec.groups: '],
    [{ role: 'none-such' }, 'there is no platform role none-such: there are admin, regular'],
  ])('is refused with %j, and nothing is made', async (change, words) => {
    const { operator, users, roles, put } = start();
    put('mia', { spec: { email: 'Mia@example.com' } });
    roles.put(roleObject('admin'));
    const refused = operator.create({ name: 'zoe', email: '', groups: [], ...change });
    await expect(refused).rejects.toThrow(words);
    await expect(refused).rejects.toMatchObject({ name: 'UserRequestError' });
    expect(users.writes).toEqual([]);
  });

  test('AC-18 is told that there is no role at all', async () => {
    const { operator, roles } = start();
    await roles.remove('regular');
    await expect(operator.create({ name: 'mia', email: '', groups: [], role: 'a' })).rejects.toThrow(
      'there is no platform role a: there are none',
    );
  });
});

describe('what the operator does to a user', () => {
  test('AC-62 the sessions have ended before a password is set, so that they end even if the operator’s last write fails', async () => {
    const { operator, users, hashes, put } = start();
    put('mia');
    const before: unknown[] = [];
    hashes.set = (key, hash) => {
      before.push(users.peek('mia')?.metadata.annotations);
      users.failure = new Error('away');
      return Map.prototype.set.call(hashes, key, hash);
    };
    await expect(operator.setPassword('mia', 'a hash')).rejects.toThrow('away');
    expect(before).toEqual([{ [NAMES.tokensNotBefore]: NOW }]);
    expect([...hashes]).toEqual([['mia uid-mia', 'a hash']]);
  });

  test('AC-62 a password is set, and tokens end', async () => {
    const { operator, users, hashes, printed, put } = start();
    put('mia', { metadata: { annotations: { [NAMES.passwordMoved]: 'a digest of an earlier one' } } });
    await operator.setPassword('mia', 'a hash');
    expect([...hashes]).toEqual([['mia uid-mia', 'a hash']]);
    expect(users.peek('mia')?.metadata.annotations).toEqual({
      [NAMES.lastPasswordChange]: NOW,
      [NAMES.tokensNotBefore]: NOW,
    });
    expect(printed).toEqual(['the password of mia is set, and all sessions of mia end']);
  });

  test('AC-35 a disable ends tokens first; an enable does not', async () => {
    const { operator, users, printed, put } = start();
    put('mia', { status: { state: 'Active' } });
    await operator.setState('mia', 'Disabled', 'why');
    expect(users.writes).toEqual(['patch mia', 'patch mia/status']);
    expect(users.peek('mia')?.metadata.annotations).toEqual({ [NAMES.tokensNotBefore]: NOW });
    expect(statusOf(users.peek('mia'))).toEqual({ state: 'Disabled', reason: 'why', lastTransitionTime: NOW });
    await operator.setState('mia', 'Active', 'again');
    expect(users.writes.slice(2)).toEqual(['patch mia/status']);
    expect(printed).toEqual(['mia is Disabled', 'mia is Active']);
  });

  test('unlock makes active who is locked, and nobody else', async () => {
    const { operator, users, put } = start();
    put('mia', { status: { state: 'AuthLimitExceeded' } });
    put('zoe', { status: { state: 'Disabled' } });
    put('new');
    await operator.unlock('mia');
    expect(statusOf(users.peek('mia'))).toMatchObject({ state: 'Active', reason: 'unlocked by an operator' });
    await expect(operator.unlock('zoe')).rejects.toThrow('zoe is not locked, but Disabled');
    await expect(operator.unlock('new')).rejects.toThrow('new is not locked, but without a state');
    expect(users.writes).toEqual(['patch mia/status']);
  });

  test('is refused for a user who is not there, is being deleted or is still being made', async () => {
    const { operator, users, put } = start();
    put('leaving', { metadata: { deletionTimestamp: NOW, finalizers: ['x'] } });
    put('coming', { metadata: { annotations: { [NAMES.incomplete]: NOW } } });
    for (const act of [
      (name: string) => operator.setPassword(name, 'a hash'),
      (name: string) => operator.setState(name, 'Active', ''),
      (name: string) => operator.unlock(name),
    ]) {
      await expect(act('nobody')).rejects.toThrow('there is no user object nobody');
      await expect(act('leaving')).rejects.toThrow('leaving is being deleted');
      await expect(act('coming')).rejects.toThrow('coming is still being made');
    }
    expect(users.writes).toEqual([]);
  });
});

describe('an import of a users file', () => {
  const user = (name: string, more: Partial<User> = {}): User => ({
    ...{ name, uid: `of-${name}`, groups: [], state: 'Active' as const },
    ...more,
  });
  const FILE = [
    user('lena'),
    user('max', {
      email: 'max@example.com',
      emailVerified: true,
      groups: ['ops'],
      locale: 'de',
      passwordHash: 'a hash',
    }),
    user('nina', { state: 'Disabled' }),
    user('otto', { email: 'LENA@example.com' }),
    user('kubernetes-admin'),
    user('root'),
    user('rosa', { email: 'MAX@example.com' }),
    user('sven', { state: 'AuthLimitExceeded' }),
  ];
  const lines = (word: string, end: string) => [
    'skip  lena: there is an object of this name (state not set)',
    `${word} max`,
    `${word} nina`,
    'skip  otto: lena has the same e-mail address',
    'skip  kubernetes-admin: the name is reserved',
    expect.stringMatching(/^skip {2}root: (?!the name is reserved)./),
    'skip  rosa: max has the same e-mail address',
    `${word} sven`,
    end,
  ];

  test('only says what it would do', async () => {
    const { operator, users, printed, put } = start();
    put('lena', { spec: { email: 'lena@example.com' } });
    await operator.import(FILE, false);
    expect(printed).toEqual(lines('make ', '3 to make, 5 to skip: nothing is written without --apply'));
    expect(users.writes).toEqual([]);
  });

  test('makes those who are not there, as they are in the file', async () => {
    const { operator, users, hashes, printed, put } = start();
    put('lena', { spec: { email: 'lena@example.com' } });
    await operator.import(FILE, true);
    expect(printed).toEqual(lines('made ', '3 made, 5 skipped'));
    expect(users.peek('max')?.['spec']).toEqual({ email: 'max@example.com', lang: 'de', groups: ['ops'] });
    expect(users.peek('max')?.metadata.annotations).toMatchObject({ [NAMES.emailVerified]: 'max@example.com' });
    expect([...hashes.values()]).toEqual(['a hash']);
    expect(['max', 'nina', 'sven'].map((name) => (statusOf(users.peek(name)) as { state: string }).state)).toEqual([
      'Active',
      'Disabled',
      'Active',
    ]);
  });
});
