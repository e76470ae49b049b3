import { isDeepStrictEqual } from 'node:util';
import { asArray, asObject } from '../../runtime/text/json-value.ts';

/**
 * The most users, and the most groups, of one ClusterRole. 1,000 names of 253 bytes are a quarter of a megabyte; etcd accepts
 * 1.5 MiB, and each change writes the whole role.
 */
export const MOST_NAMES = 1_000;

/** What a role names, sorted. */
export interface ImpersonatedNames {
  readonly users: readonly string[];
  readonly groups: readonly string[];
}

export const NAMED = ['users', 'groups'] as const;
export type Named = (typeof NAMED)[number];

/** A ClusterRole that names users and groups that we may impersonate, as it is stored now. */
export interface ImpersonationRole extends ImpersonatedNames {
  readonly name: string;
  readonly resourceVersion: string;
  /** Whether its rules are exactly those that we write for these names. */
  readonly isOurs: boolean;
}

/** How the cluster checks impersonation: by one verb, or by those of constrained impersonation (Kubernetes 1.36). */
export interface ImpersonationForm {
  readonly apiGroup: '' | 'authentication.k8s.io';
  readonly verb: 'impersonate' | 'impersonate:user-info';
}

export const formOf = (isConstrained: boolean): ImpersonationForm =>
  isConstrained
    ? { apiGroup: 'authentication.k8s.io', verb: 'impersonate:user-info' }
    : { apiGroup: '', verb: 'impersonate' };

/** The rules of a role with these names. A rule without names would allow every name, so there is none then. */
export function toRules(names: ImpersonatedNames, { apiGroup, verb }: ImpersonationForm): readonly object[] {
  return NAMED.filter((named) => names[named].length > 0).map((named) => ({
    apiGroups: [apiGroup],
    resources: [named],
    resourceNames: [...names[named]].sort(),
    verbs: [verb],
  }));
}

/** Reads the names of a role from its rules: the names of every rule about users or about groups. */
export function namesIn(rules: unknown, form: ImpersonationForm): ImpersonatedNames & { readonly isOurs: boolean } {
  const all = asArray(rules).map(asObject);
  const namesOf = (named: Named): string[] => {
    const names = all
      .filter(({ resources }) => asArray(resources).includes(named))
      .flatMap(({ resourceNames }) => asArray(resourceNames));
    return [...new Set(names.filter((name) => typeof name === 'string'))].sort();
  };
  const names = { users: namesOf('users'), groups: namesOf('groups') };
  return { ...names, isOurs: isDeepStrictEqual(toRules(names, form), all) };
}
