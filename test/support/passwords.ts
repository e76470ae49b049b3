import { compareWithHash, hashPassword } from '../../src/users/password-hash.ts';
import { LONGEST_PASSWORD_BYTES } from '../../src/users/password-text.ts';

/** The lowest cost that the configuration accepts. A compare takes 50 ms of a core. */
const COST = 10;

/** Matches the dummy hash, with which the password of an unknown name is compared. */
const DUMMY = /^\$2b\$\d\d\$\.{53}$/;

const hashes = new Map<string, Promise<string>>();
const passwords = new Map<string, string>();

/** The bcrypt hash of a password. It is computed once in a process. */
export function hashOf(password: string): Promise<string> {
  const hash = hashes.get(password) ?? hashAndRemember(password);
  hashes.set(password, hash);
  return hash;
}

async function hashAndRemember(password: string): Promise<string> {
  const hash = await hashPassword(password, COST);
  passwords.set(hash, password);
  return hash;
}

/** The part of the password that bcrypt reads. */
const start = (password: string): Buffer => Buffer.from(password).subarray(0, LONGEST_PASSWORD_BYTES);

/** Compares like bcrypt. For a hash of `hashOf` and for the dummy hash it needs one turn of the event loop instead of 50 ms. */
export async function compareQuickly(password: string, stored: string): Promise<boolean> {
  await new Promise(setImmediate);
  const known = passwords.get(stored);
  if (known !== undefined) return start(password).equals(start(known));
  return !DUMMY.test(stored) && compareWithHash(password, stored);
}
