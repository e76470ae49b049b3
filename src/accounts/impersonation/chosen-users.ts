import type { UserRecord } from '../users/user-record.ts';
import type { AccountSelection } from './account-selection.ts';
import type { WantedNames } from './role-plan.ts';

export interface ChosenUsersParts {
  readonly selection: AccountSelection;
  /** The platform role of a user. */
  roleOf(user: string): string | undefined;
  /** Whether sign-ins with this name use the User object. If another source has a user of that name, the object counts for nothing. */
  isCounted(user: string): boolean;
}

/** The chosen users, kept up to date user by user, so that one change does not cost a pass over all of them. */
export class ChosenUsers {
  readonly #parts: ChosenUsersParts;
  /** The chosen groups of each chosen user. */
  readonly #groups = new Map<string, readonly string[]>();
  readonly #unusable = new Set<string>();
  /** How many chosen users have each group. */
  readonly #members = new Map<string, number>();
  #wanted: WantedNames | undefined;

  constructor(parts: ChosenUsersParts) {
    this.#parts = parts;
  }

  /** `user` is absent when there is no such object. */
  update(name: string, user: UserRecord | undefined): void {
    const { selection, roleOf, isCounted } = this.#parts;
    this.#wanted = undefined;
    const choice = user && isCounted(name) ? selection.chooses(user, roleOf(name)) : 'not';
    this.#count(this.#groups.get(name) ?? [], -1);
    this.#groups.delete(name);
    this.#unusable.delete(name);
    if (choice === 'unusable') this.#unusable.add(name);
    if (choice !== 'chosen' || !user) return;
    const groups = [...new Set(user.groups)].filter((group) => selection.choosesGroup(group));
    this.#groups.set(name, groups);
    this.#count(groups, 1);
  }

  has(name: string): boolean {
    return this.#groups.has(name);
  }

  get size(): number {
    return this.#groups.size;
  }

  /** How many users are not chosen only because we can never impersonate a user of that name. */
  get unusable(): number {
    return this.#unusable.size;
  }

  /** The names that the roles should have. It is the same object until a user is updated. */
  wanted(): WantedNames {
    this.#wanted ??= { users: new Set(this.#groups.keys()), groups: new Set(this.#members.keys()) };
    return this.#wanted;
  }

  #count(groups: readonly string[], by: 1 | -1): void {
    for (const group of groups) {
      const members = (this.#members.get(group) ?? 0) + by;
      if (members > 0) this.#members.set(group, members);
      else this.#members.delete(group);
    }
  }
}
