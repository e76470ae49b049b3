import type { StatusCause } from '../../status-error.ts';
import { PASSWORD_RULES, type PasswordRule } from '../../users/first-passwords.ts';
import { composed, LONGEST_PASSWORD_BYTES } from '../../users/password-text.ts';
import { bad, required } from '../users/user-fields.ts';

const SHORTEST = 8;

/** A ready-made bcrypt hash. It is refused, because the caller must not choose its cost. */
const BCRYPT = /^\$2[aby]\$.{56}$/s;

/**
 * The rules that a new password breaks; none if it is good. They apply to the composed form (NFC), which is what we hash. bcrypt
 * reads 72 bytes and stops at a NUL (docs/contract/accounts.md, section 5).
 */
export function brokenRules(typed: string): PasswordRule[] {
  const password = composed(typed);
  if (password === '') return ['empty'];
  if (BCRYPT.test(password)) return ['hash'];
  const broken: Readonly<Record<Exclude<PasswordRule, 'empty' | 'hash'>, boolean>> = {
    short: [...password].length < SHORTEST,
    long: Buffer.byteLength(password) > LONGEST_PASSWORD_BYTES,
    nul: password.includes('\0'),
    lower_case: !/[a-z]/.test(password),
    upper_case: !/[A-Z]/.test(password),
    digit: !/[0-9]/.test(password),
  };
  return PASSWORD_RULES.filter((rule) => rule !== 'empty' && rule !== 'hash' && broken[rule]);
}

const FAULTS: Readonly<Record<Exclude<PasswordRule, 'empty'>, string>> = {
  hash: 'must be a password, not a bcrypt hash',
  short: `must have at least ${SHORTEST} characters`,
  long: `must have at most ${LONGEST_PASSWORD_BYTES} bytes in UTF-8`,
  nul: 'must have no NUL',
  lower_case: 'must have a lower-case letter (a to z)',
  upper_case: 'must have an upper-case letter (A to Z)',
  digit: 'must have a digit (0 to 9)',
};

/** The reasons to refuse a new password; empty if it is good. They never quote the password. */
export const passwordFaults = (field: string, typed: string): StatusCause[] =>
  brokenRules(typed).map((rule) =>
    rule === 'empty' ? required(field, 'Required value: a password must not be empty') : bad(field, FAULTS[rule]),
  );
