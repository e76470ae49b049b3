import { compareResourceVersions } from '../../kubernetes/object.ts';
import type { ClusterObjects } from '../../kubernetes/objects/cluster-objects.ts';
import { costOf } from '../../users/password-hash.ts';
import type { UserRecords } from '../users/user-record.ts';
import { type PasswordOwner, PasswordReplacedError, type PasswordStore } from './password-store.ts';

export interface PasswordObjectsParts {
  readonly users: UserRecords;
  readonly objects: Pick<ClusterObjects, 'patch'>;
}

/** A hash that we wrote and that the watch has not shown yet. */
interface Ahead {
  readonly uid: string;
  readonly hash: string | undefined;
  readonly resourceVersion: string;
}

/**
 * Passwords in `spec.password` of the User objects, for clusters where the controllers of KubeSphere 3.4 still run: they disable
 * users without one. Text that is not a bcrypt hash counts as absent.
 */
export function createPasswordObjects(
  { maxStalenessMs }: { readonly maxStalenessMs: number },
  { users, objects }: PasswordObjectsParts,
): PasswordStore {
  const listeners: ((name: string) => void)[] = [];
  const ahead = new Map<string, Ahead>();
  const tell = (name: string): void => {
    for (const changed of listeners) changed(name);
  };
  users.onChange((name) => {
    const written = ahead.get(name);
    if (written && hasCaughtUp(users, name, written)) ahead.delete(name);
    tell(name);
  });
  const write = async ({ name, uid }: PasswordOwner, hash: string | undefined): Promise<void> => {
    // With the uid, the cluster refuses the patch if the object is that of a later user of this name.
    const object = await objects.patch(name, { metadata: { uid }, spec: { password: hash ?? null } });
    const written = { uid, hash, resourceVersion: object.metadata.resourceVersion };
    if (!hasCaughtUp(users, name, written)) ahead.set(name, written);
    tell(name);
  };
  const hashOf = ({ name, uid }: PasswordOwner): string | undefined => {
    const written = ahead.get(name);
    if (written?.uid === uid) return written.hash;
    const user = users.get(name);
    const stored = user?.uid === uid ? user.storedPassword : undefined;
    return stored !== undefined && costOf(stored) !== undefined ? stored : undefined;
  };
  return {
    hashOf,
    set: async (owner, hash, instead) => {
      if (instead !== undefined && hashOf(owner) !== instead) throw new PasswordReplacedError();
      await write(owner, hash);
    },
    remove: (owner) => write(owner, undefined),
    onChange: (changed) => void listeners.push(changed),
    fault: () => (users.hasSynced() ? undefined : 'the users are not loaded yet'),
    copies: [{ data: 'users', proof: users.proof, maxAgeMs: maxStalenessMs }],
  };
}

/** Whether the watch shows the write, or something later: another object of this name, or none. */
function hasCaughtUp(users: UserRecords, name: string, { uid, resourceVersion }: Ahead): boolean {
  const user = users.get(name);
  return user?.uid !== uid || compareResourceVersions(user.resourceVersion, resourceVersion) >= 0;
}
