import type { KubernetesObject } from '../../kubernetes/object.ts';
import type { Decoration, Kind } from '../../resources/entries/kind.ts';
import { type FilterReader, notOffered } from '../../resources/query/filter.ts';
import { COMMON_SORT_WORDS } from '../../resources/query/list-query.ts';
import { isObject } from '../../runtime/text/json-value.ts';
import type { AccountNames } from '../names.ts';
import { shownMetadata, without } from '../shown-object.ts';
import { createRoleDecoration, type RolesOfUsers } from './role-decoration.ts';
import { type UserOwn, userOwnOf } from './user-entry.ts';
import { toUserRecord } from './user-record.ts';

/** The filters that only users have. */
const FILTERS = new Map<string, FilterReader>([
  ['email', (text) => (user) => userOwnOf(user).record.email === text],
  ['ingroup', (text) => (user) => userOwnOf(user).record.groups.includes(text)],
  ['notingroup', (text) => (user) => !userOwnOf(user).record.groups.includes(text)],
  ['globalrole', (text) => (user) => userOwnOf(user).role === text],
  // KubeSphere 3.4 selects the members of a cluster, workspace or namespace with these.
  ...['cluster', 'clusterrole', 'workspace', 'workspacerole', 'namespace', 'role'].map(
    (name): [string, FilterReader] => [name, notOffered],
  ),
]);

/** Describes users to the list engine. Without `roles` the answers show no platform role. */
export function createUserKind(names: AccountNames, roles?: RolesOfUsers): Kind {
  const { platform, group, version } = names;
  const type = { group, version, resource: 'users', kind: 'User' };
  return {
    ...type,
    platform,
    singularName: 'user',
    shortNames: [],
    namespaced: false,
    sortWords: COMMON_SORT_WORDS,
    filters: FILTERS,
    statusOf: () => '',
    project: (user): UserOwn => ({ record: toUserRecord(user, names), role: undefined }),
    answered: { ...type, show: (user) => shownUser(user, names) },
    addedKeys: new Set([names.globalRole]),
    ...(roles && { decorate: (store): Decoration => createRoleDecoration(names, roles, store) }),
  };
}

/** Removes what no caller may see: the password, and the annotations that only Gatehouse reads. */
function shownUser(user: KubernetesObject, { globalRole, incomplete, passwordMoved }: AccountNames): KubernetesObject {
  const metadata = shownMetadata(user, [globalRole, incomplete, passwordMoved]);
  const { spec } = user;
  return { ...user, metadata, ...(isObject(spec) && { spec: without(spec, ['password']) }) };
}
