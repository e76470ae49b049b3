import type { Chance } from '../oracles/chance.ts';
import type { Json } from './steps.ts';

/** A kind that Gatehouse or its demo uses, and the content of its objects. */
export interface SequenceKind {
  readonly plural: string;
  readonly kind: string;
  readonly apiVersion: string;
  readonly namespaced: boolean;
  readonly hasStatus: boolean;
  /** The members of a new object besides its metadata, always valid. */
  content(chance: Chance, id: string): Json;
  /** A merge patch of an object. */
  change(chance: Chance, id: string): Json;
  /** A merge patch of the status of an object. */
  status?(chance: Chance): Json;
  /** Field selectors besides those of every kind. */
  readonly fields?: readonly string[];
}

const RBAC = 'rbac.authorization.k8s.io';
const base64 = (text: string): string => Buffer.from(text).toString('base64');

const RULES: readonly Json[] = [
  { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'list'] },
  { apiGroups: [''], resources: ['configmaps'], verbs: ['get'], resourceNames: ['a'] },
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['*'] },
];

const roleRef = (id: string): Json => ({ apiGroup: RBAC, kind: 'ClusterRole', name: `${id}-a` });
const subjects = (chance: Chance, id: string): Json => [
  { apiGroup: RBAC, kind: chance.oneOf(['User', 'Group']), name: `${id}-${chance.oneOf(['x', 'y'])}` },
];
const rules = ({ below }: Chance): Json => ({ rules: RULES.slice(below(RULES.length)) });

const kindOf = (
  name: string,
  parts: Pick<SequenceKind, 'content' | 'change'> & Partial<SequenceKind>,
): SequenceKind => {
  const [plural = '', kind = '', apiVersion = 'v1'] = name.split(' ');
  return { plural, kind, apiVersion, namespaced: true, hasStatus: false, ...parts };
};

const AT = { lastHeartbeatTime: '2026-11-26T10:00:00Z', lastTransitionTime: '2026-11-26T09:00:00Z' };
const TAINT = { key: 'example.test/a', effect: 'NoSchedule' };
const CONTAINERS = [{ name: 'main', image: 'example.test/image', resources: { requests: { cpu: '100m' } } }];

/** The kinds of sequences, namespaced and cluster-scoped ones. */
export const KINDS: readonly SequenceKind[] = [
  kindOf('secrets Secret', {
    content: ({ oneOf, happens }) => ({
      ...(happens(0.7) && { data: { a: base64(oneOf(['1', '2'])) } }),
      ...(happens(0.3) && { stringData: { b: oneOf(['x', 'y']) } }),
      ...(happens(0.2) && { type: oneOf(['Opaque', 'example.test/kind']) }),
    }),
    change: ({ oneOf }) =>
      oneOf([{ data: { a: base64('3') } }, { data: { a: null } }, { stringData: { c: 'z' } }, { type: 'other' }]),
    fields: ['type'],
  }),
  kindOf('configmaps ConfigMap', {
    content: ({ oneOf, happens }) => (happens(0.2) ? {} : { data: { a: oneOf(['1', '2']), b: '' } }),
    change: ({ oneOf }) => oneOf([{ data: { a: '3' } }, { data: { a: null } }, { data: null }]),
  }),
  kindOf('leases Lease coordination.k8s.io/v1', {
    content: ({ oneOf }) => ({ spec: { holderIdentity: oneOf(['one', 'two']), leaseDurationSeconds: 15 } }),
    change: ({ oneOf }) => oneOf([{ spec: { holderIdentity: 'three' } }, { spec: { leaseTransitions: 1 } }]),
  }),
  kindOf('serviceaccounts ServiceAccount', {
    content: () => ({}),
    change: () => ({ metadata: { labels: { c: '1' } } }),
  }),
  kindOf('pods Pod', {
    hasStatus: true,
    content: ({ oneOf, happens }) => ({
      spec: { containers: CONTAINERS, ...(happens(0.6) && { nodeName: oneOf(['node-1', 'node-2']) }) },
    }),
    change: ({ oneOf }) => oneOf([{ metadata: { labels: { c: '1' } } }, { metadata: { annotations: { c: '1' } } }]),
    status: ({ oneOf }) => ({ phase: oneOf(['Running', 'Succeeded', 'Failed']) }),
    fields: ['spec.nodeName', 'status.phase'],
  }),
  kindOf(`roles Role ${RBAC}/v1`, { content: rules, change: rules }),
  kindOf(`rolebindings RoleBinding ${RBAC}/v1`, {
    content: (chance, id) => ({ roleRef: roleRef(id), subjects: subjects(chance, id) }),
    change: (chance, id) => ({ roleRef: roleRef(id), subjects: subjects(chance, id) }),
  }),
  kindOf('nodes Node', {
    namespaced: false,
    hasStatus: true,
    content: ({ happens }) => ({ spec: happens(0.3) ? { unschedulable: true, taints: [TAINT] } : {} }),
    change: ({ oneOf }) => oneOf([{ spec: { unschedulable: true } }, { spec: { unschedulable: null } }]),
    status: ({ oneOf }) => ({ conditions: [{ type: 'Ready', status: oneOf(['True', 'False']), ...AT }] }),
    fields: ['spec.unschedulable'],
  }),
  kindOf('namespaces Namespace', {
    namespaced: false,
    hasStatus: true,
    content: () => ({}),
    change: ({ oneOf }) => oneOf([{ metadata: { labels: { c: '1' } } }, { metadata: { annotations: { c: null } } }]),
    fields: ['status.phase'],
  }),
  kindOf(`clusterroles ClusterRole ${RBAC}/v1`, { namespaced: false, content: rules, change: rules }),
  kindOf(`clusterrolebindings ClusterRoleBinding ${RBAC}/v1`, {
    namespaced: false,
    content: (chance, id) => ({ roleRef: roleRef(id), subjects: subjects(chance, id) }),
    change: (chance, id) => ({ roleRef: roleRef(id), subjects: subjects(chance, id) }),
  }),
  kindOf('users User iam.gatehouse.io/v1alpha2', {
    namespaced: false,
    hasStatus: true,
    content: ({ oneOf }) => ({ spec: { email: oneOf(['', 'a@example.test']), lang: oneOf(['en', 'de']) } }),
    change: ({ oneOf }) => oneOf([{ spec: { lang: 'fr' } }, { spec: { displayName: 'Äh' } }, { spec: { lang: null } }]),
    status: ({ oneOf }) => ({ state: oneOf(['Active', 'Disabled']) }),
  }),
  kindOf('loginrecords LoginRecord iam.gatehouse.io/v1alpha2', {
    namespaced: false,
    content: ({ happens }) => ({ spec: { type: 'Token', success: happens(0.5), sourceIP: '192.0.2.1' } }),
    change: ({ oneOf }) => ({ metadata: { labels: { c: oneOf(['1', '2']) } } }), // its definition allows no other change
  }),
];

/** The path of a kind's collection; `namespace` is that of the sequence. */
export const collectionOf = ({ plural, apiVersion, namespaced }: SequenceKind, namespace: string): string => {
  const root = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`;
  return namespaced ? `${root}/namespaces/${namespace}/${plural}` : `${root}/${plural}`;
};

export const groupOf = ({ apiVersion }: SequenceKind): string =>
  apiVersion === 'v1' ? '' : (apiVersion.split('/')[0] ?? '');
