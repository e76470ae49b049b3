import { describe, expect, test } from 'vitest';
import {
  formOf,
  type ImpersonationRole,
  namesIn,
  toRules,
} from '../../../../src/accounts/impersonation/impersonation-role.ts';
import { differencesOf, planRoles, type WantedNames } from '../../../../src/accounts/impersonation/role-plan.ts';

const role = (
  name: string,
  users: readonly string[] = [],
  more: Partial<ImpersonationRole> = {},
): ImpersonationRole => ({
  ...{ name, resourceVersion: '1', users: [...users].sort(), groups: [], isOurs: true },
  ...more,
});
const wanted = (users: readonly string[], groups: readonly string[] = []): WantedNames => ({
  users: new Set(users),
  groups: new Set(groups),
});
const many = (count: number, prefix = 'u'): string[] =>
  Array.from({ length: count }, (_, at) => `${prefix}${String(at).padStart(4, '0')}`);
const plan = (roles: readonly ImpersonationRole[], names: WantedNames) => planRoles(roles, differencesOf(roles, names));
const summary = (roles: readonly ImpersonationRole[], names: WantedNames) =>
  plan(roles, names).writes.map(({ role: { name }, names: { users, groups } }) => [name, users.length, groups.length]);

describe('the plan of the ClusterRoles', () => {
  test('writes nothing when the roles are equal to the users', () => {
    expect(plan([role('r-0', ['bob', 'ann'])], wanted(['ann', 'bob']))).toEqual({ writes: [], withoutRoom: [] });
  });

  test('G-25 a new user changes one role', () => {
    const roles = [role('r-0', many(1_000)), role('r-1', ['x'])];
    expect(summary(roles, wanted([...many(1_000), 'x', 'new']))).toEqual([['r-1', 2, 0]]);
  });

  test('a user who leaves changes the role of that user only, and makes room in it', () => {
    const roles = [role('r-0', many(1_000)), role('r-1', ['x'])];
    expect(summary(roles, wanted([...many(1_000).slice(1), 'x']))).toEqual([['r-0', 999, 0]]);
    expect(summary([role('r-0', many(999))], wanted([...many(999), 'new']))).toEqual([['r-0', 1_000, 0]]);
  });

  test('2,500 users fill two roles and half of the third', () => {
    expect(summary([role('r-0'), role('r-1'), role('r-2')], wanted(many(2_500)))).toEqual([
      ['r-0', 1_000, 0],
      ['r-1', 1_000, 0],
      ['r-2', 500, 0],
    ]);
  });

  test('names beyond the room of all roles are told, and those that are in stay', () => {
    const roles = [role('r-0', many(1_000, 'z'))];
    const { writes, withoutRoom } = plan(roles, wanted([...many(1_000, 'z'), 'a']));
    expect(writes).toEqual([]);
    expect(withoutRoom).toEqual([{ named: 'users', name: 'a', isMissing: true }]);
  });

  test('a name that two roles have stays in the first when either is written', () => {
    const roles = [role('r-0', ['ann']), role('r-1', ['ann', 'bob'])];
    expect(summary(roles, wanted(['ann']))).toEqual([['r-1', 0, 0]]);
  });

  test('groups have a room of their own', () => {
    expect(summary([role('r-0', many(1_000))], wanted(many(1_000), ['team-a']))).toEqual([['r-0', 1_000, 1]]);
  });

  test('a role with other rules is written again, with the same names', () => {
    expect(summary([role('r-0', ['ann'], { isOurs: false })], wanted(['ann']))).toEqual([['r-0', 1, 0]]);
  });

  test('tells what a write adds, so that one that only takes away can be told from it', () => {
    const [write] = plan([role('r-0', ['ann', 'bob'])], wanted(['ann', 'eve'])).writes;
    expect([write?.names.users, write?.added.users]).toEqual([['ann', 'eve'], ['eve']]);
  });
});

describe('the rules of a role', () => {
  const FORM = formOf(false);

  test('name users and groups, sorted, by the verb of the form', () => {
    expect(toRules({ users: ['bob', 'ann'], groups: ['team-a'] }, FORM)).toEqual([
      { apiGroups: [''], resources: ['users'], resourceNames: ['ann', 'bob'], verbs: ['impersonate'] },
      { apiGroups: [''], resources: ['groups'], resourceNames: ['team-a'], verbs: ['impersonate'] },
    ]);
    expect(toRules({ users: ['ann'], groups: [] }, formOf(true))).toEqual([
      {
        ...{ apiGroups: ['authentication.k8s.io'], resources: ['users'] },
        ...{ resourceNames: ['ann'], verbs: ['impersonate:user-info'] },
      },
    ]);
  });

  test('without names there is no rule: one without resourceNames would allow every name', () => {
    expect(toRules({ users: [], groups: [] }, FORM)).toEqual([]);
  });

  test('what is written is read again', () => {
    const names = { users: ['ann', 'bob'], groups: ['team-a'] };
    expect(namesIn(toRules(names, FORM), FORM)).toEqual({ ...names, isOurs: true });
    expect(namesIn(undefined, FORM)).toEqual({ users: [], groups: [], isOurs: true });
  });

  test.each([
    ['another verb', { verbs: ['impersonate', 'get'] }],
    ['another resource', { resources: ['users', 'serviceaccounts'] }],
    ['no order', { resourceNames: ['bob', 'ann'] }],
    ['the other form', { verbs: ['impersonate:user-info'], apiGroups: ['authentication.k8s.io'] }],
  ])('rules with %s are not ours, and their names are read all the same', (_, change) => {
    const rule = {
      apiGroups: [''],
      resources: ['users'],
      resourceNames: ['ann', 'bob'],
      verbs: ['impersonate'],
      ...change,
    };
    expect(namesIn([rule], FORM)).toEqual({ users: ['ann', 'bob'], groups: [], isOurs: false });
  });
});
