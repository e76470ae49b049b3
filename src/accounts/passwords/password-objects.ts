import { compareResourceVersions } from '../../kubernetes/object.ts';
import type { ClusterObjects } from '../../kubernetes/objects/cluster-objects.ts';
import { costOf } from '../../users/password-hash.ts';
import type { AccountNames } from '../names.ts';
import type { UserRecord, UserRecords } from '../users/user-record.ts';
import { movedMark } from './moved-mark.ts';
import { type PasswordOwner, PasswordReplacedError, type PasswordStore } from './password-store.ts';

export interface PasswordObjectsParts {
  readonly names: Pick<AccountNames, 'passwordMoved'>;
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
 * users without one. Text that is not a bcrypt hash counts as absent. A hash that a later configuration moves into its store still counts
 * here, or this replica would end the user's sessions in the rollout of that configuration.
 */
export function createPasswordObjects(
  { maxStalenessMs }: { readonly maxStalenessMs: number },
  { names, users, objects }: PasswordObjectsParts,
): PasswordStore {
  const listeners: ((name: string) => void)[] = [];
  const ahead = new Map<string, Ahead>();
  const seen = new Map<string, Seen>();
  const tell = (name: string): void => {
    for (const changed of listeners) changed(name);
  };
  users.onChange((name) => {
    const written = ahead.get(name);
    if (written && hasCaughtUp(users, name, written)) ahead.delete(name);
    const user = users.get(name);
    const stored = storedHash(user);
    if (user && stored !== undefined) seen.set(name, { uid: user.uid, hash: stored });
    else if (!isMoved(user, seen.get(name))) seen.delete(name);
    tell(name);
  });
  const write = async ({ name, uid }: PasswordOwner, hash: string | undefined): Promise<void> => {
    // With the uid, the cluster refuses the patch if the object is that of a later user of this name.
    const mark = users.get(name)?.passwordMoved ? { annotations: { [names.passwordMoved]: null } } : {};
    const object = await objects.patch(name, { metadata: { uid, ...mark }, spec: { password: hash ?? null } });
    const written = { uid, hash, resourceVersion: object.metadata.resourceVersion };
    if (!hasCaughtUp(users, name, written)) ahead.set(name, written);
    tell(name);
  };
  const hashOf = ({ name, uid }: PasswordOwner): string | undefined => {
    const written = ahead.get(name);
    if (written?.uid === uid) return written.hash;
    const user = users.get(name);
    if (user?.uid !== uid) return undefined;
    const last = seen.get(name);
    return storedHash(user) ?? (isMoved(user, last) ? last?.hash : undefined);
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

/** The hash that an object had last. */
interface Seen {
  readonly uid: string;
  readonly hash: string;
}

function storedHash(user: UserRecord | undefined): string | undefined {
  const stored = user?.storedPassword;
  return stored !== undefined && costOf(stored) !== undefined ? stored : undefined;
}

/** Whether the object says that this hash was moved out of it. */
const isMoved = (user: UserRecord | undefined, last: Seen | undefined): boolean =>
  last !== undefined && user?.uid === last.uid && user.passwordMoved === movedMark(last.hash);

/** Whether the watch shows the write, or something later: another object of this name, or none. */
function hasCaughtUp(users: UserRecords, name: string, { uid, resourceVersion }: Ahead): boolean {
  const user = users.get(name);
  return user?.uid !== uid || compareResourceVersions(user.resourceVersion, resourceVersion) >= 0;
}
