import { describe, expect, test } from 'vitest';
import { brokenRules } from '../../../web/views/account/password-rules.ts';
import { firstPassword } from '../../../web/views/users/first-password.ts';
import { allowedBy } from '../../../web/views/users/role-words.ts';

/** Fills with these bytes, again and again from the first one. */
function repeating(bytes: readonly number[]): (filled: Uint8Array) => void {
  let at = 0;
  return (filled) => {
    for (const place of filled.keys()) filled[place] = bytes[at++ % bytes.length] ?? 0;
  };
}

describe('a first password', () => {
  test('keeps the rules, is long, and has no character that looks like another one', () => {
    const made = Array.from({ length: 500 }, () => firstPassword());
    expect(new Set(made).size).toBe(500);
    for (const password of made) {
      expect(password).toMatch(/^[A-Za-z2-9]{16}$/);
      expect(password).not.toMatch(/[0O1lI]/);
      expect(brokenRules(password)).toEqual([]);
    }
  });

  test('is thrown away as a whole without one of the classes', () => {
    const small = Array.from({ length: 64 }, () => 0);
    const every = [0, 24, 48, ...Array.from({ length: 29 }, () => 1)];
    expect(firstPassword(repeating([...small, ...every]))).toBe('aA2bbbbbbbbbbbbb');
  });

  test('takes no byte that would make some characters more likely', () => {
    // 224 is 4 × 56: the bytes from there on would give the first 32 characters once more.
    expect(firstPassword(repeating([224, 255, 0, 24, 48, 223]))).toBe('aA29aA29aA29aA29');
  });
});

describe('what a role allows', () => {
  test('is said in few words', () => {
    const rules = [
      { verbs: ['*'], apiGroups: ['iam.gatehouse.io'], resources: ['*'] },
      { verbs: ['list', 'create', 'update', 'delete', 'impersonate'], apiGroups: [''], resources: ['users', 'groups'] },
      {
        verbs: ['bind'],
        apiGroups: ['rbac.authorization.k8s.io'],
        resources: ['clusterroles'],
        resourceNames: ['view'],
      },
      { verbs: ['get'], nonResourceURLs: ['/metrics'] },
      {},
    ];
    expect(allowedBy(rules)).toEqual([
      { verbs: ['all'], what: '* (iam.gatehouse.io)', names: [] },
      { verbs: ['read', 'create', 'change', 'remove', 'impersonate'], what: 'users, groups', names: [] },
      { verbs: ['bind'], what: 'clusterroles (rbac.authorization.k8s.io)', names: ['view'] },
      { verbs: ['read'], what: '/metrics', names: [] },
      { verbs: [], what: '', names: [] },
    ]);
  });
});
