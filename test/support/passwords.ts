import { randomBytes } from 'node:crypto';
import { type Bcrypt, hashPassword, libraryBcrypt } from '../../src/users/password-hash.ts';
import { LONGEST_PASSWORD_BYTES } from '../../src/users/password-text.ts';

/** The lowest cost that the configuration accepts. A compare takes 50 ms of a core. */
const COST = 10;

/** Matches the dummy hash, with which the password of an unknown name is compared. */
const DUMMY = /^\$2b\$\d\d\$\.{53}$/;

const hashes = new Map<string, Promise<string>>();
/** By what follows the variant of the hash: `$2y$` and `$2b$` are one algorithm. */
const passwords = new Map<string, string>();
const afterVariant = (hash: string): string => hash.slice('$2b$'.length);

/** The bcrypt hash of a password. It is computed once in a process. */
export function hashOf(password: string): Promise<string> {
  const hash = hashes.get(password) ?? hashAndRemember(password);
  hashes.set(password, hash);
  return hash;
}

async function hashAndRemember(password: string): Promise<string> {
  const hash = await hashPassword(password, COST);
  passwords.set(afterVariant(hash), password);
  return hash;
}

/** The part of the password that bcrypt reads. */
const start = (password: string): Buffer => Buffer.from(password).subarray(0, LONGEST_PASSWORD_BYTES);

/** Salt and digest, in bcrypt's alphabet. */
const made = (): string => randomBytes(53).toString('base64url').slice(0, 53).replaceAll('-', '.').replaceAll('_', '/');

/**
 * Answers as bcrypt does, but a turn later instead of after 50 ms of a core. Its hashes look like the library's, and only this process
 * knows their passwords; a hash that it does not know is compared by the library.
 */
export const quickBcrypt: Bcrypt = {
  async hash(password, cost) {
    await new Promise(setImmediate);
    const hash = `$2y$${cost}$${made()}`;
    passwords.set(afterVariant(hash), password);
    return hash;
  },
  async compare(password, stored) {
    await new Promise(setImmediate);
    const known = passwords.get(afterVariant(stored));
    if (known !== undefined) return start(password).equals(start(known));
    return !DUMMY.test(stored) && libraryBcrypt.compare(password, stored);
  },
};
