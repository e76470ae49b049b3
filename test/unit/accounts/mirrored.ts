import { KeptBindings } from '../../../src/accounts/roles/kept-bindings.ts';
import { createMirroredRoles } from '../../../src/accounts/roles/mirrored-roles.ts';
import { createRoleKind, isAssignable } from '../../../src/accounts/roles/role-kind.ts';
import { createUserRecords } from '../../../src/accounts/users/mirrored-users.ts';
import { userOwnOf } from '../../../src/accounts/users/user-entry.ts';
import { createUserKind } from '../../../src/accounts/users/user-kind.ts';
import type { KubernetesObject } from '../../../src/kubernetes/object.ts';
import { createLister } from '../../../src/resources/cache.ts';
import { AllObjects } from '../../../src/resources/entries/all-objects.ts';
import type { Entry } from '../../../src/resources/entries/entry.ts';
import { ResourceStore } from '../../../src/resources/entries/store.ts';
import { createListQueryParser } from '../../../src/resources/query/list-query.ts';
import { TimeSlices } from '../../../src/runtime/time-slices.ts';
import { NAMES } from '../../support/accounts/memory-user-records.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { synced, textOf } from '../resources/node-objects.ts';

interface Made {
  readonly version?: string;
  readonly at?: string;
  readonly metadata?: object;
  readonly [member: string]: unknown;
}

/** A User object as the cluster sends it. */
export const userObject = (name: string, { version = '1', at, metadata, ...rest }: Made = {}): KubernetesObject => ({
  metadata: {
    name,
    uid: `uid-${name}`,
    resourceVersion: version,
    creationTimestamp: at ?? '2026-03-02T08:15:30Z',
    ...metadata,
  },
  spec: { email: `${name}@example.com` },
  status: { state: 'Active' },
  ...rest,
});

export const roleObject = (name: string, { version = '1', metadata, ...rest }: Made = {}): KubernetesObject => ({
  metadata: {
    name,
    uid: `uid-${name}`,
    resourceVersion: version,
    labels: { [NAMES.assignable]: 'true' },
    ...metadata,
  },
  rules: [],
  ...rest,
});

/** The binding that makes the platform role of a user. */
export const bindingObject = (user: string, role: string): KubernetesObject => ({
  metadata: {
    name: `${user}-${role}`,
    uid: `uid-${user}-${role}`,
    resourceVersion: '1',
    labels: { [NAMES.userRef]: user },
  },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
  subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: user }],
});

/** Users, roles and bindings in memory, without a cluster. */
export function mirrored(slices = new TimeSlices(new FakeClock())) {
  const clock = new FakeClock();
  const bindings = new KeptBindings(NAMES);
  const userStore = new ResourceStore(createUserKind(NAMES, bindings), slices);
  const users = new AllObjects(userStore, (user) => !userOwnOf(user).record.isIncomplete);
  const roleStore = new ResourceStore(createRoleKind(NAMES), slices);
  const roles = new AllObjects(roleStore, (role) => isAssignable(role, NAMES));
  const listOf = (store: ResourceStore) => {
    const freshness = { [store.kind.resource]: synced };
    const lister = createLister({ store, freshness, maxStalenessMs: 1_000, clock, epoch: 'e1', exposeBytes: () => {} });
    const parse = createListQueryParser(store.kind);
    const list = (query = '') => JSON.parse(textOf(lister.list(parse(query)).body('identity').pieces));
    return {
      store,
      list,
      names: (query = ''): string[] =>
        list(query).items.map(({ metadata }: { metadata: { name: string } }) => metadata.name),
      text: (name: string): string | undefined => {
        const representation = lister.get(name);
        return representation && textOf(representation.body('identity').pieces);
      },
      tag: (name: string) => lister.get(name)?.etag('identity'),
    };
  };
  return {
    bindings,
    users,
    roles,
    records: createUserRecords(users, synced),
    platformRoles: createMirroredRoles(NAMES, roles, bindings),
    userList: listOf(userStore),
    roleList: listOf(roleStore),
    putUser: (user: KubernetesObject): void => users.put(users.toEntry(user)),
    putRole: (role: KubernetesObject): void => roles.put(roles.toEntry(role)),
    bind: (binding: KubernetesObject): void => bindings.put(bindings.toEntry(binding)),
    entriesOf: (objects: readonly KubernetesObject[]): Entry[] => objects.map((object) => users.toEntry(object)),
  };
}
