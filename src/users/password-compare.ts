import type { Histogram } from 'prom-client';
import type { SecurityEvents } from '../security-events.ts';
import { compareWithHash, dummyHash, type HashCosts, hashFault, isComparable } from './password-hash.ts';
import type { User } from './user.ts';

export interface CompareParts {
  readonly events: SecurityEvents;
  /** Observes the seconds of each compare. */
  readonly duration: Histogram;
  /** Makes one bcrypt compare. Default: the library's. */
  readonly bcrypt?: ((password: string, stored: string) => Promise<boolean>) | undefined;
}

/**
 * Whether this is the user's password. Always makes exactly one bcrypt compare, whoever tries. Rejects only when the
 * library fails.
 */
export type PasswordCompare = (user: User | undefined, password: string) => Promise<boolean>;

/**
 * Compares with the stored hash if it may be used, else with a dummy of the write cost, whose result is ignored (N-14).
 */
export function createPasswordCompare(costs: HashCosts, parts: CompareParts): PasswordCompare {
  const { events, duration, bcrypt = compareWithHash } = parts;
  const told = new WeakSet<User>();

  const usableHash = (user: User | undefined): string | undefined => {
    if (user?.passwordHash === undefined) return undefined;
    const fault = hashFault(user.passwordHash, costs.maxCost);
    if (fault && !told.has(user)) {
      told.add(user); // once each time the user is read, not for each guess
      events.report('password_hash_refused', { user: user.name, fault });
    }
    return fault ? undefined : user.passwordHash;
  };

  return async (user, password) => {
    const stored = usableHash(user);
    const real = stored !== undefined && isComparable(password);
    const done = duration.startTimer();
    try {
      const matches = await bcrypt(password, real ? stored : dummyHash(costs.cost));
      return real && matches;
    } finally {
      done();
    }
  };
}
