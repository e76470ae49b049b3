import type { AccountSelection } from './account-selection.ts';
import type { ChosenUsers } from './chosen-users.ts';
import type { FollowFaults } from './follow-faults.ts';
import type { MirroredImpersonation } from './mirrored-impersonation.ts';

export interface FollowedAccessParts {
  readonly selection: AccountSelection;
  readonly chosen: ChosenUsers;
  readonly roles: MirroredImpersonation;
  readonly faults: FollowFaults;
}

/** Whether a user may use the gateway, and whether the cluster lets us impersonate the user yet. */
export type FollowedState = 'granted' | 'soon' | 'stuck' | 'not-chosen';

/**
 * The state of a user with these groups. `soon`: the roles get the name within seconds. `stuck`: they do not, until an operator has
 * acted. Groups that are not chosen do not count here: the cluster refuses them, or they are left out.
 */
export function createFollowedAccess({ selection, chosen, roles, faults }: FollowedAccessParts) {
  return (name: string, groups: readonly string[]): FollowedState => {
    if (!chosen.has(name)) return 'not-chosen';
    const hasGroups = groups.every((group) => !selection.choosesGroup(group) || roles.has('groups', group));
    if (roles.has('users', name) && hasGroups) return 'granted';
    return faults.keepUsersWaiting ? 'stuck' : 'soon';
  };
}
