import { AccountSelection } from '../../accounts/impersonation/account-selection.ts';
import { ChosenUsers } from '../../accounts/impersonation/chosen-users.ts';
import { FOLLOW_FAULTS, FollowFaults } from '../../accounts/impersonation/follow-faults.ts';
import { createFollowedAccess, type FollowedState } from '../../accounts/impersonation/followed-access.ts';
import { ImpersonationKeeper } from '../../accounts/impersonation/impersonation-keeper.ts';
import { formOf } from '../../accounts/impersonation/impersonation-role.ts';
import { MirroredImpersonation } from '../../accounts/impersonation/mirrored-impersonation.ts';
import { registerFollowedRoles } from '../../accounts/metrics.ts';
import type { AccountNames } from '../../accounts/names.ts';
import { CLUSTER_ROLES } from '../../accounts/roles/role-kind.ts';
import type { UserRecords } from '../../accounts/users/user-record.ts';
import type { Config } from '../../config/config.ts';
import type { Cluster } from '../../kubernetes/cluster.ts';
import type { ClusterObjects } from '../../kubernetes/objects/cluster-objects.ts';
import { reservedNames, type UserDirectory } from '../../users/user.ts';
import { NO_UPKEEP, type Shared, type Upkeep } from '../family.ts';
import type { AccountMirrors } from './account-mirrors.ts';

export type FollowedAccountsOptions = Config['gateway']['accounts'] & {
  /** Names of the cluster's own that no user can have. */
  readonly reservedNames: readonly string[];
};

export interface FollowedAccountsParts
  extends Shared,
    Pick<AccountMirrors, 'roles' | 'clusterRoles' | 'onRoleChange' | 'areRolesKnown'> {
  readonly names: AccountNames;
  readonly cluster: Pick<Cluster, 'objects'>;
  readonly users: UserRecords;
  readonly objects: ClusterObjects;
  readonly bindings: ClusterObjects;
  readonly directory: Pick<UserDirectory, 'byName'>;
  /** Whether all User objects are in memory. */
  isKnown(): boolean;
  isHolder(): boolean;
}

/** The users of the gateway, as the User objects say. */
export interface FollowedAccounts {
  readonly selection: AccountSelection;
  readonly stateOf: (name: string, groups: readonly string[]) => FollowedState;
  readonly upkeep: Upkeep;
}

/** How often all users are chosen anew: a users file that has come to name a user is noticed by nothing else. */
const CHOSEN_ANEW_MS = 60_000;
const LOOK_MS = 250;

/** Connects the users of the cluster with the ClusterRoles that say whom the gateway may impersonate. */
export function createFollowedAccounts(
  options: FollowedAccountsOptions,
  parts: FollowedAccountsParts,
): FollowedAccounts {
  const { users, roles: platformRoles, clusterRoles, directory, cluster, clock, registry, logger } = parts;
  const form = formOf(options.constrainedImpersonation);
  const selection = new AccountSelection(options, reservedNames(options.reservedNames));
  // While no source knows the name, for example during the first seconds, the object counts.
  const isCounted = (name: string): boolean => {
    const user = directory.byName(name);
    return user === undefined || user.isObject === true;
  };
  const chosen = new ChosenUsers({ selection, roleOf: (user) => platformRoles.roleOf(user), isCounted });
  const choose = (name: string): void => chosen.update(name, users.get(name));
  users.onChange(choose);
  parts.onRoleChange(choose);
  const roles = new MirroredImpersonation({ clusterRoles, names: options.clusterRoles, form });
  const faults = new FollowFaults(logger);
  const counted = registerFollowedRoles(registry, {
    chosen: () => chosen.size,
    granted: () => [...chosen.wanted().users].filter((name) => roles.has('users', name)).length,
    faults: Object.fromEntries(FOLLOW_FAULTS.map((fault) => [fault, () => faults.count(fault)])),
  });
  const keeper = new ImpersonationKeeper({
    ...parts,
    ...{ selection, isCounted, chosen, roles, form, faults },
    clusterRoles: cluster.objects(CLUSTER_ROLES),
    isKnown: () => parts.isKnown() && parts.areRolesKnown(),
    onWrite: (result) => counted.inc({ result }),
  });
  const chooseAll = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted && !parts.isKnown()) await clock.sleep(LOOK_MS, signal);
    for (; !signal.aborted; await clock.sleep(CHOSEN_ANEW_MS, signal)) for (const { name } of users.all()) choose(name);
  };
  return {
    selection,
    stateOf: createFollowedAccess({ selection, chosen, roles, faults }),
    upkeep: {
      ...NO_UPKEEP,
      parts: [
        { name: 'choice of gateway users', run: chooseAll },
        { name: 'keeper of the impersonation roles', run: (signal) => keeper.run(signal) },
      ],
    },
  };
}
