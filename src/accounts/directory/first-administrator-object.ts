import { isConflict } from '../../kubernetes/client/api-client.ts';
import type { ClusterObjects } from '../../kubernetes/objects/cluster-objects.ts';
import type { Logger } from '../../observability/logger.ts';
import { aborted } from '../../runtime/abort.ts';
import type { Clock } from '../../runtime/clock.ts';
import { LastingFailure } from '../../runtime/lasting-failure.ts';
import type { User } from '../../users/user.ts';
import { makeUser, type UserToMake } from '../make-user.ts';
import type { AccountNames } from '../names.ts';
import type { PasswordStore } from '../passwords/password-store.ts';
import type { StatusPatch } from '../states/status-patch.ts';
import type { UserRecords } from '../users/user-record.ts';

export interface FirstAdministratorObjectParts {
  readonly names: AccountNames;
  /**
   * The user whom the first administrator's Secret describes; `undefined` without a Secret, or after a User object replaced that
   * user.
   */
  administrator(): User | undefined;
  /**
   * Marks the Secret as replaced by the User object with this uid; the Secret's user then no longer exists. It may mark nothing,
   * and is called again at the next check.
   */
  takenOver(uid: string): Promise<void>;
  /** Whether that Secret has been read. */
  isRead(): boolean;
  /** Whether a user of the users file has this name. That user takes precedence. */
  isTaken(name: string): boolean;
  /** Whether all User objects are known. */
  isKnown(): boolean;
  readonly users: UserRecords;
  readonly passwords: Pick<PasswordStore, 'set'>;
  readonly objects: Pick<ClusterObjects, 'create' | 'patch'>;
  readonly patchStatus: StatusPatch;
  /**
   * Gives the user the platform role of administrators, as the user, because the cluster decides what each may give. Does nothing where the
   * installation has no such role. Absent: no role is given.
   */
  giveRole?(administrator: User): Promise<void>;
  /** Whether platform roles are known. */
  areRolesKnown?(): boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How often we check the Secret and the users. */
const LOOK_MS = 1_000;
/** How often we check at first, while readiness waits for the result. */
const FIRST_LOOK_MS = 50;

/**
 * Creates a User object for the first administrator, unless there is one of that name, and then marks the Secret. From then on only
 * the object counts: the Secret is not used again, even if the object is deleted. If an operator removes the mark, the Secret's
 * user is back at once. The object is created at the next start, because each process does this only once.
 */
export function createFirstAdministratorObject(parts: FirstAdministratorObjectParts): {
  run(signal: AbortSignal): Promise<void>;
  /**
   * Why the first check is not done yet; `undefined` after it, even if it failed. Readiness waits for it: tokens issued earlier are
   * no longer valid once the object replaces the Secret's user.
   */
  fault(): string | undefined;
} {
  const { users, isKnown, isRead, administrator, takenOver, isTaken, giveRole, clock, logger } = parts;
  const areRolesKnown = (): boolean => parts.areRolesKnown?.() ?? true;
  const failure = new LastingFailure(clock, logger);
  let isTried = false;

  const become = async (user: User): Promise<void> => {
    logger.info({ user: user.name }, 'the first administrator becomes a User object');
    const uid = await make(user, parts);
    // The rights of the first administrator come from groups, so a failure takes nothing away: an administrator can give the role later.
    await giveRole?.(user).catch((error: unknown) =>
      logger.warn(
        { err: error, user: user.name },
        'the first administrator did not get the platform role of administrators',
      ),
    );
    await takenOver(uid);
  };
  /** Whether there is nothing left to do. */
  const look = async (): Promise<boolean> => {
    const user = administrator();
    if (!user || isTaken(user.name)) return true;
    const record = users.get(user.name);
    // The keeper deletes an incomplete user. We create the object once that user, or one who is being deleted, is gone.
    if (record?.isIncomplete || record?.isDeleting || user.passwordHash === undefined) return false;
    if (record) await takenOver(record.uid);
    else await become(user);
    return false; // until the mark has arrived
  };
  const run = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      try {
        if (isKnown() && isRead() && areRolesKnown()) {
          if (await look()) break;
          isTried = true;
        }
      } catch (error) {
        isTried = true;
        // A conflict: another replica was faster.
        if (!isConflict(error)) failure.failed({ err: error }, 'the first administrator is no User object yet');
      }
      await clock.sleep(isTried ? LOOK_MS : FIRST_LOOK_MS, signal);
    }
    isTried = true;
    await aborted(signal);
  };
  return { run, fault: () => (isTried ? undefined : 'the first administrator is not looked at yet') };
}

/** Resolves with the uid of the object. */
async function make({ name, groups, passwordHash }: User, parts: FirstAdministratorObjectParts): Promise<string> {
  const user: UserToMake = {
    name,
    annotations: { [parts.names.uninitialized]: 'true' },
    spec: { email: '', groups },
    state: 'Active',
    hash: passwordHash,
  };
  const { metadata } = await makeUser(user, parts);
  return metadata.uid;
}
