import { describe, expect, test } from 'vitest';
import { NAMES } from '../../support/accounts/memory-user-records.ts';
import { replaceAll } from '../../support/replace-all.ts';
import { eachTurn, slowSlices } from '../../support/steps.ts';
import { bindingObject, mirrored, userObject } from './mirrored.ts';

const beingMade = (version = '1') =>
  userObject('new', { version, metadata: { annotations: { [NAMES.incomplete]: '2026-03-02T08:15:30Z' } } });

function watched() {
  const all = mirrored();
  const told: [string, string | undefined][] = [];
  all.records.onChange((name) => told.push([name, all.records.get(name)?.resourceVersion]));
  return { ...all, told };
}

describe('the records of users', () => {
  test('are told of each change, when they answer with it', () => {
    const { putUser, users, told, records } = watched();
    putUser(userObject('a'));
    putUser(userObject('a', { version: '2' }));
    users.remove('a', '3');
    expect(told).toEqual([
      ['a', '1'],
      ['a', '2'],
      ['a', undefined],
    ]);
    expect([...records.all()]).toEqual([]);
  });

  test('after a new list, only names that differ are told', () => {
    const { putUser, users, told, entriesOf } = watched();
    for (const name of ['same', 'changed', 'gone']) putUser(userObject(name));
    told.length = 0;
    const list = entriesOf([userObject('same'), userObject('changed', { version: '5' }), userObject('added')]);
    replaceAll(users, list, { sameHistory: true });
    expect(told).toEqual([
      ['changed', '5'],
      ['added', '1'],
      ['gone', undefined],
    ]);
  });

  test('after a restore of the cluster, all are told', () => {
    const { putUser, users, told, entriesOf } = watched();
    putUser(userObject('same'));
    told.length = 0;
    replaceAll(users, entriesOf([userObject('same')]), { sameHistory: false });
    expect(told).toEqual([['same', '1']]);
  });

  test('are not told of the role, which is not theirs', () => {
    const { putUser, bind, userList, told } = watched();
    putUser(userObject('a'));
    bind(bindingObject('a', 'platform-regular'));
    expect(userList.text('a')).toContain('platform-regular');
    expect(told).toEqual([['a', '1']]);
  });
});

describe('a user who is still being made', () => {
  test('is a record and not in the list, until it is complete', () => {
    const { putUser, userList, records } = watched();
    putUser(beingMade());
    expect([userList.names(), userList.text('new'), records.get('new')?.isIncomplete]).toEqual([[], undefined, true]);
    putUser(userObject('new', { version: '2' }));
    expect([userList.names(), records.get('new')?.isIncomplete]).toEqual([['new'], false]);
  });

  test('leaves the list when it becomes incomplete again, and is forgotten when removed', () => {
    const { putUser, users, userList, records } = watched();
    putUser(userObject('new'));
    putUser(beingMade('2'));
    expect([userList.names(), users.size]).toEqual([[], 1]);
    users.remove('new', '3');
    expect([[...records.all()], users.entries(), users.size]).toEqual([[], [], 0]);
  });

  test('is apart in a new list, too, and counted for the self-check', () => {
    const { users, userList, entriesOf, records } = watched();
    replaceAll(users, entriesOf([beingMade(), userObject('a')]));
    expect(userList.names()).toEqual(['a']);
    expect(users.entries().map(({ key }) => key)).toEqual(['a', 'new']);
    expect([...records.all()].map(({ name }) => name)).toEqual(['a', 'new']);
  });
});

describe('roles of many users at once', () => {
  test('are written in slices of time, and shown together', async () => {
    const { users, bind, userList, entriesOf, bindings } = mirrored(slowSlices());
    const names = Array.from({ length: 1_000 }, (_, index) => `user-${index}`);
    replaceAll(users, entriesOf(names.map((name) => userObject(name))));
    for (const name of names) bind(bindingObject(name, 'platform-regular'));
    const counts: number[] = [];
    await eachTurn(() => {
      counts.push(userList.list('globalrole=platform-regular&limit=0').totalItems);
      return counts.at(-1) === names.length;
    });
    expect([counts.length > 10, new Set(counts)]).toEqual([true, new Set([0, names.length])]);
    bindings.remove('user-7-platform-regular');
    expect(userList.list('globalrole=platform-regular&limit=0').totalItems).toBe(names.length - 1);
  });

  test('survive a list that comes in between', async () => {
    const { users, bind, userList, entriesOf } = mirrored(slowSlices());
    const names = Array.from({ length: 400 }, (_, index) => `user-${index}`);
    const list = names.map((name) => userObject(name));
    replaceAll(users, entriesOf(list));
    for (const name of names) bind(bindingObject(name, 'platform-regular'));
    expect(userList.list('globalrole=platform-regular').totalItems).toBe(0);
    replaceAll(users, entriesOf([...list, userObject('last')]), { sameHistory: true });
    await eachTurn(() => userList.list('globalrole=platform-regular').totalItems === names.length);
    expect(userList.list().totalItems).toBe(401);
  });
});
