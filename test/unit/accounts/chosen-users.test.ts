import { expect, test } from 'vitest';
import { AccountSelection } from '../../../src/accounts/impersonation/account-selection.ts';
import { ChosenUsers } from '../../../src/accounts/impersonation/chosen-users.ts';
import { accountNames } from '../../../src/accounts/names.ts';
import { toUserRecord } from '../../../src/accounts/users/user-record.ts';

const selector = { matchLabels: {}, matchExpressions: [] };
const user = (name: string, groups: readonly string[] = []) =>
  toUserRecord(
    {
      apiVersion: 'v1',
      kind: 'User',
      metadata: { name, uid: name, resourceVersion: '1' },
      spec: { email: '', groups },
    },
    accountNames('gatehouse'),
  );

test('the wanted names are computed once for each change of a user', () => {
  const selection = new AccountSelection({ selector, roles: [], groups: ['team-*'] }, () => false);
  const chosen = new ChosenUsers({ selection, roleOf: () => undefined, isCounted: () => true });
  chosen.update('ada', user('ada', ['team-a', 'other']));
  const wanted = chosen.wanted();
  expect(chosen.wanted()).toBe(wanted);
  expect([[...wanted.users], [...wanted.groups]]).toEqual([['ada'], ['team-a']]);
  chosen.update('bob', user('bob'));
  expect([...chosen.wanted().users]).toEqual(['ada', 'bob']);
  chosen.update('ada', undefined);
  expect([[...chosen.wanted().users], [...chosen.wanted().groups]]).toEqual([['bob'], []]);
});
