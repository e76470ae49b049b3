import type { AccountCollections } from '../../accounts/account-collections.ts';
import { createFirstAdministratorObject } from '../../accounts/directory/first-administrator-object.ts';
import { createExpiry, createKeeper } from '../../accounts/keeper/keeper.ts';
import { createPasswordMigration } from '../../accounts/keeper/password-migration.ts';
import { createGuarding, createUserRemoval } from '../../accounts/keeper/user-removal.ts';
import type { AccountNames } from '../../accounts/names.ts';
import type { PasswordStore } from '../../accounts/passwords/password-store.ts';
import type { PlatformRoles } from '../../accounts/roles/platform-roles.ts';
import { createUserStates } from '../../accounts/states/user-states.ts';
import type { WriteThrottle } from '../../accounts/states/write-throttle.ts';
import type { UserRecords } from '../../accounts/users/user-record.ts';
import type { RoleAssignment } from '../../accounts/writes/role-assignment.ts';
import type { ThrottleLimit } from '../../runtime/limits/failure-throttle.ts';
import type { FirstAdministrator } from '../../users/first-administrator.ts';
import type { User } from '../../users/user.ts';
import { allUpkeep, NO_UPKEEP, type Shared, type Upkeep } from '../family.ts';
import type { TokenService } from '../token-service.ts';

export interface AccountKeepingParts extends Omit<Shared, 'registry'>, AccountCollections {
  readonly names: AccountNames;
  readonly users: UserRecords;
  /** Whether all User objects are loaded. */
  isKnown(): boolean;
  readonly passwords: PasswordStore;
  /** Limits the writes that all failed sign-ins together cause. */
  readonly writeThrottle: WriteThrottle;
  readonly tokens: Pick<TokenService, 'ends' | 'signIn' | 'users' | 'administrator'>;
  readonly assignment: Pick<RoleAssignment, 'give'>;
  readonly roles: Pick<PlatformRoles, 'isAssignable'>;
  /** Whether platform roles are known. */
  areRolesKnown(): boolean;
}

export interface AccountKeepingOptions {
  readonly passwordStore: 'secret' | 'userObject';
  /** When the bucket of a user is full, and for how long. */
  readonly throttled: ThrottleLimit;
}

/** The background work: completes and removes users, also those that other tools made or deleted, and keeps the first administrator. */
export function createAccountKeeping(
  { passwordStore, throttled }: AccountKeepingOptions,
  parts: AccountKeepingParts,
): Upkeep {
  const { signIn, ends, users: directory, administrator } = parts.tokens;
  const keeper = createKeeper({
    ...parts,
    jobs: {
      removal: createUserRemoval({ ...parts, ends }),
      expiry: createExpiry(parts.objects),
      guarding: createGuarding(parts),
      // With `userObject`, passwords stay in User objects, and there is nothing to migrate.
      ...(passwordStore === 'secret' ? { migration: createPasswordMigration({ ...parts, signIn }) } : {}),
    },
  });
  const { throttle } = signIn;
  const states = createUserStates(throttled, { ...parts, throttle, byName: directory.byName });
  throttle.onLimited(({ name }) => states.limited(name));
  const ofUsers: Upkeep = {
    ...NO_UPKEEP,
    parts: [
      { name: 'user keeper', run: (signal) => keeper.run(signal) },
      { name: 'user states', run: (signal) => states.run(signal) },
    ],
  };
  return administrator ? allUpkeep([ofUsers, keepFirstAdministrator(administrator, parts)]) : ofUsers;
}

/** The platform role of administrators in the chart. */
const ADMINISTRATOR_ROLE = 'platform-admin';

/** Where the installation has the role, the first administrator takes it, and thereby has the menus of the console (CO-11). */
async function giveAdministratorRole(
  { name, uid, groups }: User,
  { assignment, roles }: Pick<AccountKeepingParts, 'assignment' | 'roles'>,
): Promise<void> {
  if (!roles.isAssignable(ADMINISTRATOR_ROLE)) return;
  const caller = { name, uid, groups, source: '', trail: {}, signal: new AbortController().signal };
  await assignment.give(name, ADMINISTRATOR_ROLE, caller);
}

function keepFirstAdministrator(administrator: FirstAdministrator, parts: AccountKeepingParts): Upkeep {
  const current = () => administrator.users()[0];
  const object = createFirstAdministratorObject({
    ...parts,
    administrator: current,
    takenOver: administrator.takenOver,
    isRead: () => administrator.fault() === undefined,
    giveRole: (user) => giveAdministratorRole(user, parts),
    isTaken: (name) => {
      const user = parts.tokens.users.byName(name);
      return user !== undefined && user.isObject !== true && user !== current();
    },
  });
  return {
    ...NO_UPKEEP,
    parts: [{ name: 'first administrator object', run: object.run }],
    checks: [{ name: 'first-administrator-object', endpoints: ['readyz'], check: object.fault }],
  };
}
