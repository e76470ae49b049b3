import { createFirstAdministratorObject } from '../accounts/directory/first-administrator-object.ts';
import { createExpiry, createKeeper } from '../accounts/keeper/keeper.ts';
import { createPasswordMigration } from '../accounts/keeper/password-migration.ts';
import { createGuarding, createUserRemoval } from '../accounts/keeper/user-removal.ts';
import { loginRecordsOf, usersOf } from '../accounts/names.ts';
import { CLUSTER_ROLE_BINDINGS } from '../accounts/roles/role-binding.ts';
import { createStatusPatch } from '../accounts/states/status-patch.ts';
import { createUserStates } from '../accounts/states/user-states.ts';
import type { Cluster } from '../kubernetes/cluster.ts';
import type { BucketOptions } from '../runtime/failure-bucket.ts';
import type { AccountPeople, AccountPeopleOptions } from './account-people.ts';
import { type AccountRecordsOptions, createAccountRecords } from './account-records.ts';
import type { Accounts } from './accounts.ts';
import { allUpkeep, NO_UPKEEP, type Shared, type Upkeep } from './family.ts';
import type { TokenService } from './token-service.ts';

export interface AccountKeepingParts extends Omit<Shared, 'registry'> {
  readonly accounts: Pick<Accounts, 'names' | 'records'>;
  readonly people: Pick<AccountPeople, 'objects' | 'passwords' | 'budget'>;
  readonly tokens: Pick<TokenService, 'ends' | 'signIn' | 'users' | 'administrator'>;
  readonly cluster: Pick<Cluster, 'objects' | 'reflect' | 'namespace'>;
}

export interface AccountKeepingOptions extends Pick<AccountPeopleOptions, 'passwordStore'> {
  /** When the bucket of a user is full, and for how long. */
  readonly throttled: BucketOptions;
  readonly records: AccountRecordsOptions;
}

/** The background work: completes and removes users, also those that other tools made or deleted, and keeps the first administrator. */
export function createAccountKeeping(
  { passwordStore, throttled, records }: AccountKeepingOptions,
  parts: AccountKeepingParts,
): Upkeep {
  const { accounts, people, tokens, cluster, clock, random, logger, events } = parts;
  const { names, records: users } = accounts;
  const { passwords } = people;
  const objects = cluster.objects(usersOf(names));
  const patchStatus = createStatusPatch(objects);
  const isKnown = (): boolean => people.objects.fault() === undefined;
  const bindings = cluster.objects(CLUSTER_ROLE_BINDINGS);
  const loginRecords = cluster.objects(loginRecordsOf(names));
  const removal = { names, objects, bindings, loginRecords, passwords, ends: tokens.ends, clock };
  const migration = createPasswordMigration({ passwords, objects, signIn: tokens.signIn, clock, events });
  const keeper = createKeeper({
    ...{ users, isKnown, clock, random, logger },
    jobs: {
      removal: createUserRemoval(removal),
      expiry: createExpiry(objects),
      guarding: createGuarding(removal),
      // With `userObject` the object is where passwords are.
      ...(passwordStore === 'secret' ? { migration } : {}),
    },
  });
  const { throttle } = tokens.signIn;
  const states = createUserStates(throttled, {
    ...{ users, throttle, patchStatus, clock, random, logger },
    byName: tokens.users.byName,
    budget: people.budget,
  });
  throttle.onLimited(({ name }) => states.limited(name));
  const administrator = (): ReturnType<typeof tokens.users.byName> => tokens.administrator?.users()[0];
  const firstAdministrator = createFirstAdministratorObject({
    ...{ names, users, passwords, objects, patchStatus, isKnown, clock, logger },
    administrator,
    takenOver: async (uid) => tokens.administrator?.takenOver(uid),
    isRead: () => tokens.administrator?.fault() === undefined,
    isTaken: (name) => {
      const user = tokens.users.byName(name);
      return user !== undefined && user.isObject !== true && user !== administrator();
    },
  });
  const check = { name: 'first-administrator-object', endpoints: ['readyz'], check: firstAdministrator.fault } as const;
  const ofRecords = createAccountRecords(records, {
    ...{ accounts, throttle, isKnown, cluster, clock, random, logger },
  });
  const ofUsers: Upkeep = {
    ...NO_UPKEEP,
    checks: tokens.administrator ? [check] : [],
    parts: [
      { name: 'user keeper', run: (signal) => keeper.run(signal) },
      { name: 'user states', run: (signal) => states.run(signal) },
      ...(tokens.administrator ? [{ name: 'first administrator object', run: firstAdministrator.run }] : []),
    ],
  };
  return allUpkeep([ofUsers, ofRecords]);
}
