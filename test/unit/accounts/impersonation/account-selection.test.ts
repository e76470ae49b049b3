import { describe, expect, test } from 'vitest';
import {
  AccountSelection,
  type AccountSelectionOptions,
} from '../../../../src/accounts/impersonation/account-selection.ts';
import type { UserRecord } from '../../../../src/accounts/users/user-record.ts';
import { RESERVED_NAMES, reservedNames } from '../../../../src/users/user.ts';
import { userRecord } from '../../../support/accounts/memory-user-records.ts';

const ALL = { matchLabels: {}, matchExpressions: [] };

const selectionOf = (options: Partial<AccountSelectionOptions> = {}): AccountSelection =>
  new AccountSelection({ selector: ALL, roles: [], groups: [], ...options }, reservedNames(RESERVED_NAMES));

const choice = (change: Partial<UserRecord>, options?: Partial<AccountSelectionOptions>, role?: string): string =>
  selectionOf(options).chooses(userRecord(change.name ?? 'alice', change), role);

describe('the users of gateway.accounts', () => {
  test.each<[string, Partial<UserRecord>, string]>([
    ['an active user', {}, 'chosen'],
    ['a new user without a state', { state: '' }, 'chosen'],
    ['a user who has failed to sign in too often', { state: 'AuthLimitExceeded' }, 'chosen'],
    ['a disabled user', { state: 'Disabled' }, 'not'],
    ['a user in a state that nobody knows', { state: 'Suspended' }, 'not'],
    ['a user who is being created', { isIncomplete: true }, 'not'],
    ['a user who is being deleted', { isDeleting: true }, 'not'],
    ['a user with a name of the cluster', { name: 'system:admin' }, 'unusable'],
    ['a user with a reserved name', { name: 'kube-admin' }, 'unusable'],
    ['a user whose name is a star', { name: '*' }, 'unusable'],
    ['a disabled user with a reserved name', { name: 'kube-admin', state: 'Disabled' }, 'not'],
  ])('G-25 %s: %j is %s', (_, change, expected) => {
    expect(choice(change)).toBe(expected);
  });

  test('with roles, only users with one of them are chosen', () => {
    const options = { roles: ['platform-admin', 'platform-regular'] };
    expect([choice({}, options, 'platform-regular'), choice({}, options, 'viewer'), choice({}, options)]).toEqual([
      'chosen',
      'not',
      'not',
    ]);
  });

  test('with a selector, only users with such labels are chosen', () => {
    const options = { selector: { ...ALL, matchLabels: { kubectl: 'true' } } };
    expect([choice({ labels: { kubectl: 'true' } }, options), choice({ labels: { kubectl: '' } }, options)]).toEqual([
      'chosen',
      'not',
    ]);
  });

  // The rules of `metav1.LabelSelectorRequirement`.
  test.each([
    ['In', ['a', 'b'], { k: 'a' }, true],
    ['In', ['a', 'b'], { k: 'c' }, false],
    ['In', ['a'], {}, false],
    ['NotIn', ['a'], { k: 'a' }, false],
    ['NotIn', ['a'], { k: 'b' }, true],
    ['NotIn', ['a'], {}, true],
    ['Exists', [], { k: '' }, true],
    ['Exists', [], {}, false],
    ['DoesNotExist', [], { k: '' }, false],
    ['DoesNotExist', [], {}, true],
  ] as const)('%s %j with the labels %j is %s', (operator, values, labels, expected) => {
    const selection = selectionOf({ selector: { ...ALL, matchExpressions: [{ key: 'k', operator, values }] } });
    expect(selection.selectsLabels(labels)).toBe(expected);
  });

  test('every requirement has to be fulfilled', () => {
    const matchExpressions = [{ key: 'left', operator: 'DoesNotExist', values: [] }] as const;
    const selection = selectionOf({ selector: { matchLabels: { kubectl: 'true' }, matchExpressions } });
    expect(selection.selectsLabels({ kubectl: 'true' })).toBe(true);
    expect(selection.selectsLabels({ kubectl: 'true', left: '' })).toBe(false);
  });

  test.each([
    ['team-a', true],
    ['team-', true],
    ['teams', false],
    ['ops', true],
    ['ops2', false],
    ['system:masters', false],
    ['system:authenticated', false],
    ['kubeadm:cluster-admins', false],
    ['kube-admin', false],
    ['*', false],
    ['', false],
  ])('the group "%s" is chosen: %s', (group, expected) => {
    const selection = selectionOf({ groups: ['team-*', 'ops', 's*', 'k*', '*x'] });
    expect(selection.choosesGroup(group)).toBe(expected);
  });
});
