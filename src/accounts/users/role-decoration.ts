import type { Entry } from '../../resources/entries/entry.ts';
import type { DecoratedStore, Decoration } from '../../resources/entries/kind.ts';
import { Redecorating } from '../../resources/entries/redecorating.ts';
import type { AccountNames } from '../names.ts';
import { withRole } from './user-entry.ts';

/** Knows which platform role each user has, and whose role has changed. */
export interface RolesOfUsers {
  roleOf(user: string): string | undefined;
  /** Calls `changed` with the name of each user whose role may have changed, after `roleOf` shows the change. */
  onChange(changed: (user: string) => void): void;
}

/** Adds the platform role of each user to the annotations that answers show. Nothing is written to the cluster. */
export function createRoleDecoration(names: AccountNames, roles: RolesOfUsers, store: DecoratedStore): Decoration {
  let changed = new Set<string>();
  roles.onChange((user) => changed.add(user));
  const additions = {
    get changedCount() {
      return changed.size;
    },
    decorate: (user: Entry) => withRole(user, names.globalRole, roles.roleOf(user.key)),
    take() {
      const taken = changed;
      if (taken.size > 0) changed = new Set();
      return { names: taken };
    },
    giveBack(taken: { readonly names: ReadonlySet<string> }) {
      for (const user of taken.names) changed.add(user);
    },
  };
  return new Redecorating(additions, store);
}
