import { createHash } from 'node:crypto';
import type { SecurityEvents } from '../security-events.ts';
import { EmailIndex } from './email-index.ts';
import {
  type EmailOwners,
  isReservedName,
  type User,
  type UserChanges,
  type UserDirectory,
  type UserList,
} from './user.ts';

/** A change of a source. */
export interface SourceChange {
  /** The changed users by name, as they are now; `undefined` for one who is gone. */
  readonly users: ReadonlyMap<string, User | undefined>;
  /** The source has read its users for the first time. The directory calls no listener then, because no tokens must end. */
  readonly isFirst?: boolean;
}

/**
 * One source of users. A `User` value never changes; a change makes a new one.
 * @example
 * ```ts
 * let users: User[] = [{ name: 'ada', uid: 'u-1', email: 'ada@example.com', groups: ['platform'], state: 'Active' }];
 * let changed = (): void => {};
 * const source: UserSource = {
 *   label: 'a list in memory',
 *   users: () => users,
 *   onChange: (listener) => {
 *     changed = listener;
 *   },
 * };
 *
 * const directory = createUserDirectory([source], { events: { report: () => {} } });
 * assert.equal(directory.byEmail('Ada@Example.com')?.name, 'ada');
 * users = [];
 * changed();
 * assert.equal(directory.byName('ada'), undefined);
 * ```
 */
export interface UserSource {
  /** For log lines, e.g. `users file`. */
  readonly label: string;
  /** All users. If two have the same name, the first one counts. */
  users(): Iterable<User>;
  /** The label of a source that takes users over from this one. A name in both is then no conflict. */
  readonly givesWayTo?: string;
  /** Calls `changed` with the changed users, or without an argument if the directory must read all of `users()` again. */
  onChange(changed: (change?: SourceChange) => void): void;
}

/**
 * A uid for a user whose source has none. It is the same on every replica and after each restart. It is derived from the name,
 * so a later user with the same name gets the same uid; a source that can distinguish them must provide uids.
 */
export function derivedUid(scope: string, name: string): string {
  const hex = createHash('sha256').update(`${scope}/${name}`).digest('hex');
  // Version 8, variant 1: the layout that RFC 9562 5.8 leaves to the application.
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

export interface UserDirectoryParts {
  readonly events: SecurityEvents;
  /** Whether the name is reserved, so that nobody can sign in with it. Default: `isReservedName`. */
  isReserved?(name: string): boolean;
}

/** The users who are ignored, and the e-mail addresses that nobody can sign in with: for metrics. */
export interface UserConflicts {
  /** The number of users who are ignored because the name is reserved or an earlier source has it. */
  refused(): number;
  /** The number of e-mails that more than one user has. */
  sharedEmails(): number;
}

/**
 * The union of the sources. If two sources have the same name, the first one counts; users with reserved names are ignored.
 * The cost of a change grows with what changed, not with the number of users. A reader never sees half of a change.
 */
export function createUserDirectory(
  sources: readonly UserSource[],
  parts: UserDirectoryParts,
): UserDirectory & UserList & UserChanges & EmailOwners & UserConflicts {
  return new IndexedUsers(sources, parts);
}

interface IndexedSource {
  readonly source: UserSource;
  users: Map<string, User>;
}

class IndexedUsers implements UserDirectory, UserList, UserChanges, EmailOwners, UserConflicts {
  readonly #sources: readonly IndexedSource[];
  readonly #events: SecurityEvents;
  readonly #isReserved: (name: string) => boolean;
  readonly #byName = new Map<string, User>();
  readonly #emails = new EmailIndex();
  readonly #listeners: ((name: string) => void)[] = [];
  /** The users who are ignored, by source and name. */
  readonly #refused = new Map<string, string>();

  constructor(sources: readonly UserSource[], { events, isReserved = isReservedName }: UserDirectoryParts) {
    this.#events = events;
    this.#isReserved = isReserved;
    this.#sources = sources.map((source) => ({ source, users: new Map() }));
    for (const one of this.#sources) {
      this.#take(one, { users: this.#reread(one), isFirst: true });
      one.source.onChange((change) => this.#take(one, change ?? { users: this.#reread(one) }));
    }
  }

  byName = (name: string): User | undefined => this.#byName.get(name);
  all = (): Iterable<User> => this.#byName.values();
  ownersOfEmail = (email: string): readonly string[] => this.#emails.ownersOf(email);
  refused = (): number => this.#refused.size;
  sharedEmails = (): number => this.#emails.shared;

  byEmail(email: string): User | undefined {
    const [owner, ...others] = this.#emails.ownersOf(email);
    return owner === undefined || others.length > 0 ? undefined : this.#byName.get(owner);
  }

  onChange(changed: (name: string) => void): void {
    this.#listeners.push(changed);
  }

  /** Reads a source again, and returns what differs from the users that it had before. */
  #reread({ source, users: before }: IndexedSource): ReadonlyMap<string, User | undefined> {
    const changed = new Map<string, User | undefined>([...before.keys()].map((name) => [name, undefined]));
    const seen = new Set<string>();
    for (const user of source.users()) {
      if (seen.has(user.name)) continue;
      seen.add(user.name);
      if (before.get(user.name) === user) changed.delete(user.name);
      else changed.set(user.name, user);
    }
    return changed;
  }

  #take({ users }: IndexedSource, { users: changed, isFirst = false }: SourceChange): void {
    const others: string[] = [];
    for (const [name, user] of changed) {
      if (user) users.set(name, user);
      else users.delete(name);
      const before = this.#byName.get(name);
      this.#settle(name);
      if (before && !isFirst && isAnother(before, this.#byName.get(name))) others.push(name);
    }
    for (const name of others) for (const listener of this.#listeners) listener(name);
  }

  /** Decides again which source's user has the name. */
  #settle(name: string): void {
    const isReserved = this.#isReserved(name);
    let found: { readonly user: User; readonly label: string } | undefined;
    for (const { source, users } of this.#sources) {
      const user = users.get(name);
      if (!user) this.#refused.delete(refusalKey(source, name));
      else if (isReserved) this.#refuse(source, name, 'the name is reserved');
      else if (found && source.givesWayTo !== found.label)
        this.#refuse(source, name, 'an earlier source has the same name');
      else {
        this.#refused.delete(refusalKey(source, name));
        found ??= { user, label: source.label };
      }
    }
    const before = this.#byName.get(name);
    const now = found?.user;
    if (now === before) return;
    if (now) this.#byName.set(name, now);
    else this.#byName.delete(name);
    this.#emails.moved(name, before?.email, now?.email);
  }

  /** Records that the user is ignored, and reports it once for each reason. */
  #refuse(source: UserSource, name: string, reason: string): void {
    const key = refusalKey(source, name);
    if (this.#refused.get(key) === reason) return;
    this.#refused.set(key, reason);
    this.#events.report('user_refused', { user: name, source: source.label, reason });
  }
}

/** Unique, because names have no blanks. */
const refusalKey = (source: UserSource, name: string): string => `${name} ${source.label}`;

/**
 * Whether tokens of `before` must end. A first password does not end them: without a password nobody signed in, and a replica
 * may see a new user before the password.
 */
const isAnother = (before: User, now: User | undefined): boolean =>
  before.uid !== now?.uid ||
  (before.passwordHash !== undefined && before.passwordHash !== now.passwordHash) ||
  (before.state === 'Disabled') !== (now.state === 'Disabled');
