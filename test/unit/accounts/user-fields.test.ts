import { describe, expect, test } from 'vitest';
import { passwordFaults } from '../../../src/accounts/passwords/password-rules.ts';
import { emailFaults, groupsFaults, nameFaults, textFaults } from '../../../src/accounts/users/user-fields.ts';
import { hashOf } from '../../support/passwords.ts';

const RESERVED = new Set(['kubernetes-admin']);

const fieldsOf = (causes: readonly { readonly field?: string }[]) => causes.map(({ field }) => field);

describe('AC-12, AC-13 the name of a new user', () => {
  test.each(['a', 'alice', 'a.b-c', '0', 'x'.repeat(63)])('may be %s', (name) => {
    expect(nameFaults(name, RESERVED)).toEqual([]);
  });

  test.each([
    undefined,
    '',
    'Alice',
    'al ice',
    '-a',
    'a.',
    'x'.repeat(64),
    'system:admin',
    'kubeadm:x',
    'kubernetes-admin',
    'ａlice',
  ])('is not %s', (name) => {
    expect(fieldsOf(nameFaults(name, RESERVED))).toEqual(['metadata.name']);
  });

  test('is repeated in the refusal up to 64 characters only', () => {
    expect(JSON.stringify(nameFaults('X'.repeat(100_000), RESERVED)).length).toBeLessThan(300);
  });
});

describe('AC-15 an e-mail address', () => {
  test.each(['', 'a@example.com', 'A.b+c@example.com'])('may be "%s"', (email) => {
    expect(emailFaults(email)).toEqual([]);
  });

  test.each(['a', '@', 'a@', '@b', 'a@b@c', 'a b@example.com', 'ä@example.com', `${'a'.repeat(254)}@x`])(
    'is not "%s"',
    (email) => {
      expect(fieldsOf(emailFaults(email))).toEqual(['spec.email']);
    },
  );
});

describe('texts about a user', () => {
  test('have up to 256 characters, whatever their bytes', () => {
    expect(textFaults('spec.displayName', '😀'.repeat(256))).toEqual([]);
    expect(fieldsOf(textFaults('spec.displayName', 'a'.repeat(257)))).toEqual(['spec.displayName']);
  });

  test.each(['\u0000', '\u0007', '\n', '\u007f', '\u0085'])('have no control character (%j)', (text) => {
    expect(fieldsOf(textFaults('spec.lang', `a${text}`))).toEqual(['spec.lang']);
  });
});

describe('AC-20 A-31 groups', () => {
  test('are up to 64, each of up to 128 characters', () => {
    expect(groupsFaults(Array.from({ length: 64 }, (_, at) => `${at}`.padEnd(128, 'x')))).toEqual([]);
    expect(fieldsOf(groupsFaults(Array.from({ length: 65 }, (_, at) => `${at}`)))).toEqual(['spec.groups']);
    expect(fieldsOf(groupsFaults(['a', 'b'.repeat(129)]))).toEqual(['spec.groups[1]']);
  });

  test('are never those of the cluster itself, and each bad one is named', () => {
    const unsendable = [' padded', 'padded ', 'half\ud800'];
    expect(fieldsOf(groupsFaults(unsendable))).toEqual(unsendable.map((_, at) => `spec.groups[${at}]`));
    expect(groupsFaults(['Domain Admins', 'Entwickler-S\u00fcd', '\u958b\u767a'])).toEqual([]);
    const faults = groupsFaults(['system:masters', 'good', 'kubeadm:cluster-admins', '', 'a\u0007']);
    expect(fieldsOf(faults)).toEqual(['spec.groups[0]', 'spec.groups[2]', 'spec.groups[3]', 'spec.groups[4]']);
  });
});

describe('AC-16 AC-66 A-36 a new password', () => {
  test.each(['Passw0rd', `Aa1${'x'.repeat(69)}`, 'Gr0ße-Wörter', 'Aa1 \t ~€'])('may be %j', (password) => {
    expect(passwordFaults('password', password)).toEqual([]);
  });

  test.each([
    ['empty', ''],
    ['of seven characters', 'Ab1defg'],
    ['without a digit', 'Abcdefgh'],
    ['without a lower-case letter', 'ABCDEFG1'],
    ['without an upper-case letter', 'abcdefg1'],
    ['with letters that are no ASCII alone', 'äöüÄÖÜ12'],
    ['of 73 bytes', `Aa1${'x'.repeat(70)}`],
    ['of 72 characters and more bytes', `Aa1${'ü'.repeat(35)}`],
    ['with a NUL', 'Passw0rd\u0000more'],
  ])('is not one %s, and the refusal does not repeat it', (_, password) => {
    const faults = passwordFaults('spec.password', password);
    expect(faults.length).toBeGreaterThan(0);
    expect(fieldsOf(faults)).toEqual(faults.map(() => 'spec.password'));
    if (password !== '') expect(JSON.stringify(faults)).not.toContain(password.slice(0, 7));
  });

  test('is no ready-made hash', async () => {
    const hash = await hashOf('Passw0rd');
    const [fault, ...more] = passwordFaults('spec.password', hash);
    expect(more).toEqual([]);
    expect(fault?.message).toContain('bcrypt');
    expect(JSON.stringify(fault)).not.toContain(hash.slice(7, 20));
  });

  test('tells every rule that it breaks at once', () => {
    expect(passwordFaults('password', '-')).toHaveLength(4);
  });
});
