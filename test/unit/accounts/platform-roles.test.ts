import { describe, expect, test } from 'vitest';
import { userRef } from '../../../src/accounts/names.ts';
import { NAMES } from '../../support/accounts/memory-user-records.ts';
import { replaceAll } from '../../support/replace-all.ts';
import { bindingObject, mirrored, roleObject } from './mirrored.ts';

const LONG = `${'long-'.repeat(14)}name`;

describe('a kept binding', () => {
  test('makes the role of its user', () => {
    const { bind, platformRoles } = mirrored();
    bind(bindingObject('mia', 'users-manager'));
    expect(platformRoles.roleOf('mia')).toBe('users-manager');
    expect(platformRoles.bindingsOf('mia')).toMatchObject([
      { name: 'mia-users-manager', uid: 'uid-mia-users-manager', resourceVersion: '1', role: 'users-manager' },
    ]);
    expect([platformRoles.roleOf('joe'), platformRoles.bindingsOf('joe')]).toEqual([undefined, []]);
  });

  test('of a long name has a hash in its label', () => {
    const { bind, platformRoles } = mirrored();
    const binding = bindingObject(LONG, 'users-manager');
    bind({ ...binding, metadata: { ...binding.metadata, labels: { [NAMES.userRef]: userRef(LONG) } } });
    expect(platformRoles.roleOf(LONG)).toBe('users-manager');
  });

  const subject = { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'mia' };
  test.each([
    [
      'another name',
      { metadata: { name: 'other', uid: 'u', resourceVersion: '1', labels: { [NAMES.userRef]: 'mia' } } },
    ],
    [
      'the label of another',
      { metadata: { name: 'mia-admin', uid: 'u', resourceVersion: '1', labels: { [NAMES.userRef]: 'joe' } } },
    ],
    ['two subjects', { subjects: [subject, { ...subject, name: 'joe' }] }],
    ['no subject', { subjects: null }],
    ['a group', { subjects: [{ ...subject, kind: 'Group' }] }],
    ['a Role', { roleRef: { kind: 'Role', name: 'admin' } }],
  ])('has not %s', (_, change) => {
    const { bind, platformRoles, bindings } = mirrored();
    bind({ ...bindingObject('mia', 'admin'), ...change });
    expect([platformRoles.roleOf('mia'), platformRoles.roleOf('joe'), bindings.size]).toEqual([
      undefined,
      undefined,
      1,
    ]);
  });
});

describe('two kept bindings of a user', () => {
  test('show the first by name, and are counted as a conflict', () => {
    const { bind, bindings, platformRoles } = mirrored();
    bind(bindingObject('mia', 'b'));
    bind(bindingObject('joe', 'b'));
    expect(bindings.conflicts()).toBe(0);
    bind(bindingObject('mia', 'a'));
    expect([platformRoles.roleOf('mia'), bindings.conflicts()]).toEqual(['a', 1]);
    expect(platformRoles.bindingsOf('mia').map(({ role }) => role)).toEqual(['a', 'b']);
    bindings.remove('mia-a');
    expect([platformRoles.roleOf('mia'), bindings.conflicts()]).toEqual(['b', 0]);
  });
});

describe('changes of kept bindings', () => {
  test('tell their user, when the change is there', () => {
    const { bind, bindings } = mirrored();
    const told: [string, string | undefined][] = [];
    bindings.onChange((user) => told.push([user, bindings.roleOf(user)]));
    bind(bindingObject('mia', 'a'));
    bind({ ...bindingObject('mia', 'a'), subjects: null });
    bindings.remove('mia-a');
    bindings.remove('mia-a');
    expect([bindings.size, bindings.get('mia-a'), bindings.entries()]).toEqual([0, undefined, []]);
    expect(told).toEqual([
      ['mia', 'a'],
      ['mia', undefined],
    ]);
  });

  test('tell after a new list those that differ', () => {
    const { bind, bindings } = mirrored();
    for (const user of ['same', 'gone', 'other']) bind(bindingObject(user, 'a'));
    const told: string[] = [];
    bindings.onChange((user) => told.push(user));
    const list = [bindingObject('same', 'a'), bindingObject('other', 'b'), bindingObject('new', 'a')];
    replaceAll(
      bindings,
      list.map((binding) => bindings.toEntry(binding)),
      { sameHistory: true },
    );
    expect(told.sort()).toEqual(['gone', 'new', 'other']);
    expect([bindings.roleOf('gone'), bindings.roleOf('other')]).toEqual([undefined, 'b']);
    expect(bindings.entries().length).toBe(3);
  });
});

describe('the platform roles', () => {
  test('are the assignable ClusterRoles, with metadata and rules only', () => {
    const { putRole, roleList, platformRoles } = mirrored();
    putRole(roleObject('viewer', { rules: null, aggregationRule: { clusterRoleSelectors: [] } }));
    putRole(roleObject('part', { metadata: { labels: { [NAMES.assignable]: 'false' } } }));
    expect(roleList.list()).toEqual({
      items: [
        {
          metadata: { name: 'viewer', uid: 'uid-viewer', resourceVersion: '1', labels: { [NAMES.assignable]: 'true' } },
          rules: [],
        },
      ],
      totalItems: 1,
    });
    expect(JSON.parse(roleList.text('viewer') ?? '')).toMatchObject({
      kind: 'GlobalRole',
      apiVersion: 'iam.gatehouse.io/v1alpha2',
    });
    expect(roleList.text('part')).toBeUndefined();
    expect(['viewer', 'part', 'none'].map((role) => platformRoles.isAssignable(role))).toEqual([true, false, false]);
  });

  const rolesOf = (annotation?: string): string[] => {
    const { putRole, bind, platformRoles } = mirrored();
    const at = (day: number) => ({ creationTimestamp: `2026-01-0${day}T00:00:00Z` });
    putRole(roleObject('old', { metadata: { ...at(1), labels: {} } }));
    putRole(roleObject('new', { metadata: { ...at(2), labels: {} } }));
    const annotations = annotation === undefined ? {} : { annotations: { [NAMES.aggregationRoles]: annotation } };
    putRole(roleObject('whole', { metadata: { ...at(3), ...annotations } }));
    bind(bindingObject('mia', 'whole'));
    const items: { metadata: { name: string } }[] = JSON.parse(Buffer.from(platformRoles.rolesOf('mia')).toString());
    return items.map(({ metadata }) => metadata.name);
  };

  test.each([
    ['["old","new","gone","old"]', ['new', 'old']],
    ['[]', []],
    [undefined, ['whole']],
    ['no JSON', ['whole']],
    ['{"old":1}', ['whole']],
    ['["old",1]', ['old']],
  ])('of a user are those that the annotation %s names, the newest first', (annotation, names) => {
    expect(rolesOf(annotation)).toEqual(names);
  });

  test('of a user without a role, or with one that is not there, are none', () => {
    const { bind, platformRoles } = mirrored();
    bind(bindingObject('mia', 'gone'));
    expect([platformRoles.rolesOf('mia'), platformRoles.rolesOf('joe')].map(String)).toEqual(['[]', '[]']);
  });
});
