import type { Entry } from '../../resources/entries/entry.ts';
import type { Aside, DecoratedStore, Decoration } from '../../resources/entries/kind.ts';
import type { Steps } from '../../runtime/time-slices.ts';
import type { AccountNames } from '../names.ts';
import { withRole } from './user-entry.ts';

/** Knows which platform role each user has, and whose role has changed. */
export interface RolesOfUsers {
  roleOf(user: string): string | undefined;
  /** Calls `changed` with the name of each user whose role may have changed, when `roleOf` answers with the change. */
  onChange(changed: (user: string) => void): void;
}

/** More than these users are brought up to date in a copy, in slices of time. 300 take some 3 ms. */
const MOST_AT_ONCE = 300;

interface Recount {
  readonly users: ReadonlySet<string>;
  readonly aside: Aside;
}

/** Writes the platform role of users into their annotations. */
export class RoleDecoration implements Decoration {
  readonly #key: string;
  readonly #roles: RolesOfUsers;
  readonly #store: DecoratedStore;
  #changed = new Set<string>();
  #recount: Recount | undefined;

  constructor(names: AccountNames, roles: RolesOfUsers, store: DecoratedStore) {
    this.#key = names.globalRole;
    this.#roles = roles;
    this.#store = store;
    roles.onChange((user) => this.#changed.add(user));
  }

  get isCurrent(): boolean {
    return !this.#recount && this.#changed.size <= MOST_AT_ONCE;
  }

  decorate(user: Entry): Entry {
    return withRole(user, this.#key, this.#roles.roleOf(user.key));
  }

  refresh(): void {
    if (this.#recount || this.#changed.size === 0) return;
    const users = this.#changed;
    this.#changed = new Set();
    if (users.size > MOST_AT_ONCE) {
      this.#recount = { users, aside: this.#store.aside() };
      this.#store.run(this.#writeAside(this.#recount));
    } else for (const user of users) this.#write(user, this.#store);
  }

  giveUp(): void {
    if (!this.#recount) return;
    for (const user of this.#recount.users) this.#changed.add(user);
    this.#recount.aside.drop();
    this.#recount = undefined;
  }

  *#writeAside(recount: Recount): Steps<void> {
    for (const user of recount.users) {
      this.#write(user, recount.aside);
      yield;
      if (this.#recount !== recount) return;
    }
    this.#recount = undefined;
    recount.aside.show();
  }

  #write(user: string, content: Pick<Aside, 'get' | 'redecorate'>): void {
    const entry = content.get(user);
    const decorated = entry && this.decorate(entry);
    if (decorated && decorated !== entry) content.redecorate(decorated);
  }
}
