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
  /** The user of the first administrator's Secret; `undefined` when there is none, or an object took the user over. */
  administrator(): User | undefined;
  /** Marks that Secret as taken over; after that its user no longer exists. It may do nothing, and is then called again. */
  takenOver(uid: string): Promise<void>;
  /** Whether that Secret has been read. */
  isRead(): boolean;
  /** Whether an earlier source has a user of this name. */
  isTaken(name: string): boolean;
  /** Whether all User objects are known. */
  isKnown(): boolean;
  readonly users: UserRecords;
  readonly passwords: Pick<PasswordStore, 'set'>;
  readonly objects: Pick<ClusterObjects, 'create' | 'patch'>;
  readonly patchStatus: StatusPatch;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How often we check whether the Secret and the users are read, and whether another replica makes the object. */
const LOOK_MS = 1_000;
/** The time between two looks at first, while readiness waits for it. */
const FIRST_LOOK_MS = 50;

/**
 * Makes the first administrator a User object when there is none of that name, and marks the Secret. From then on
 * only the object counts: the Secret is not used again, even if the object is deleted. This is done once in the life of a
 * process. If an operator removes the mark, the user of the Secret is back at once, and the object is made at the next start.
 */
export function createFirstAdministratorObject(parts: FirstAdministratorObjectParts): {
  run(signal: AbortSignal): Promise<void>;
  /**
   * Why it is not settled yet whether the object has to be made; `undefined` after the first look, even if that failed.
   * Tokens from a sign-in before that end when the object replaces the user.
   */
  fault(): string | undefined;
} {
  const { users, isKnown, isRead, administrator, takenOver, isTaken, clock, logger } = parts;
  const failure = new LastingFailure(clock, logger);
  let isTried = false;

  /** Whether there is nothing left to do. */
  const look = async (): Promise<boolean> => {
    const user = administrator();
    if (!user || isTaken(user.name)) return true;
    const record = users.get(user.name);
    // The keeper deletes an incomplete user. When that or one that is being deleted has gone, the object is made.
    if (record?.isIncomplete || record?.isDeleting || user.passwordHash === undefined) return false;
    if (!record) logger.info({ user: user.name }, 'the first administrator becomes a User object');
    await takenOver(record?.uid ?? (await make(user, parts)));
    return false; // until the Secret shows it
  };
  const run = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      try {
        if (isKnown() && isRead()) {
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
