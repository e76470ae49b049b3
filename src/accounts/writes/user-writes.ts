import type { ForgetfulAuthorizer } from '../../authorization/authorizer.ts';
import type { KubernetesObject, ObjectMeta } from '../../kubernetes/object.ts';
import type { ClusterObjects } from '../../kubernetes/objects/cluster-objects.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { SecurityEvents } from '../../security-events.ts';
import type { User } from '../../users/user.ts';
import type { AccountNames } from '../names.ts';
import type { PasswordStore } from '../passwords/password-store.ts';
import { type AccountRefusals, throwNotSaved } from '../refusals.ts';
import type { PlatformRoles } from '../roles/platform-roles.ts';
import type { StatusPatch } from '../states/status-patch.ts';
import type { EmailRivals } from '../users/email-rivals.ts';
import type { Caller } from './caller.ts';
import type { LabelChoice } from './group-rights.ts';
import type { RoleAssignment } from './role-assignment.ts';

/** All known users, from every source. */
interface KnownUsers {
  byName(name: string): Pick<User, 'isObject'> | undefined;
  /** The names of all who have this address, without regard to ASCII case. */
  ownersOfEmail(email: string): readonly string[];
}

/** Ends sessions. Rejects when the end cannot be written. */
interface SessionCutOff {
  /** Ends every session of the user in which a token was issued up to now. */
  user(name: string): Promise<void>;
  /** The same, but `session` goes on when the user gets this password hash; any other change of the user ends it, too. */
  allBut(session: string, name: string, passwordHash: string): Promise<void>;
}

/** Hashes a new password, in the same queue as all other password hashing. */
interface PasswordHasher {
  hash(
    password: string,
    asked: { readonly source: string; readonly signal: AbortSignal },
  ): Promise<
    { readonly kind: 'ok'; readonly hash: string } | { readonly kind: 'busy'; readonly retryAfterSeconds: number }
  >;
}

/** What every write to a user needs. */
export interface UserWriteParts {
  readonly names: AccountNames;
  readonly reservedNames: ReadonlySet<string>;
  /** The User objects, as the cluster has them now. */
  readonly objects: ClusterObjects;
  readonly patchStatus: StatusPatch;
  readonly known: KnownUsers;
  readonly rivals: EmailRivals;
  readonly passwords: PasswordStore;
  readonly hasher: PasswordHasher;
  readonly sessions: SessionCutOff;
  readonly roles: PlatformRoles;
  readonly assignment: RoleAssignment;
  /** Always asks the cluster, whatever the configured mode, because it decides about rights that the caller grants to others. */
  readonly authorizer: ForgetfulAuthorizer;
  /** What chooses the users of the gateway; absent when the gateway does not follow the accounts. */
  readonly gatewayChoice?: LabelChoice | undefined;
  readonly refusals: AccountRefusals;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: SecurityEvents;
}

/** A User object to answer with, and the role that the user has now. */
export interface AnsweredUser {
  readonly object: KubernetesObject;
  readonly role: string | undefined;
}

/** The User object as the cluster has it now. Rejects with 404 for a user who does not exist, is being deleted or is incomplete. */
export async function currentUser(
  name: string,
  { objects, names, known, refusals }: UserWriteParts,
): Promise<KubernetesObject> {
  const object = await objects.get(name).catch(refusals.throwWriteFailure(name));
  const user = known.byName(name);
  // If another source has a user of this name, that one counts, and a change of the object would have no effect.
  if (user && user.isObject !== true) throw refusals.keptElsewhere(name);
  if (object && isThere(object, names)) return object;
  throw refusals.notFound('users', name);
}

/** Whether the object is the caller's own user. Throws a 403 if the token belongs to an earlier user of this name. */
export function isOwn(
  { metadata: { name, uid } }: KubernetesObject,
  caller: Caller,
  { refusals }: UserWriteParts,
): boolean {
  if (caller.name !== name) return false;
  if (caller.uid !== uid) throw refusals.forbiddenChange(name, 'the token is of an earlier user of this name');
  return true;
}

const isThere = ({ metadata }: KubernetesObject, names: AccountNames): boolean =>
  !metadata['deletionTimestamp'] && !metadata.annotations?.[names.incomplete];

/** Ends the user's sessions before the change that requires it (AC-53, AC-69). `but`: the session that a new password leaves alone. */
export async function endSessions(
  name: string,
  { sessions }: UserWriteParts,
  but?: { readonly session: string; readonly passwordHash: string },
): Promise<void> {
  const ended = but ? sessions.allBut(but.session, name, but.passwordHash) : sessions.user(name);
  await ended.catch(throwNotSaved('the sessions of the user cannot be ended, and nothing was changed'));
}

/** `written`: the object as the cluster has stored it. Rejects when somebody had the e-mail address before this user. */
export type CheckAddress = (written: Pick<ObjectMeta, 'uid' | 'resourceVersion'>) => Promise<void>;

/**
 * Calls `write`, which stores an e-mail address and then calls the check that it gets. The check rejects with 409 when somebody had
 * the address before, and with 503 when that is unknown. `write` must then undo what it has written.
 */
export async function withAddress<T>(
  { name, email }: { readonly name: string; readonly email: string },
  { rivals, refusals }: Pick<UserWriteParts, 'rivals' | 'refusals'>,
  write: (checkAddress: CheckAddress) => Promise<T>,
): Promise<T> {
  if (email === '') return write(async () => {});
  const expected = rivals.expect(name, email);
  const check: CheckAddress = async ({ uid, resourceVersion }) => {
    const isTaken = await expected
      .wasTaken(uid, resourceVersion)
      .catch(throwNotSaved('it cannot be told whether another user has the e-mail address'));
    if (isTaken) throw refusals.emailTaken(name);
  };
  return write(check).finally(() => expected.end());
}
