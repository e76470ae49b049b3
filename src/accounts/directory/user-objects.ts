import { type AgingCopy, isProven, neverProven } from '../../data-age.ts';
import { aborted } from '../../runtime/abort.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { SecurityEvents } from '../../security-events.ts';
import { costOf } from '../../users/password-hash.ts';
import { isEmail, USER_STATES, type User, type UserState } from '../../users/user.ts';
import type { SourceChange, UserSource } from '../../users/user-directory.ts';
import type { PasswordStore } from '../passwords/password-store.ts';
import { isThere, type UserRecord, type UserRecords } from '../users/user-record.ts';

export interface UserObjectsParts {
  readonly users: UserRecords;
  readonly passwords: PasswordStore;
  readonly clock: Clock;
  readonly events: SecurityEvents;
}

export interface UserObjects extends UserSource {
  /** Waits for the first complete lists, then follows all changes. Only a bug makes it throw. */
  run(signal: AbortSignal): Promise<void>;
  /** Why not every user is known yet; `undefined` once they are. */
  fault(): string | undefined;
  /** When users and passwords were last proved current. */
  readonly copies: readonly AgingCopy[];
  /** The number of users whose object has an unusable value, for a metric. */
  faulty(): number;
}

/** How often we check for the first lists of users and passwords. Readiness waits for both. */
const LOOK_MS = 50;

const LABEL = 'User objects';

/** What a 503 calls this data when it is too old. */
const DATA = 'users';

/**
 * The users that the cluster's User objects describe, without incomplete ones and those being deleted. No user is known before all
 * are loaded. Otherwise a user could seem to be gone, or be taken for a user of the same name from another source.
 */
export function createUserObjects(
  { maxStalenessMs }: { readonly maxStalenessMs: number },
  { users, passwords, clock, events }: UserObjectsParts,
): UserObjects {
  const listeners: ((change: SourceChange) => void)[] = [];
  const faults = new Map<string, string>();
  const indexed = neverProven();

  const read = (name: string): User | undefined => {
    const record = users.get(name);
    if (!record || !isThere(record)) {
      faults.delete(name);
      return undefined;
    }
    tellFaults(record);
    return toUser(record, passwords);
  };
  /** Reports each of these problems once. */
  const tellFaults = (record: UserRecord): void => {
    const found = faultsOf(record);
    const key = `${record.uid} ${found.join(' ')}`;
    if (found.length === 0) faults.delete(record.name);
    else if (faults.get(record.name) !== key) {
      faults.set(record.name, key);
      for (const reason of found) events.report('user_object_faulty', { user: record.name, reason });
    }
  };
  const changed = (name: string): void => {
    if (!isProven(indexed)) return;
    const change = { users: new Map([[name, read(name)]]) };
    for (const listener of listeners) listener(change);
  };
  users.onChange(changed);
  passwords.onChange(changed);

  const fault = (): string | undefined =>
    passwords.fault() ?? (users.hasSynced() ? undefined : 'the users are not loaded yet');
  const run = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted && fault() !== undefined) await clock.sleep(LOOK_MS, signal);
    if (!signal.aborted) {
      const all = new Map([...users.all()].map(({ name }) => [name, read(name)]));
      for (const listener of listeners) listener({ users: all, isFirst: true });
      indexed.at = clock.monotonic();
    }
    await aborted(signal);
  };
  return {
    label: LABEL,
    users: () => [],
    onChange: (listener) => void listeners.push(listener),
    run,
    fault: () => (isProven(indexed) ? undefined : (fault() ?? 'the users are not indexed yet')),
    copies: [
      { data: DATA, proof: indexed, maxAgeMs: Number.POSITIVE_INFINITY },
      { data: DATA, proof: users.proof, maxAgeMs: maxStalenessMs },
      ...passwords.copies,
    ],
    faulty: () => faults.size,
  };
}

/**
 * Every access review of a user sends the user's groups to the cluster. More than these limits is a mistake or an attack:
 * such a user is treated as a member of no group.
 */
const MOST_GROUPS = 1_000;
const LONGEST_GROUPS = 64 * 1024;

const STATES: ReadonlySet<string> = new Set(USER_STATES);

function toUser(record: UserRecord, passwords: PasswordStore): User {
  const { name, uid, email, verifiedEmail, lang, uninitialized, tokensNotBeforeMs, sparedSession } = record;
  const passwordHash = hashOf(record, passwords);
  return {
    name,
    uid,
    isObject: true,
    state: stateOf(record),
    groups: usableGroups(record),
    ...(tokensNotBeforeMs > 0 ? { tokensNotBefore: tokensNotBeforeMs / 1000 } : {}),
    ...(sparedSession === '' ? {} : { spared: sparedSession }),
    ...(isEmail(email) ? { email } : {}),
    ...(isEmail(email) && email === verifiedEmail ? { emailVerified: true } : {}),
    ...(lang === '' ? {} : { locale: lang }),
    ...(passwordHash === undefined ? {} : { passwordHash }),
    ...(uninitialized === '' ? {} : { uninitialized }),
  };
}

/** A bcrypt hash in the object counts until the keeper has moved it to the password store. */
function hashOf({ name, uid, storedPassword }: UserRecord, passwords: PasswordStore): string | undefined {
  const kept = passwords.hashOf({ name, uid });
  if (kept !== undefined || storedPassword === undefined) return kept;
  return costOf(storedPassword) === undefined ? undefined : storedPassword;
}

/** A user without a state is new and may sign in as soon as there is a password. An unknown state counts as Disabled. */
const stateOf = ({ state }: UserRecord): UserState =>
  state === '' ? 'Active' : STATES.has(state) ? (state as UserState) : 'Disabled';

/** The groups that count: none if they are too many or too long. */
export const usableGroups = (record: UserRecord): readonly string[] =>
  hasFitGroups(record) ? record.groups.filter((group) => group !== '') : [];

const hasFitGroups = ({ groups }: UserRecord): boolean =>
  groups.length <= MOST_GROUPS && groups.reduce((sum, group) => sum + group.length, 0) <= LONGEST_GROUPS;

/** The problems as sentences, which quote nothing from the object. */
const faultsOf = (record: UserRecord): readonly string[] => [
  ...(record.state === '' || STATES.has(record.state)
    ? []
    : ['status.state is none of Active, Disabled, AuthLimitExceeded: it counts as Disabled']),
  ...(record.email === '' || isEmail(record.email) ? [] : ['spec.email is no ASCII e-mail address: it is ignored']),
  ...(hasFitGroups(record) ? [] : ['spec.groups are too many or too long: they are ignored']),
];
