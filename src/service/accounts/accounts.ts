import { type AccountCollections, accountCollections } from '../../accounts/account-collections.ts';
import { createAccountReads } from '../../accounts/account-reads.ts';
import { createUserObjects, type UserObjects } from '../../accounts/directory/user-objects.ts';
import { createRecordCounter, registerFaultyUsers } from '../../accounts/metrics.ts';
import { type AccountNames, accountNames } from '../../accounts/names.ts';
import { createPasswordObjects } from '../../accounts/passwords/password-objects.ts';
import { createPasswordSecrets, passwordLabels, passwordPrefix } from '../../accounts/passwords/password-secrets.ts';
import type { PasswordStore } from '../../accounts/passwords/password-store.ts';
import { createLoginRecordLists } from '../../accounts/records/fetched-records.ts';
import { createLoginRecorder } from '../../accounts/records/login-recorder.ts';
import { AccountRefusals } from '../../accounts/refusals.ts';
import { ROLE_BINDINGS } from '../../accounts/roles/role-binding.ts';
import { WriteThrottle } from '../../accounts/states/write-throttle.ts';
import { createEmailRivals } from '../../accounts/users/email-rivals.ts';
import { createUserPresenter } from '../../accounts/users/user-presenter.ts';
import type { UserRecords } from '../../accounts/users/user-record.ts';
import { createAccountWrites } from '../../accounts/writes/account-writes.ts';
import type { PasswordChangeParts } from '../../accounts/writes/change-password.ts';
import { createFirstPasswords } from '../../accounts/writes/own-first-password.ts';
import { createRoleAssignment } from '../../accounts/writes/role-assignment.ts';
import type { ForgetfulAuthorizer } from '../../authorization/authorizer.ts';
import type { Config } from '../../config/config.ts';
import type { RouteFamily } from '../../http/family.ts';
import { accountFamily } from '../../http/routes/accounts.ts';
import type { Cluster } from '../../kubernetes/cluster.ts';
import type { FirstPasswords } from '../../users/first-passwords.ts';
import type { SignInRecorder } from '../../users/sign-in.ts';
import { allUpkeep, type Family, NO_UPKEEP, type Shared, type Upkeep } from '../family.ts';
import type { ListMirrorParts } from '../list-mirror.ts';
import { mirrorChecks } from '../readiness.ts';
import { toPasswordOptions } from '../token-options.ts';
import type { TokenService } from '../token-service.ts';
import { type AccountKeepingOptions, createAccountKeeping } from './account-keeping.ts';
import { createAccountLease } from './account-lease.ts';
import { type AccountMirrorOptions, type AccountMirrors, createAccountMirrors } from './account-mirrors.ts';
import { type AccountRecordsOptions, createAccountRecords } from './account-records.ts';
import { createFollowedAccounts, type FollowedAccounts, type FollowedAccountsOptions } from './followed-accounts.ts';

export interface AccountsOptions extends AccountMirrorOptions, AccountKeepingOptions, AccountRecordsOptions {
  readonly platform: string;
  /** Names that no user can have. */
  readonly reservedNames: readonly string[];
  /** Whether the cluster's own paths are served. */
  readonly gatewayIsOpen: boolean;
  /** Absent when the gateway does not follow the accounts. */
  readonly followed?: FollowedAccountsOptions | undefined;
}

/** The options of accounts in this configuration. */
export const toAccountsOptions = ({
  platform,
  accounts: { passwordStore, reservedNames },
  authentication,
  authorization,
  nodes,
  gateway,
}: Pick<
  Config,
  'platform' | 'accounts' | 'authentication' | 'authorization' | 'nodes' | 'gateway'
>): AccountsOptions => ({
  platform,
  passwordStore,
  reservedNames,
  maxStalenessMs: authorization.maxStaleness,
  longestPeriodMs: nodes.selfCheck.longestPeriod,
  gatewayIsOpen: gateway.enabled,
  followed: gateway.accounts.enabled ? { ...gateway.accounts, reservedNames } : undefined,
  throttled: toPasswordOptions(authentication).throttle.user,
  periodMs: authentication.loginHistoryRetentionPeriod,
  maximumEntries: authentication.loginHistoryMaximumEntries,
});

export interface AccountsParts extends Shared, Pick<ListMirrorParts, 'exposeBytes'> {
  readonly cluster: Cluster;
}

/** What the account API needs from families that are made later than `Accounts`. */
interface AccountJudges {
  readonly tokens: Pick<TokenService, 'ends' | 'signIn' | 'users' | 'administrator'>;
  /** Decides about rights that a user grants to somebody else. */
  readonly reviews: ForgetfulAuthorizer;
}

/** The account API, and what other families need of it. */
interface AccountApi extends Family {
  readonly firstPasswords: FirstPasswords;
  /** Whether a user may use the gateway; absent when it does not follow the accounts. */
  readonly gatewayStateOf?: FollowedAccounts['stateOf'] | undefined;
}

/** Users as objects of the cluster. They are made before the token service, and the API that changes them is made after it. */
export interface Accounts extends Family {
  /** A source of the user directory. */
  readonly userSource: UserObjects;
  readonly recorder: SignInRecorder;
  /** The account API over these users, and the background work for them. */
  createApi(judges: AccountJudges): AccountApi;
}

/** What the parts of accounts share: the collections that they write, and the users in memory. */
interface AccountsInCommon extends AccountsParts, AccountCollections {
  readonly names: AccountNames;
  readonly users: UserRecords;
  readonly passwords: PasswordStore;
}

