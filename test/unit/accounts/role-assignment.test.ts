import { describe, expect, test } from 'vitest';
import { accountNames } from '../../../src/accounts/names.ts';
import { AccountRefusals } from '../../../src/accounts/refusals.ts';
import { createRoleAssignment } from '../../../src/accounts/writes/role-assignment.ts';
import { ClusterError } from '../../../src/kubernetes/client/api-client.ts';
import type { Impersonated, WriteOptions } from '../../../src/kubernetes/objects/cluster-objects.ts';
import { MemoryObjects } from '../../support/accounts/memory-objects.ts';
import { bindingObject } from './mirrored.ts';

const CALLER = {
  ...{ name: 'alice', uid: 'u', source: '192.0.2.1', trail: {}, signal: new AbortController().signal },
  groups: ['night', 'givers', 'crew', 'system:authenticated'],
};

/** A cluster that lets us act as alice, and as these groups. */
function start(allowed: readonly string[], answer: () => unknown = () => ({ metadata: { uid: 'made' } })) {
  const asked: Impersonated[] = [];
  const refuse = (message: string) =>
    new ClusterError('a write', {
      status: 403,
      headers: {},
      bytes: 0,
      body: { code: 403, reason: 'Forbidden', message },
    });
  const create = async (_: object, { as }: WriteOptions = {}) => {
    if (!as) throw new Error('it is written as ourselves');
    asked.push(as);
    const group = as.groups.find((one) => !allowed.includes(one));
    const account = 'User "system:serviceaccount:ns:gatehouse"';
    if (group !== undefined)
      throw refuse(
        `groups "${group}" is forbidden: ${account} cannot impersonate resource "groups" in API group "" at the cluster scope`,
      );
    return answer() as never;
  };
  const assignment = createRoleAssignment({
    names: accountNames('example'),
    refusals: new AccountRefusals(accountNames('example')),
    roles: { isAssignable: () => true, bindingsOf: () => [], roleOf: () => undefined },
    bindings: { create } as never,
  });
  return { asked, assignment, refuse };
}

describe('a role binding that is written as the caller', () => {
  test('AC-19 leaves out the groups that we may not act as, and keeps the others', async () => {
    const { asked, assignment } = start(['givers']);
    await assignment.give('bob', 'regular', CALLER);
    expect(asked.map(({ groups }) => groups)).toEqual([['night', 'givers', 'crew'], ['givers', 'crew'], ['givers']]);
    expect(asked.every(({ name }) => name === 'alice')).toBe(true);
  });

  test('AC-19 is never written as ourselves when no group is left', async () => {
    const { asked, assignment } = start([]);
    await assignment.give('bob', 'regular', CALLER);
    expect(asked.at(-1)).toEqual({ name: 'alice', groups: [] });
  });

  test('AC-19 is 503 and not the caller’s fault when we may not act as the caller at all', async () => {
    const message =
      'users "alice" is forbidden: User "system:serviceaccount:ns:gatehouse" cannot impersonate resource "users" in API group "" at the cluster scope';
    const { assignment, refuse } = start(CALLER.groups, () => {
      throw refuse(message);
    });
    await expect(assignment.give('bob', 'regular', CALLER)).rejects.toMatchObject({ answer: { code: 503 } });
  });

  test('AC-19 is 403 when the cluster does not let the caller bind the role', async () => {
    const message =
      'clusterrolebindings.rbac.authorization.k8s.io "bob-regular" is forbidden: user "alice" (groups=["crew"]) is attempting to grant RBAC permissions not currently held';
    const { assignment, refuse } = start(CALLER.groups, () => {
      throw refuse(message);
    });
    await expect(assignment.give('bob', 'regular', CALLER)).rejects.toMatchObject({ answer: { code: 403 } });
  });
});

describe('the role bindings of a user', () => {
  const names = accountNames('gatehouse');
  const roles = { isAssignable: () => true, bindingsOf: () => [], roleOf: () => undefined };
  const start = (...given: readonly string[]) => {
    const bindings = new MemoryObjects();
    for (const role of given) bindings.put(bindingObject('bob', role));
    const assignment = createRoleAssignment({ names, roles, bindings, refusals: new AccountRefusals(names) });
    return { bindings, assignment, left: () => bindings.all().map(({ metadata }) => metadata.name) };
  };

  test('AC-40 are left with the new role alone', async () => {
    const { bindings, assignment, left } = start('regular', 'manager');
    await assignment.give('bob', 'admin', CALLER);
    await assignment.removeOthers('bob', 'admin', CALLER);
    expect(left()).toEqual(['bob-admin']);
    expect(bindings.writes).toEqual(['create bob-admin', 'remove bob-manager', 'remove bob-regular']);
  });

  test('AC-40 get a role again that a rival’s change has removed meanwhile: nobody is left without one', async () => {
    const { bindings, assignment, left } = start('regular');
    await assignment.give('bob', 'admin', CALLER);
    // The rival gave another role, removed this one, and loses its own to this change.
    bindings.put(bindingObject('bob', 'rival'));
    await bindings.remove('bob-admin');
    await assignment.removeOthers('bob', 'admin', CALLER);
    expect(left()).toEqual(['bob-admin']);
  });

  test('A-32 that are cleared for a new user are those of one subject: one that names others as well stays', async () => {
    const { bindings, assignment, left } = start('regular');
    const subjects = ['bob', 'carl'].map((name) => ({ kind: 'User', name }));
    bindings.put({ ...bindingObject('bob', 'shared'), subjects });
    bindings.put({ ...bindingObject('carl', 'regular'), metadata: labelledFor('bob', 'carl-regular') });
    await assignment.clear('bob');
    expect(left()).toEqual(['bob-shared', 'carl-regular']);
  });

  const labelledFor = (user: string, name: string) => ({
    ...{ name, uid: `uid-${name}`, resourceVersion: '1' },
    labels: { [names.userRef]: user },
  });
});

describe('the rights that wait for a user who is to be made', () => {
  const assignmentWith = (bindings: MemoryObjects, namespacedBindings?: MemoryObjects) =>
    createRoleAssignment({
      names: accountNames('gatehouse'),
      refusals: new AccountRefusals(accountNames('gatehouse')),
      roles: { isAssignable: () => true, bindingsOf: () => [], roleOf: () => undefined },
      bindings,
      namespacedBindings,
    });
  const bound = (labels?: Readonly<Record<string, string>>): MemoryObjects => {
    const bindings = new MemoryObjects();
    const metadata = { name: 'edits', uid: 'u', resourceVersion: '', ...(labels && { labels }) };
    bindings.put({
      metadata,
      subjects: [
        { kind: 'Group', name: 'bob' },
        { kind: 'User', name: 'ann' },
      ],
    });
    return bindings;
  };

  test('G-27 are those of RoleBindings too, where the user reaches the cluster without an operator', async () => {
    const follows = assignmentWith(new MemoryObjects(), bound());
    expect([await follows.isBound('ann'), await follows.isBound('bob')]).toEqual([true, false]);
    expect(await assignmentWith(new MemoryObjects()).isBound('ann')).toBe(false);
  });

  test('G-27 are not hidden by a label, which anybody may write who may write RoleBindings', async () => {
    const labels = { 'iam.gatehouse.io/user-ref': 'ann' };
    expect(await assignmentWith(new MemoryObjects(), bound(labels)).isBound('ann')).toBe(true);
  });
});
