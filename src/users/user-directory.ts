import { createHash } from 'node:crypto';
import type { SecurityEvents } from '../security-events.ts';
import { isReservedName, type User, type UserChanges, type UserDirectory, type UserList } from './user.ts';

/** One place that users come from. The list that `users()` returns never changes; a change makes a new list. */
export interface UserSource {
  /** For log lines, e.g. `users file`. */
  readonly label: string;
  users(): readonly User[];
  /** Calls `changed` each time `users()` has become a new list. */
  onChange(changed: () => void): void;
}

/**
 * A uid for a user whose source gives none. It is the same on every replica and after each restart. It follows from the
 * name, so a later user of the same name gets the same one; a source that can tell them apart must give uids.
 */
export function derivedUid(scope: string, name: string): string {
  const hex = createHash('sha256').update(`${scope}/${name}`).digest('hex');
  // Version 8, variant 1: the layout that RFC 9562 5.8 leaves to the application.
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

interface Index {
  readonly byName: ReadonlyMap<string, User>;
  /** The value is `undefined` when more than one user has the address. */
  readonly byEmail: ReadonlyMap<string, User | undefined>;
}

/**
 * The union of the sources. A name that two sources have belongs to the first; reserved names belong to nobody.
 * The index is replaced as a whole when a source changes, so a reader never sees half of a change.
 */
export function createUserDirectory(
  sources: readonly UserSource[],
  parts: { readonly events: SecurityEvents },
): UserDirectory & UserList & UserChanges {
  const listeners: ((name: string) => void)[] = [];
  let index = toIndex(sources, parts.events);
  const reindex = (): void => {
    const before = index;
    index = toIndex(sources, parts.events);
    const changed = [...before.byName.values()].filter((user) => isAnother(user, index.byName.get(user.name)));
    for (const { name } of changed) for (const listener of listeners) listener(name);
  };
  for (const source of sources) source.onChange(reindex);
  return {
    byName: (name) => index.byName.get(name),
    byEmail: (email) => index.byEmail.get(email),
    all: () => index.byName.values(),
    onChange: (changed) => listeners.push(changed),
  };
}

const isAnother = (before: User, now: User | undefined): boolean =>
  before.uid !== now?.uid ||
  before.passwordHash !== now.passwordHash ||
  (before.state === 'Disabled') !== (now.state === 'Disabled');

function toIndex(sources: readonly UserSource[], events: SecurityEvents): Index {
  const byName = new Map<string, User>();
  const byEmail = new Map<string, User | undefined>();
  for (const source of sources) {
    for (const user of source.users()) {
      const reason = refuse(user, byName);
      if (reason) events.report('user_refused', { user: user.name, source: source.label, reason });
      else {
        byName.set(user.name, user);
        if (user.email !== undefined) byEmail.set(user.email, byEmail.has(user.email) ? undefined : user);
      }
    }
  }
  return { byName, byEmail };
}

function refuse(user: User, known: ReadonlyMap<string, User>): string | undefined {
  if (isReservedName(user.name)) return 'the name is reserved';
  return known.has(user.name) ? 'an earlier source has the same name' : undefined;
}
