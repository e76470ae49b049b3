import type { SecurityEvents } from '../security-events.ts';
import type { User, UserChanges, UserDirectory, UserList } from './user.ts';
import { isReservedName } from './user-name.ts';
import type { UserSource } from './user-source.ts';

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
