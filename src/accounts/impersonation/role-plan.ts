import { type ImpersonatedNames, type ImpersonationRole, MOST_NAMES, NAMED, type Named } from './impersonation-role.ts';

/** The users and groups that the roles should name. */
export type WantedNames = Readonly<Record<Named, ReadonlySet<string>>>;

/** One name that a role lacks, or has and should not have. */
export interface Difference {
  readonly named: Named;
  readonly name: string;
  readonly isMissing: boolean;
}

/** A role to write, with all names that it then has. */
export interface PlannedWrite {
  readonly role: ImpersonationRole;
  readonly names: ImpersonatedNames;
  /** What the write adds. A write that adds nothing only takes rights away. */
  readonly added: ImpersonatedNames;
}

export interface RolePlan {
  readonly writes: readonly PlannedWrite[];
  /** The missing names that no role has room for. */
  readonly withoutRoom: readonly Difference[];
}

/** Finds the names that differ. A name that two roles have counts as present. */
export function differencesOf(roles: readonly ImpersonationRole[], wanted: WantedNames): readonly Difference[] {
  return NAMED.flatMap((named) => {
    const present = new Set(roles.flatMap((role) => role[named]));
    const surplus = [...present].filter((name) => !wanted[named].has(name));
    const missing = [...wanted[named]].filter((name) => !present.has(name)).sort();
    return [
      ...surplus.map((name) => ({ named, name, isMissing: false })),
      ...missing.map((name) => ({ named, name, isMissing: true })),
    ];
  });
}

/**
 * Plans the writes that settle these differences; other names stay as they are. A name stays in its role, so that a new user changes
 * one role only. A name that an earlier role has too is removed, and so is what a role has besides names.
 */
export function planRoles(roles: readonly ImpersonationRole[], differences: readonly Difference[]): RolePlan {
  const drafts = roles.map((role) => ({ role, users: new Set<string>(), groups: new Set<string>() }));
  const added = roles.map(() => ({ users: [] as string[], groups: [] as string[] }));
  const withoutRoom: Difference[] = [];
  for (const named of NAMED) {
    const ofKind = differences.filter((difference) => difference.named === named);
    const surplus = new Set(ofKind.filter(({ isMissing }) => !isMissing).map(({ name }) => name));
    const seen = new Set<string>();
    for (const draft of drafts)
      for (const name of draft.role[named]) {
        if (surplus.has(name) || seen.has(name)) continue;
        seen.add(name);
        draft[named].add(name);
      }
    for (const difference of ofKind) {
      const { name, isMissing } = difference;
      if (!isMissing) continue;
      const at = drafts.findIndex((draft) => draft[named].size < MOST_NAMES);
      drafts[at]?.[named].add(name);
      if (at === -1) withoutRoom.push(difference);
      else added[at]?.[named].push(name);
    }
  }
  const writes = drafts.flatMap(({ role, users, groups }, at) => {
    const names = { users: [...users].sort(), groups: [...groups].sort() };
    const isSame = role.isOurs && isEqual(names.users, role.users) && isEqual(names.groups, role.groups);
    return isSame ? [] : [{ role, names, added: added[at] as ImpersonatedNames }];
  });
  return { writes, withoutRoom };
}

const isEqual = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((name, at) => name === b[at]);
