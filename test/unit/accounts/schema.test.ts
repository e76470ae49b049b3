import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { userSchema } from '../../../src/accounts/schema/user-schema.ts';
import { emailFaults, groupsFaults, nameFaults, textFaults } from '../../../src/accounts/users/user-fields.ts';
import { RESERVED_NAMES } from '../../../src/users/user.ts';
import { check } from '../../support/property.ts';

const user = { apiVersion: 'iam.gatehouse.io/v1alpha2', kind: 'User', metadata: { name: 'alice' } };
const isGood = (object: object): boolean => userSchema.safeParse({ ...user, spec: { email: '' }, ...object }).success;

/** Mostly of the characters that rules speak of. */
const text = (longest: number) =>
  fc.oneof(
    fc.string({ unit: fc.constantFrom('a', '@', '.', ' ', '\n', '\u0085', 'é', '🦊'), maxLength: 6, size: 'max' }),
    fc.nat(2).map((more) => '🦊'.repeat(longest - 1 + more)),
    fc.string({ unit: 'binary', maxLength: 20, size: 'max' }),
  );

describe('the rules that writes through us follow, and the schema that the cluster follows', () => {
  test('agree about names', () => {
    const names = fc.oneof(
      fc.string({ unit: fc.constantFrom('a', '0', '-', '.', 'A', ':'), maxLength: 8, size: 'max' }),
      fc.constantFrom(...RESERVED_NAMES, 'system:admin', 'kubeadm:x', 'system'),
      fc.nat(2).map((more) => 'a'.repeat(62 + more)),
    );
    const faults = (name: string): number => nameFaults(name, new Set(RESERVED_NAMES)).length;
    check(fc.property(names, (name) => isGood({ metadata: { name } }) === (faults(name) === 0)));
  });

  test('agree about e-mail addresses', () => {
    check(fc.property(text(254), (email) => isGood({ spec: { email } }) === (emailFaults(email).length === 0)));
  });

  test.each(['lang', 'displayName', 'description'])('agree about %s', (field) => {
    const agrees = (value: string): boolean =>
      isGood({ spec: { email: '', [field]: value } }) === (textFaults(field, value).length === 0);
    check(fc.property(text(256), agrees));
  });

  test('agree about groups', () => {
    const group = fc.oneof(text(128), fc.constantFrom('a', 'system:masters', 'kubeadm:x', 'system', ''));
    const groups = fc.array(group, { maxLength: 5, size: 'max' });
    const agrees = (list: string[]): boolean =>
      isGood({ spec: { email: '', groups: list } }) === (groupsFaults(list).length === 0);
    check(fc.property(groups, agrees));
    for (const length of [64, 65]) expect(agrees(Array.from({ length }, (_, index) => `group-${index}`))).toBe(true);
  });
});
