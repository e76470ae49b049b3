import { createUserObjects, type UserObjects } from '../accounts/directory/user-objects.ts';
import { createRecordCounter, registerFaultyUsers } from '../accounts/metrics.ts';
import { loginRecordsOf, usersOf } from '../accounts/names.ts';
import { createPasswordObjects } from '../accounts/passwords/password-objects.ts';
import { createPasswordSecrets, passwordLabels, passwordPrefix } from '../accounts/passwords/password-secrets.ts';
import type { PasswordStore } from '../accounts/passwords/password-store.ts';
import { createLoginRecorder, type LoginRecorder } from '../accounts/records/login-recorder.ts';
import { FailureBudget } from '../accounts/states/failure-budget.ts';
import { createStatusPatch } from '../accounts/states/status-patch.ts';
import type { Cluster } from '../kubernetes/cluster.ts';
import type { Accounts } from './accounts.ts';
import { type Family, NO_UPKEEP, type Shared, type Upkeep } from './family.ts';
import { mirrorChecks } from './readiness.ts';

export interface AccountPeopleOptions {
  /** Part of the names and labels of the Secrets. */
  readonly platform: string;
  readonly passwordStore: 'secret' | 'userObject';
  /** Users and passwords that are older are not used for judging tokens. */
  readonly maxStalenessMs: number;
}

export interface AccountPeopleParts extends Shared {
  readonly accounts: Pick<Accounts, 'names' | 'records'>;
  readonly cluster: Pick<Cluster, 'mirrorSecrets' | 'objects'>;
}

/** The users that are objects of the cluster, as the user directory takes them, and their passwords. */
export interface AccountPeople extends Family {
  readonly objects: UserObjects;
  readonly passwords: PasswordStore;
  readonly recorder: LoginRecorder;
  /** Limits the writes that all failed sign-ins together cause. */
  readonly budget: FailureBudget;
  readonly upkeep: Upkeep;
}

/** The name of the mirrored Secrets in metrics and readiness checks. */
const NAME = 'passwords';

export function createAccountPeople(options: AccountPeopleOptions, parts: AccountPeopleParts): AccountPeople {
  const { passwords, upkeep } = createPasswords(options, parts);
  const { clock, events, registry, accounts } = parts;
  const objects = createUserObjects(options, { users: accounts.records, passwords, clock, events });
  registerFaultyUsers(registry, objects.faulty);
  const check = { name: 'users-indexed', endpoints: ['readyz'], check: objects.fault } as const;
  const budget = new FailureBudget(clock);
  const recorder = createRecorder(budget, parts);
  const ofRecorder = { name: 'login recorder', run: (signal: AbortSignal) => recorder.run(signal) };
  return {
    ...{ objects, passwords, recorder, budget },
    upkeep: { ...upkeep, parts: [...upkeep.parts, ofRecorder], checks: [...upkeep.checks, check] },
  };
}

function createRecorder(
  budget: FailureBudget,
  { accounts: { names, records: users }, cluster, clock, random, logger, registry }: AccountPeopleParts,
): LoginRecorder {
  return createLoginRecorder({
    ...{ names, users, budget, clock, random, logger },
    records: cluster.objects(loginRecordsOf(names)),
    patchStatus: createStatusPatch(cluster.objects(usersOf(names))),
    counted: createRecordCounter(registry),
  });
}

function createPasswords(
  { platform, passwordStore, maxStalenessMs }: AccountPeopleOptions,
  { accounts, cluster, clock, random, logger, events }: AccountPeopleParts,
): Pick<AccountPeople, 'passwords' | 'upkeep'> {
  const objects = cluster.objects(usersOf(accounts.names));
  if (passwordStore === 'userObject') {
    const passwords = createPasswordObjects({ maxStalenessMs }, { users: accounts.records, objects });
    return { passwords, upkeep: NO_UPKEEP };
  }
  const { records, reflector } = cluster.mirrorSecrets(NAME, passwordLabels(platform));
  const secrets = { namePrefix: passwordPrefix(platform), maxStalenessMs };
  return {
    passwords: createPasswordSecrets(secrets, {
      ...{ records, clock, random, logger, events },
      currentUid: async (name) => (await objects.get(name))?.metadata.uid,
    }),
    upkeep: {
      parts: [{ name: `reflector of ${NAME}`, run: (signal) => reflector.run(signal) }],
      checks: mirrorChecks(NAME, reflector, { maxStalenessMs }),
      reflectors: { [NAME]: reflector },
      ages: { lists: {}, revocation: { [NAME]: records.proof } },
    },
  };
}
