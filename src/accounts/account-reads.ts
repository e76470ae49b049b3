import type { Age, Lister } from '../resources/cache.ts';
import type { Kind } from '../resources/entries/kind.ts';
import type { WatchSource } from '../resources/watch/watch.ts';
import type { User, UserDirectory } from '../users/user.ts';
import type { AccountNames } from './names.ts';
import type { LoginRecordLists } from './records/fetched-records.ts';
import type { MirroredRoles } from './roles/mirrored-roles.ts';
import { isThere, type UserRecord, type UserRecords } from './users/user-record.ts';

/** A kind of accounts and its list in memory. */
interface AccountList {
  readonly kind: Kind;
  readonly lister: Lister & Pick<WatchSource, 'refresh'>;
  readonly age: Age;
}

/** The data behind the routes that read accounts. Every method throws a 503 while its data is missing or too old. */
export interface AccountReads {
  readonly names: AccountNames;
  readonly users: AccountList;
  readonly roles: AccountList;
  /** The body for a user who may sign in without a User object, as if there were one; `undefined` when there is no such user. */
  otherUser(name: string): Uint8Array | undefined;
  /** Whether there is a user of this name, with a User object or without. */
  isKnown(name: string): boolean;
  /** See `MirroredRoles`. */
  rolesOf(user: string): Uint8Array;
  /** See `LoginRecordLists`. Call it only for a known user. */
  readonly loginRecords: LoginRecordLists;
}

export interface AccountReadsParts extends Pick<AccountReads, 'names' | 'users' | 'roles' | 'loginRecords'> {
  readonly userRecords: UserRecords;
  readonly mirroredRoles: MirroredRoles;
  /** Everyone who may sign in, also users without a User object. */
  readonly directory: Pick<UserDirectory, 'byName'>;
}

export function createAccountReads(parts: AccountReadsParts): AccountReads {
  const { names, users, roles, loginRecords, userRecords, mirroredRoles, directory } = parts;
  const withoutObject = (name: string): User | undefined => {
    users.lister.refresh();
    return userRecords.get(name) ? undefined : directory.byName(name);
  };
  return {
    names,
    users,
    roles,
    loginRecords,
    otherUser(name) {
      const user = withoutObject(name);
      return user && Buffer.from(JSON.stringify(toUserObject(user, names, mirroredRoles.roleOf(name))));
    },
    isKnown: (name) => withoutObject(name) !== undefined || isKnownObject(userRecords.get(name)),
    rolesOf(user) {
      roles.lister.refresh();
      return mirroredRoles.rolesOf(user);
    },
  };
}

const isKnownObject = (record: UserRecord | undefined): boolean => record !== undefined && isThere(record);

/** Has no resourceVersion, because clients cannot change such a user. */
function toUserObject(user: User, { apiVersion, globalRole }: AccountNames, role: string | undefined): object {
  const { name, uid, email = '', locale, groups, state } = user;
  return {
    kind: 'User',
    apiVersion,
    metadata: { name, uid, ...(role !== undefined && { annotations: { [globalRole]: role } }) },
    spec: { email, ...(locale !== undefined && { lang: locale }), ...(groups.length > 0 && { groups }) },
    status: { state },
  };
}
