import type { ResourceKind } from '../kinds.ts';

/** A subresource as discovery lists it. Some are not served here: they are answered 501 or 404. */
export interface Subresource {
  readonly name: string;
  /** The kind of its objects, if not that of the resource. */
  readonly kind: string;
  /** The group and version of that kind, if it is not in the group version of the resource. */
  readonly group?: string;
  readonly version?: string;
  readonly verbs: readonly string[];
}

const READ_WRITE = ['get', 'patch', 'update'];
const PROXY = ['create', 'delete', 'get', 'patch', 'update'];
const STREAM = ['create', 'get'];

const SCALE: Subresource = { name: 'scale', kind: 'Scale', group: 'autoscaling', version: 'v1', verbs: READ_WRITE };

const POD: readonly Subresource[] = [
  { name: 'attach', kind: 'PodAttachOptions', verbs: STREAM },
  { name: 'binding', kind: 'Binding', verbs: ['create'] },
  { name: 'ephemeralcontainers', kind: 'Pod', verbs: READ_WRITE },
  { name: 'eviction', kind: 'Eviction', group: 'policy', version: 'v1', verbs: ['create'] },
  { name: 'exec', kind: 'PodExecOptions', verbs: STREAM },
  { name: 'log', kind: 'Pod', verbs: ['get'] },
  { name: 'portforward', kind: 'PodPortForwardOptions', verbs: STREAM },
  { name: 'proxy', kind: 'PodProxyOptions', verbs: PROXY },
  { name: 'resize', kind: 'Pod', verbs: READ_WRITE },
];

/** Besides `status`, by the name of the kind. */
const MORE: Readonly<Record<string, readonly Subresource[]>> = {
  namespaces: [{ name: 'finalize', kind: 'Namespace', verbs: ['update'] }],
  nodes: [{ name: 'proxy', kind: 'NodeProxyOptions', verbs: PROXY }],
  pods: POD,
  replicationcontrollers: [SCALE],
  serviceaccounts: [
    { name: 'token', kind: 'TokenRequest', group: 'authentication.k8s.io', version: 'v1', verbs: ['create'] },
  ],
  services: [{ name: 'proxy', kind: 'ServiceProxyOptions', verbs: PROXY }],
  deployments: [SCALE],
  replicasets: [SCALE],
  statefulsets: [SCALE],
};

/** By name, as a real server lists them. */
export function subresourcesOf(kind: ResourceKind): readonly Subresource[] {
  const more = MORE[kind.name] ?? [];
  return kind.hasStatus ? [...more, { name: 'status', kind: kind.kind, verbs: READ_WRITE }] : more;
}
