import type { StatusCause } from '../../status-error.ts';
import { composed, LONGEST_PASSWORD_BYTES } from '../../users/password-text.ts';
import { bad, required } from '../users/user-fields.ts';

const SHORTEST = 8;

/** A ready-made bcrypt hash. It is refused, because the caller must not choose its cost. */
const BCRYPT = /^\$2[aby]\$.{56}$/s;

/**
 * The reasons to refuse a new password; empty if it is good. They never quote the password. The rules apply to the composed
 * form (NFC), which is what we hash. bcrypt reads 72 bytes and stops at a NUL (docs/contract/accounts.md, section 5).
 */
export function passwordFaults(field: string, typed: string): StatusCause[] {
  const password = composed(typed);
  if (password === '') return [required(field, 'Required value: a password must not be empty')];
  if (BCRYPT.test(password)) return [bad(field, 'must be a password, not a bcrypt hash')];
  return [
    ...([...password].length < SHORTEST ? [bad(field, `must have at least ${SHORTEST} characters`)] : []),
    ...(Buffer.byteLength(password) > LONGEST_PASSWORD_BYTES
      ? [bad(field, `must have at most ${LONGEST_PASSWORD_BYTES} bytes in UTF-8`)]
      : []),
    ...(password.includes('\0') ? [bad(field, 'must have no NUL')] : []),
    ...(/[a-z]/.test(password) ? [] : [bad(field, 'must have a lower-case letter (a to z)')]),
    ...(/[A-Z]/.test(password) ? [] : [bad(field, 'must have an upper-case letter (A to Z)')]),
    ...(/[0-9]/.test(password) ? [] : [bad(field, 'must have a digit (0 to 9)')]),
  ];
}
