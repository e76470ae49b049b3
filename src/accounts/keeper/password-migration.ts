import type { ClusterObjects } from '../../kubernetes/objects/cluster-objects.ts';
import { BoundedMap } from '../../runtime/bounded-map.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { SecurityEvents } from '../../security-events.ts';
import { costOf } from '../../users/password-hash.ts';
import type { PasswordSignIn } from '../../users/sign-in.ts';
import type { AccountNames } from '../names.ts';
import { movedMark } from '../passwords/moved-mark.ts';
import { passwordFaults } from '../passwords/password-rules.ts';
import type { PasswordStore } from '../passwords/password-store.ts';
import { LAST_APPLIED } from '../shown-object.ts';
import type { UserRecord } from '../users/user-record.ts';
import type { Job } from './job.ts';

export interface PasswordMigrationParts {
  readonly passwords: Pick<PasswordStore, 'hashOf' | 'set'>;
  readonly objects: Pick<ClusterObjects, 'patch'>;
  readonly signIn: Pick<PasswordSignIn, 'hash'>;
  readonly names: AccountNames;
  readonly clock: Clock;
  readonly events: SecurityEvents;
}

/**
 * How long the object keeps the password after the Secret has it. Otherwise a replica could see the removal first, conclude that
 * the user has no password, and end the user's sessions.
 */
const SEEN_BY_ALL_MS = 10_000;

/** The most users in memory. Beyond that the oldest is forgotten and waits the full time again. */
const MOST_WAITING = 10_000;

/** Migration waits in the queue of password hashing under this name, as clients do under their address. */
const SOURCE = 'password migration';

/**
 * Moves a password from the User object to the password store. A bcrypt hash is moved unchanged; clear text is hashed if it meets
 * the rules. A password that the store already has stays.
 */
export function createPasswordMigration(parts: PasswordMigrationParts): Job {
  const { passwords, objects, signIn, names, clock, events } = parts;
  const waiting = new BoundedMap<{ readonly uid: string; readonly until: number }>(MOST_WAITING);

  const waitMs = ({ name, uid }: UserRecord): number => {
    const entry = waiting.get(name);
    if (entry?.uid === uid) return entry.until - clock.monotonic();
    waiting.set(name, { uid, until: clock.monotonic() + SEEN_BY_ALL_MS });
    return SEEN_BY_ALL_MS;
  };
  /** A hash that counts as before is marked as moved. During a rollout, earlier replicas may still read it from the object. */
  const removeFromObject = async ({ name, uid, resourceVersion }: UserRecord, moved?: string): Promise<void> => {
    const mark = moved === undefined ? {} : { [names.passwordMoved]: movedMark(moved) };
    const metadata = { uid, resourceVersion, annotations: { [LAST_APPLIED]: null, ...mark } };
    await objects.patch(name, { metadata, spec: { password: null } });
    waiting.delete(name);
  };

  return async (user, signal) => {
    const { name, uid, storedPassword } = user;
    if (storedPassword === undefined) return undefined;
    const isHash = costOf(storedPassword) !== undefined;
    const told = (how: 'moved' | 'hashed' | 'removed'): void => events.report('password_moved', { user: name, how });
    const kept = passwords.hashOf({ name, uid });
    if (kept !== undefined) {
      const leftMs = waitMs(user);
      if (leftMs > 0) return leftMs;
      await removeFromObject(user, kept === storedPassword ? kept : undefined);
      if (isHash && kept !== storedPassword) told('removed');
      return undefined;
    }
    if (!isHash && passwordFaults('spec.password', storedPassword).length > 0) {
      await removeFromObject(user);
      told('removed');
      return undefined;
    }
    const made = isHash ? undefined : await signIn.hash(storedPassword, { source: SOURCE, signal });
    if (made?.kind === 'busy') return made.retryAfterSeconds * 1000;
    await passwords.set({ name, uid }, made?.hash ?? storedPassword);
    told(isHash ? 'moved' : 'hashed');
    return waitMs(user);
  };
}
