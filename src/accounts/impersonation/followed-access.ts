import type { ChosenUsers } from './chosen-users.ts';
import type { FollowFaults } from './follow-faults.ts';
import type { MirroredImpersonation } from './mirrored-impersonation.ts';

export interface FollowedAccessParts {
  readonly chosen: ChosenUsers;
  readonly roles: MirroredImpersonation;
  readonly faults: FollowFaults;
  /** Whether sign-ins with this name use the User object. */
  isCounted(user: string): boolean;
}

/** Whether a user may use the gateway, and whether the cluster lets us impersonate the user yet. */
export type FollowedState = 'granted' | 'soon' | 'stuck' | 'not-chosen';

/**
 * The state of a user with these groups. `soon`: the roles get the name within seconds. `stuck`: they do not, until an operator has
 * acted. Groups that are not chosen do not count here: the cluster refuses them, or they are left out.
 */
export function createFollowedAccess({ chosen, roles, faults, isCounted }: FollowedAccessParts) {
  return (name: string, groups: readonly string[]): FollowedState => {
    // A users file that has just come to name this user is noticed here at once.
    if (!chosen.has(name) || !isCounted(name)) return 'not-chosen';
    const wanted = chosen.wanted().groups;
    const hasGroups = groups.every((group) => !wanted.has(group) || roles.has('groups', group));
    if (roles.has('users', name) && hasGroups) return 'granted';
    return faults.keepsWaiting(name) ? 'stuck' : 'soon';
  };
}
