import type { NewObject } from '../../../dev/cluster/kube-object.ts';
import { gatewayRole, ownRights } from '../accounts/deployed-rights.ts';
import { accountFixture } from './account-people.ts';
import { ADMINS_BINDING, ADMINS_ROLE } from './people.ts';

/** The RBAC objects for the cases: administrators, and our own account, which may impersonate every user of the fixture. */
export function gatewayRights(platform: string): readonly NewObject[] {
  const { users } = accountFixture(platform);
  const groups = new Set(['system:authenticated', 'admins', ...users.flatMap((user) => user.groups ?? [])]);
  const names = { users: users.map(({ name }) => name), groups: [...groups] };
  return [ADMINS_ROLE, ADMINS_BINDING, ...ownRights(platform), ...gatewayRole(platform, names)];
}
