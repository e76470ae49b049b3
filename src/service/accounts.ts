import { type AccountReads, createAccountReads } from '../accounts/account-reads.ts';
import { registerRoleConflicts } from '../accounts/metrics.ts';
import { type AccountNames, accountNames, loginRecordsOf } from '../accounts/names.ts';
import { createLoginRecordLists } from '../accounts/records/fetched-records.ts';
import { KeptBindings } from '../accounts/roles/kept-bindings.ts';
import { createMirroredRoles, type MirroredRoles } from '../accounts/roles/mirrored-roles.ts';
import { CLUSTER_ROLE_BINDINGS } from '../accounts/roles/role-binding.ts';
import { createRoleKind, isAssignable } from '../accounts/roles/role-kind.ts';
import { createUserRecords } from '../accounts/users/mirrored-users.ts';
import { userOwnOf } from '../accounts/users/user-entry.ts';
import { createUserKind } from '../accounts/users/user-kind.ts';
import { createUserPresenter, type UserPresenter } from '../accounts/users/user-presenter.ts';
import { isThere, type UserRecords } from '../accounts/users/user-record.ts';
import type { Cluster } from '../kubernetes/cluster.ts';
import type { Reflector } from '../kubernetes/reflector/reflector.ts';
import { AllObjects } from '../resources/entries/all-objects.ts';
import { ResourceStore } from '../resources/entries/store.ts';
import { TimeSlices } from '../runtime/time-slices.ts';
import type { UserDirectory } from '../users/user.ts';
import { allUpkeep, type Family, NO_UPKEEP, type Shared, type Upkeep } from './family.ts';
import { createListMirror, type ListMirrorParts, newEpoch } from './list-mirror.ts';
import type { Mirror } from './readiness.ts';

export interface AccountsOptions {
  readonly platform: string;
  /** Answers from older data are refused. */
  readonly maxStalenessMs: number;
  /** The longest time between two self-checks of one kind. */
  readonly longestPeriodMs: number;
}

export interface AccountsParts
  extends Pick<ListMirrorParts, 'exposeBytes'>,
    Pick<Shared, 'clock' | 'random' | 'registry'> {
  readonly cluster: Cluster;
}

/** Users as objects of the cluster and their platform roles, in memory. */
export interface Accounts extends Family {
  readonly names: AccountNames;
  readonly records: UserRecords;
  readonly roles: MirroredRoles;
  readonly presenter: UserPresenter;
  /** What the routes read. The directory knows everybody who may sign in, those without a User object included. */
  readsWith(directory: Pick<UserDirectory, 'byName'>): AccountReads;
  readonly upkeep: Upkeep;
}

/** Connects the mirrors of users, ClusterRoles and kept bindings. Nothing is asked of the cluster before the upkeep runs. */
export function createAccounts(options: AccountsOptions, parts: AccountsParts): Accounts {
  const { maxStalenessMs, longestPeriodMs } = options;
  const { cluster, clock, random, registry, exposeBytes } = parts;
  const names = accountNames(options.platform);
  const slices = new TimeSlices(clock);
  const common = { isRequired: true, maxStalenessMs, longestPeriodMs };
  const shared = { cluster, clock, epoch: newEpoch(random), exposeBytes };

  const bindings = new KeptBindings(names);
  registerRoleConflicts(registry, () => bindings.conflicts());
  const bindingReflector = reflectBindings(bindings, names, parts, longestPeriodMs);

  const userStore = new ResourceStore(createUserKind(names, bindings), slices);
  const allUsers = new AllObjects(userStore, (user) => isThere(userOwnOf(user).record));
  const besides = { [BINDINGS]: shownIn(userStore, bindingReflector) };
  const users = createListMirror({ ...common, store: userStore, reflected: allUsers, besides }, shared);
  const records = createUserRecords(allUsers, users.mirror);

  const roleStore = new ResourceStore(createRoleKind(names), slices);
  const allRoles = new AllObjects(roleStore, (role) => isAssignable(role, names));
  const clusterRoles = createListMirror({ ...common, store: roleStore, reflected: allRoles }, shared);
  const roles = createMirroredRoles(names, allRoles, bindings);

  // The mirror of users shows who is disabled or gone, so its age matters for revocation.
  const ages = {
    lists: { [BINDINGS]: bindingReflector.stalenessMs },
    revocation: { users: users.mirror.stalenessMs },
  };
  return {
    names,
    records,
    roles,
    presenter: createUserPresenter(names),
    readsWith: (directory) =>
      createAccountReads({
        names,
        users: { kind: userStore.kind, lister: users.lister, age: users.lister },
        roles: { kind: roleStore.kind, lister: clusterRoles.lister, age: clusterRoles.lister },
        records,
        mirroredRoles: roles,
        loginRecords: createLoginRecordLists(names, cluster.objects(loginRecordsOf(names)), clock),
        directory,
      }),
    upkeep: allUpkeep([
      { ...users.upkeep, ages },
      clusterRoles.upkeep,
      { ...NO_UPKEEP, parts: [{ name: `reflector of ${BINDINGS}`, run: (signal) => bindingReflector.run(signal) }] },
    ]),
  };
}

const { resource: BINDINGS, group, version } = CLUSTER_ROLE_BINDINGS;

function reflectBindings(
  bindings: KeptBindings,
  names: AccountNames,
  { cluster }: Pick<AccountsParts, 'cluster'>,
  longestPeriodMs: number,
): Reflector {
  const path = `/apis/${group}/${version}/${BINDINGS}`;
  return cluster.reflect({ path, name: BINDINGS, labelSelector: names.userRef }, bindings, { longestPeriodMs });
}

/** The bindings count as synced when the users show the roles of the first list of bindings. */
function shownIn(store: ResourceStore, { hasSynced, stalenessMs, idleMs, missingRight }: Mirror): Mirror {
  let isShown = false;
  return {
    hasSynced() {
      isShown ||= hasSynced() && store.isDecorated;
      return isShown;
    },
    stalenessMs,
    idleMs,
    missingRight,
  };
}
