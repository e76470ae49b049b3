import type { AllObjects } from '../../resources/entries/all-objects.ts';
import type { Entry } from '../../resources/entries/entry.ts';
import { ORDERS } from '../../resources/entries/ordered-index.ts';
import type { AccountNames } from '../names.ts';
import type { KeptBindings } from './kept-bindings.ts';
import type { PlatformRoles } from './platform-roles.ts';
import { aggregatedRoles, isAssignable } from './role-kind.ts';

export interface MirroredRoles extends PlatformRoles {
  /**
   * The roles that the user's platform role aggregates, as a JSON array, the newest first. A role that aggregates none is listed
   * itself. Names of roles that do not exist are left out.
   */
  rolesOf(user: string): Uint8Array;
}

/** Platform roles from the mirrors of ClusterRoles and of the kept bindings. */
export function createMirroredRoles(names: AccountNames, roles: AllObjects, bindings: KeptBindings): MirroredRoles {
  const entriesOf = (user: string): readonly Entry[] => {
    const entry = roles.get(bindings.roleOf(user) ?? '');
    if (!entry) return [];
    const parts = aggregatedRoles(entry, names);
    if (!parts) return [entry];
    return [...new Set(parts)].map((name) => roles.get(name)).filter((part) => part !== undefined);
  };
  return {
    isAssignable(role) {
      const entry = roles.get(role);
      return entry !== undefined && isAssignable(entry, names);
    },
    bindingsOf: (user) => bindings.of(user),
    roleOf: (user) => bindings.roleOf(user),
    rolesOf: (user) => arrayOf(entriesOf(user).toSorted(ORDERS.creationTimestamp)),
  };
}

const COMMA = Buffer.from(',');

function arrayOf(entries: readonly Entry[]): Uint8Array {
  const items = entries.flatMap(({ encoded }, at) => (at === 0 ? [encoded.bytes()] : [COMMA, encoded.bytes()]));
  return Buffer.concat([Buffer.from('['), ...items, Buffer.from(']')]);
}
