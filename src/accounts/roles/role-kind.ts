import type { ObjectCollection } from '../../kubernetes/objects/cluster-objects.ts';
import type { Entry } from '../../resources/entries/entry.ts';
import type { Kind } from '../../resources/entries/kind.ts';
import { COMMON_SORT_WORDS } from '../../resources/query/list-query.ts';
import { asArray } from '../../runtime/text/json-value.ts';
import type { AccountNames } from '../names.ts';
import { shownMetadata } from '../shown-object.ts';

export const CLUSTER_ROLES: ObjectCollection = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  resource: 'clusterroles',
  kind: 'ClusterRole',
};

/** Describes platform roles to the list engine: ClusterRoles that answers show as GlobalRoles. */
export const createRoleKind = ({ platform, group, version }: AccountNames): Kind => ({
  ...CLUSTER_ROLES,
  platform,
  singularName: 'globalrole',
  shortNames: [],
  namespaced: false,
  sortWords: COMMON_SORT_WORDS,
  filters: new Map(),
  statusOf: () => '',
  answered: {
    group,
    version,
    resource: 'globalroles',
    kind: 'GlobalRole',
    // The rules of an aggregated role are null before its controller has run.
    show: (role) => ({ metadata: shownMetadata(role), rules: asArray(role['rules']) }),
  },
});

/** Whether the role may be given to users. */
export const isAssignable = ({ labels }: Entry, { assignable }: AccountNames): boolean =>
  labels?.[assignable] === 'true';

/** The names of the roles that an aggregated role consists of; `undefined` when the annotation is missing or unreadable. */
export function aggregatedRoles({ annotations }: Entry, { aggregationRoles }: AccountNames) {
  const text = annotations?.[aggregationRoles];
  if (text === undefined) return undefined;
  const names = parsed(text);
  return Array.isArray(names) ? names.filter((name): name is string => typeof name === 'string') : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
