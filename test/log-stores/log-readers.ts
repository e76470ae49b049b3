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

/** The workspaces of namespaces; the others belong to none. */
export const WORKSPACES: Readonly<Record<string, string>> = {
  shop: 'retail',
  'shop-staging': 'retail',
  billing: 'finance',
};

const RBAC = 'rbac.authorization.k8s.io';
const API = { apiVersion: `${RBAC}/v1` };

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

/** Rights that readers have. */
export interface ReaderRules {
  /** In the whole cluster. */
  readonly asks: Rule;
  /** In each of their namespaces. */
  readonly reads: Rule;
}

const logRules = (platform: string): ReaderRules => ({
  asks: { apiGroups: [`tenant.${platform}.io`], resources: ['logs'], verbs: ['list'] },
  reads: { apiGroups: [''], resources: ['pods/log'], verbs: ['get'] },
});

/** Gives a user one of the two rights. */
export const readerBinding = (user: string, name: 'asks' | 'reads', namespace?: string): NewObject => ({
  ...API,
  kind: namespace ? 'RoleBinding' : 'ClusterRoleBinding',
  metadata: { name: `${name}-${user}`, ...(namespace && { namespace }) },
  roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name },
  subjects: [{ apiGroup: RBAC, kind: 'User', name: user }],
});

/** Those namespaces, and the rights of the readers. Default: those to logs. */
export function readersCluster(platform: string, { asks, reads } = logRules(platform)): readonly NewObject[] {
  const role = (name: string, rule: Rule): object => ({
    ...API,
    kind: 'ClusterRole',
    metadata: { name },
    rules: [rule],
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
      metadata: {
        name,
        creationTimestamp,
        labels: WORKSPACES[name] ? { [`${platform}.io/workspace`]: WORKSPACES[name] } : {},
      },
    })),
    role('asks', asks),
    role('reads', reads),
    ...readers.map(([name]) => readerBinding(name, 'asks')),
    ...readers.flatMap(([name, rights]) => rights.map((namespace) => readerBinding(name, 'reads', namespace))),
  ] as readonly NewObject[];
}
