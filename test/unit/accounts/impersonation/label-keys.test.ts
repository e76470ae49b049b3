import { expect, test } from 'vitest';
import { AccountSelection } from '../../../../src/accounts/impersonation/account-selection.ts';

test.each(['constructor', 'toString', 'hasOwnProperty'])(
  'no user has the label %s because JavaScript has a member of that name',
  (key) => {
    const selector = (operator: 'Exists' | 'DoesNotExist' | 'NotIn') => ({
      matchLabels: {},
      matchExpressions: [{ key, operator, values: operator === 'NotIn' ? ['no'] : [] }],
    });
    const selects = (operator: 'Exists' | 'DoesNotExist' | 'NotIn', labels: Record<string, string>): boolean =>
      new AccountSelection({ selector: selector(operator), roles: [], groups: [] }, () => false).selectsLabels(labels);
    expect(selects('Exists', {})).toBe(false);
    expect(selects('DoesNotExist', {})).toBe(true);
    expect(selects('Exists', { [key]: 'no' })).toBe(true);
    expect(selects('NotIn', { [key]: 'no' })).toBe(false);
  },
);
