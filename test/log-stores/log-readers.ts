import type { NewObject } from '../../dev/cluster/kube-object.ts';
import { ADMINS_BINDING, ADMINS_ROLE, type Person } from '../support/observed/people.ts';
import type { Rights } from './log-oracle.ts';

/** When each namespace was made: among its records for most. The cluster makes `kube-system` itself, after all records but those of 2036. */
const CREATED: Readonly<Record<string, string>> = {
  shop: '2026-03-07T12:00:00Z', // the second of a record
  'shop-staging': '2025-12-31T23:59:59Z',
  billing: '2026-03-06T18:30:15Z',
  'team-a': '2026-03-08T00:00:00Z',
};

/** Who may read logs, and of which namespaces. */
export const READERS: Readonly<Record<string, Rights>> = {
  admin: 'everything',
  una: ['shop'],
  dora: ['shop', 'team-a'],
  alva: [...Object.keys(CREATED), 'kube-system'],
  olga: [],
};

export const READER_PEOPLE: readonly Person[] = ['una', 'dora', 'alva'].map((name) => ({
  name,
  password: `${name}-Passw0rd`,
  groups: [],
  state: 'Active',
}));

/** The namespaces that exist, with their beginning in milliseconds since 1970. */
export const readersNamespaces = (): Record<string, number> => ({
  ...Object.fromEntries(Object.entries(CREATED).map(([name, time]) => [name, Date.parse(time)])),
  'kube-system': Date.now(),
});

const RBAC = 'rbac.authorization.k8s.io';
const API = { apiVersion: `${RBAC}/v1` };

/** Those namespaces, and the rights of the readers. */
export function readersCluster(platform: string): readonly NewObject[] {
  const role = (name: string, rule: object): object => ({
    ...API,
    kind: 'ClusterRole',
    metadata: { name },
    rules: [rule],
  });
  const binding = (user: string, name: string, namespace?: string): object => ({
    ...API,
    kind: namespace ? 'RoleBinding' : 'ClusterRoleBinding',
    metadata: { name: `${name}-${user}`, ...(namespace && { namespace }) },
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name },
    subjects: [{ apiGroup: RBAC, kind: 'User', name: user }],
  });
  const readers = Object.entries(READERS).filter(([, rights]) => rights !== 'everything') as [
    string,
    readonly string[],
  ][];
  return [
    ADMINS_ROLE,
    ADMINS_BINDING,
    ...Object.entries(CREATED).map(([name, creationTimestamp]) => ({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name, creationTimestamp },
    })),
    role('log-query', { apiGroups: [`tenant.${platform}.io`], resources: ['logs'], verbs: ['list'] }),
    role('pod-logs', { apiGroups: [''], resources: ['pods/log'], verbs: ['get'] }),
    ...readers.map(([name]) => binding(name, 'log-query')),
    ...readers.flatMap(([name, rights]) => rights.map((namespace) => binding(name, 'pod-logs', namespace))),
  ] as readonly NewObject[];
}