/** Connects users, roles, passwords and login records of the cluster. No request is sent before the upkeep runs. */
export function createAccounts(options: AccountsOptions, parts: AccountsParts): Accounts {
  const { cluster, registry, clock } = parts;
  const names = accountNames(options.platform);
  const mirrors = createAccountMirrors(options, { ...parts, names });
  const written = { ...parts, ...accountCollections(names, cluster), names, users: mirrors.users };
  const { passwords, upkeep: ofPasswords } = createPasswords(options, written);
  const common: AccountsInCommon = { ...written, passwords };

  const userSource = createUserObjects(options, common);
  registerFaultyUsers(registry, userSource.faulty);
  const check = { name: 'users-indexed', endpoints: ['readyz'], check: userSource.fault } as const;
  const writeThrottle = new WriteThrottle(clock);
  const counted = createRecordCounter(registry);
  const recorder = createLoginRecorder({ ...common, records: common.loginRecords, writeThrottle, counted });
  const ofRecorder = { name: 'login recorder', run: (signal: AbortSignal) => recorder.run(signal) };
  return {
    userSource,
    recorder,
    upkeep: allUpkeep([mirrors.upkeep, ofPasswords, { ...NO_UPKEEP, parts: [ofRecorder], checks: [check] }]),
    createApi: (judges) => {
      const isKnown = () => userSource.fault() === undefined;
      const lease = createAccountLease(options.platform, parts);
      const kept = { ...common, ...judges, writeThrottle, isKnown, isHolder: lease.isHolder };
      const { roles, clusterRoles, onRoleChange, areRolesKnown } = mirrors;
      const ofRoles = { roles, clusterRoles, onRoleChange, areRolesKnown, directory: judges.tokens.users };
      const followed = options.followed && createFollowedAccounts(options.followed, { ...kept, ...ofRoles });
      const writeParts = toWriteParts(options, common, { ...judges, roles, followed });
      const leased: Upkeep = { ...NO_UPKEEP, parts: [lease.part] };
      return {
        routes: routesOf(options, { ...common, ...mirrors }, { ...judges, writeParts }),
        firstPasswords: createFirstPasswords(writeParts),
        gatewayStateOf: followed?.stateOf,
        upkeep: allUpkeep([
          createAccountKeeping(options, { ...kept, ...ofRoles, assignment: writeParts.assignment }),
          leased,
          createAccountRecords(options, kept),
          followed?.upkeep ?? NO_UPKEEP,
        ]),
      };
    },
  };
}

function routesOf(
  { gatewayIsOpen }: AccountsOptions,
  parts: AccountsInCommon & AccountMirrors,
  { tokens, writeParts }: Pick<AccountJudges, 'tokens'> & { readonly writeParts: PasswordChangeParts },
): RouteFamily {
  const { names, users, roles, lists, clock } = parts;
  return accountFamily({
    reads: createAccountReads({
      ...lists,
      names,
      userRecords: users,
      mirroredRoles: roles,
      loginRecords: createLoginRecordLists(names, parts.loginRecords, clock),
      directory: tokens.users,
    }),
    writes: createAccountWrites(writeParts),
    presenter: createUserPresenter(names),
    gatewayIsOpen,
  });
}

/** What every write of a user needs. */
function toWriteParts(
  { reservedNames }: Pick<AccountsOptions, 'reservedNames'>,
  common: AccountsInCommon,
  {
    roles,
    tokens,
    reviews,
    followed,
  }: AccountJudges & Pick<AccountMirrors, 'roles'> & { readonly followed: FollowedAccounts | undefined },
): PasswordChangeParts {
  const { names, users, clock, cluster } = common;
  const namespacedBindings = followed && cluster.objects(ROLE_BINDINGS);
  const refusals = new AccountRefusals(names);
  return {
    ...common,
    roles,
    reservedNames: new Set(reservedNames),
    known: tokens.users,
    rivals: createEmailRivals(users, { clock }),
    hasher: tokens.signIn,
    signIn: tokens.signIn,
    // 0: ends every session that has issued a token up to now.
    sessions: { user: (name) => tokens.ends.user(name, 0), allBut: tokens.ends.allBut },
    assignment: createRoleAssignment({ ...common, roles, namespacedBindings, refusals }),
    refusals,
    authorizer: reviews,
    gatewayChoice: followed?.selection,
  };
}

/** The name of the mirrored Secrets in metrics and readiness checks. */
const PASSWORDS = 'passwords';

function createPasswords(
  { platform, passwordStore, maxStalenessMs }: AccountsOptions,
  parts: Omit<AccountsInCommon, 'passwords'>,
): { readonly passwords: PasswordStore; readonly upkeep: Upkeep } {
  if (passwordStore === 'userObject')
    return { passwords: createPasswordObjects({ maxStalenessMs }, parts), upkeep: NO_UPKEEP };
  const { records, reflector } = parts.cluster.mirrorSecrets(PASSWORDS, passwordLabels(platform));
  const currentUid = async (name: string) => (await parts.objects.get(name))?.metadata.uid;
  const namePrefix = passwordPrefix(platform);
  return {
    passwords: createPasswordSecrets({ namePrefix, maxStalenessMs }, { ...parts, records, currentUid }),
    upkeep: {
      parts: [{ name: `reflector of ${PASSWORDS}`, run: (signal) => reflector.run(signal) }],
      checks: mirrorChecks(PASSWORDS, reflector, { maxStalenessMs }),
      reflectors: { [PASSWORDS]: reflector },
      ages: { lists: {}, revocation: { [PASSWORDS]: records.proof } },
    },
  };
}
