import { hash, verify } from '@node-rs/bcrypt';
import type { Histogram } from 'prom-client';
import type { SecurityEvents } from '../security-events.ts';
import { composed, formsOf, LONGEST_PASSWORD_BYTES } from './password-text.ts';
import type { User } from './user.ts';

/** A hash of a lower cost is not accepted, because it is too cheap to guess its password. */
const LOWEST_COST = 10;

/** `$2b$`, the cost in two digits, 22 characters of salt and 31 of digest. */
const BCRYPT = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/;

/** The cost of a well-formed bcrypt hash, else `undefined`. */
export function costOf(stored: string): number | undefined {
  const digits = BCRYPT.exec(stored)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** Costs of bcrypt hashes, each at least 10. */
export interface HashCosts {
  /** The cost of new hashes, and so of the compare for an unknown name. */
  readonly cost: number;
  /** The highest cost that we accept in a stored hash. */
  readonly maxCost: number;
}

/**
 * The kind of a stored hash. A compare with `other_cost` takes longer or shorter than one for an unknown name, and so reveals that
 * its user exists; a user with `unfit` or `none` cannot sign in.
 */
export type HashKind = 'write_cost' | 'other_cost' | 'unfit' | 'none';

export function kindOfHash(stored: string | undefined, { cost, maxCost }: HashCosts): HashKind {
  if (stored === undefined) return 'none';
  if (hashFault(stored, maxCost)) return 'unfit';
  return costOf(stored) === cost ? 'write_cost' : 'other_cost';
}

/** Why a stored hash is not used, with what to do about it; `undefined` when it is used. The text never quotes the hash. */
export function hashFault(stored: string, maxCost: number): string | undefined {
  const cost = costOf(stored);
  if (cost === undefined) return 'is not a bcrypt hash; make one with "gatehouse hash-password"';
  if (cost >= LOWEST_COST && cost <= maxCost) return undefined;
  return `has bcrypt cost ${cost}, but ${LOWEST_COST} to ${maxCost} are accepted; make one with "gatehouse hash-password"`;
}

/** Whether bcrypt reads the whole password: it reads at most 72 bytes, and stops at a NUL. */
const isComparable = (password: string): boolean =>
  Buffer.byteLength(password) <= LONGEST_PASSWORD_BYTES && !password.includes('\0');

/** A well-formed hash that matches no known password. A compare with it takes as long as with a real one of that cost. */
export const dummyHash = (cost: number): string => `$2b$${cost}$${'.'.repeat(53)}`;

/** The algorithm. Each call rejects only when the library fails. */
export interface Bcrypt {
  /** Makes a hash of this cost, with a new salt. */
  hash(password: string, cost: number): Promise<string>;
  /** Resolves to whether the hash was made of this password. */
  compare(password: string, stored: string): Promise<boolean>;
}

/** The library, in the thread pool: a call takes about 50 ms at cost 10. */
export const libraryBcrypt: Bcrypt = {
  hash: (password, cost) => hash(password, cost),
  compare: (password, stored) => verify(password, stored),
};

/** Hashes the composed form of a password. Rejects a password that bcrypt would cut off, with a sentence for people. */
export async function hashPassword(
  typed: string,
  cost: number,
  bcrypt: Pick<Bcrypt, 'hash'> = libraryBcrypt,
): Promise<string> {
  const password = composed(typed);
  if (password === '') throw new Error('the password is empty');
  if (!isComparable(password))
    throw new Error(`the password is longer than ${LONGEST_PASSWORD_BYTES} bytes or holds a NUL`);
  return await bcrypt.hash(password, cost);
}

export interface CompareParts {
  readonly events: SecurityEvents;
  /** Observes the seconds of each compare. */
  readonly duration: Histogram;
  /** Default: the library. */
  readonly bcrypt?: Pick<Bcrypt, 'compare'> | undefined;
}

/**
 * Resolves to whether this is the user's password, in any Unicode form. Makes one bcrypt compare for each form, no matter who the
 * user is and which form matches: one for an ASCII password, at most three. Rejects only when the library fails.
 */
export type PasswordCompare = (user: User | undefined, password: string) => Promise<boolean>;

/** Compares with the stored hash if it can be used. Otherwise compares with a dummy hash, and ignores the result (N-14). */
export function createPasswordCompare(costs: HashCosts, parts: CompareParts): PasswordCompare {
  const { events, duration, bcrypt = libraryBcrypt } = parts;
  const reported = new WeakSet<User>();

  const usableHash = (user: User | undefined): string | undefined => {
    if (user?.passwordHash === undefined) return undefined;
    const fault = hashFault(user.passwordHash, costs.maxCost);
    if (fault && !reported.has(user)) {
      reported.add(user); // reported once for each version of the user, not for each guess
      events.report('password_hash_refused', { user: user.name, fault });
    }
    return fault ? undefined : user.passwordHash;
  };

  const compareForm = async (form: string, stored: string | undefined): Promise<boolean> => {
    const real = stored !== undefined && isComparable(form);
    const done = duration.startTimer();
    try {
      const matches = await bcrypt.compare(form, real ? stored : dummyHash(costs.cost));
      return real && matches;
    } finally {
      done();
    }
  };

  return async (user, password) => {
    const stored = usableHash(user);
    let matches = false;
    // The compares run one after the other, because an attempt has one seat of the gate, so it may use one thread of the pool.
    for (const form of formsOf(password)) matches = (await compareForm(form, stored)) || matches;
    return matches;
  };
}
