import { hash } from 'node:crypto';
import { type BindingOwn, GROUP_SUBJECT, USER_SUBJECT } from '../kinds/words/binding-words.ts';
import type { Entry } from '../resources/entries/entry.ts';
import type { Within } from '../resources/query/within.ts';
import type { TenantNames } from './tenant-names.ts';

/** Whose memberships are asked for. */
interface Member {
  readonly name: string;
  readonly groups: readonly string[];
}

/** The bindings of a kind in memory. `version` changes with them. */
interface BindingSource {
  readonly version: number;
  entries(): readonly Entry[];
}

/** Finds the bindings that name a member or a group of the member's. */
export type BindingsOf = (bindings: BindingSource, member: Member) => readonly Entry[];

interface Indexed {
  readonly version: number;
  readonly bySubject: ReadonlyMap<string, readonly Entry[]>;
}

/**
 * Reads the bindings once for each of their versions, so that a page costs those of one member and not all 5,000. The groups of Kubernetes
 * itself (`system:authenticated`) count for nothing: what everybody has makes nobody a member.
 */
export function createBindingsOf(): BindingsOf {
  const known = new WeakMap<BindingSource, Indexed>();
  const indexed = (bindings: BindingSource): Indexed => {
    const before = known.get(bindings);
    if (before?.version === bindings.version) return before;
    const made = { version: bindings.version, bySubject: bySubject(bindings.entries()) };
    known.set(bindings, made);
    return made;
  };
  return (bindings, { name, groups }) => {
    const index = indexed(bindings).bySubject;
    const own = groups.filter((group) => !group.startsWith('system:'));
    const subjects = [USER_SUBJECT + name, ...own.map((group) => GROUP_SUBJECT + group)];
    return [...new Set(subjects.flatMap((subject) => index.get(subject) ?? []))];
  };
}

function bySubject(entries: readonly Entry[]): Map<string, Entry[]> {
  const index = new Map<string, Entry[]>();
  for (const entry of entries) {
    for (const subject of (entry.own as BindingOwn).subjects) {
      const others = index.get(subject);
      if (others) others.push(entry);
      else index.set(subject, [entry]);
    }
  }
  return index;
}

/** The workspaces that these bindings are about, as the part of a list that their member may see. */
export function workspacesOf(
  bindings: readonly Entry[],
  { workspaceLabel }: TenantNames,
  also: readonly string[] = [],
): Within {
  const labelled = bindings.flatMap(({ labels }) => labels?.[workspaceLabel] ?? []);
  const names = new Set([...labelled, ...also]);
  const id = hash('sha256', [...names].sort().join('\n'), 'hex').slice(0, 16);
  return { id, names };
}

/** The roles that these bindings give, as `Kind/name`, each once. */
export const rolesIn = (bindings: readonly Entry[]): readonly string[] => [
  ...new Set(bindings.map(({ own }) => (own as BindingOwn).role).filter((role) => role !== '')),
];
