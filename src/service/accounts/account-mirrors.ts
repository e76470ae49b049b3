import type { AccountReads } from '../../accounts/account-reads.ts';
import { registerRoleConflicts } from '../../accounts/metrics.ts';
import type { AccountNames } from '../../accounts/names.ts';
import { KeptBindings } from '../../accounts/roles/kept-bindings.ts';
import { createMirroredRoles, type MirroredRoles } from '../../accounts/roles/mirrored-roles.ts';
import { CLUSTER_ROLE_BINDINGS } from '../../accounts/roles/role-binding.ts';
import { createRoleKind, isAssignable } from '../../accounts/roles/role-kind.ts';
import { createUserRecords } from '../../accounts/users/mirrored-users.ts';
import { userOwnOf } from '../../accounts/users/user-entry.ts';
import { createUserKind } from '../../accounts/users/user-kind.ts';
import { isThere, type UserRecords } from '../../accounts/users/user-record.ts';
import type { Cluster } from '../../kubernetes/cluster.ts';
import { AllObjects } from '../../resources/entries/all-objects.ts';
import { collectionPath } from '../../resources/entries/object-kind.ts';
import { ResourceStore } from '../../resources/entries/store.ts';
import { TimeSlices } from '../../runtime/time-slices.ts';
import { allUpkeep, NO_UPKEEP, type Shared, type Upkeep } from '../family.ts';
import { createListMirror, type ListMirror, type ListMirrorParts, newEpoch, shownIn } from '../list-mirror.ts';

export interface AccountMirrorOptions {
  /** When the data is older, requests are refused. */
  readonly maxStalenessMs: number;
  /** The longest time between two self-checks of one kind. */
  readonly longestPeriodMs: number;
}

export interface AccountMirrorParts
  extends Pick<ListMirrorParts, 'exposeBytes'>,
    Pick<Shared, 'clock' | 'random' | 'registry'> {
  readonly names: AccountNames;
  readonly cluster: Cluster;
}

/** Users as objects of the cluster and their platform roles, in memory. */
export interface AccountMirrors {
  readonly users: UserRecords;
  readonly roles: MirroredRoles;
  /** All ClusterRoles. */
  readonly clusterRoles: Pick<AllObjects, 'get' | 'onChange'>;
  /** Calls `changed` with the name of each user whose platform role may have changed. */
  onRoleChange(changed: (user: string) => void): void;
  /** Whether ClusterRoles and the bindings of users are in memory. */
  areRolesKnown(): boolean;
  /** The lists that the routes read. */
  readonly lists: Pick<AccountReads, 'users' | 'roles'>;
  readonly upkeep: Upkeep;
}

const BINDINGS = CLUSTER_ROLE_BINDINGS.resource;

/** Connects the mirrors of users, of ClusterRoles and of the bindings of users. No request is sent before the upkeep runs. */
export function createAccountMirrors(options: AccountMirrorOptions, parts: AccountMirrorParts): AccountMirrors {
  const { maxStalenessMs, longestPeriodMs } = options;
  const { names, cluster, clock, random, registry, exposeBytes } = parts;
  const slices = new TimeSlices(clock);
  const common = { isRequired: true, maxStalenessMs, longestPeriodMs };
  const shared = { cluster, clock, epoch: newEpoch(random), exposeBytes };

  const bindings = new KeptBindings(names);
  registerRoleConflicts(registry, () => bindings.conflicts());
  const labelled = { path: collectionPath(CLUSTER_ROLE_BINDINGS), name: BINDINGS, labelSelector: names.userRef };
  const bindingReflector = cluster.reflect(labelled, bindings, { longestPeriodMs });

  const userStore = new ResourceStore(createUserKind(names, bindings), slices);
  const allUsers = new AllObjects(userStore, (user) => isThere(userOwnOf(user).record));
  const besides = { [BINDINGS]: shownIn(userStore, bindingReflector) };
  const users = createListMirror({ ...common, store: userStore, reflected: allUsers, besides }, shared);

  const roleStore = new ResourceStore(createRoleKind(names), slices);
  const allRoles = new AllObjects(roleStore, (role) => isAssignable(role, names));
  const roles = createListMirror({ ...common, store: roleStore, reflected: allRoles }, shared);

  // The mirror of users shows who is disabled or gone, so its age matters for revocation.
  const ages = {
    lists: { [BINDINGS]: bindingReflector.proof },
    revocation: { users: users.mirror.proof },
  };
  return {
    users: createUserRecords(allUsers, users.mirror),
    roles: createMirroredRoles(names, allRoles, bindings),
    clusterRoles: allRoles,
    onRoleChange: (changed) => bindings.onChange(changed),
    areRolesKnown: () => roles.mirror.hasSynced() && bindingReflector.hasSynced(),
    lists: { users: listOf(userStore, users), roles: listOf(roleStore, roles) },
    upkeep: allUpkeep([
      { ...users.upkeep, ages },
      roles.upkeep,
      { ...NO_UPKEEP, parts: [{ name: `reflector of ${BINDINGS}`, run: (signal) => bindingReflector.run(signal) }] },
    ]),
  };
}

const listOf = ({ kind }: ResourceStore, { lister }: ListMirror) => ({ kind, lister, age: lister });
