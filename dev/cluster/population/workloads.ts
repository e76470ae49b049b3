/** The parts that all pods of one workload have in common. Every pod shares these objects. */
export interface Workload {
  readonly namespace: string;
  readonly name: string;
  readonly owner: 'DaemonSet' | 'ReplicaSet' | 'StatefulSet' | 'Job' | 'Node';
  /** Uses the node's own network: its pods have the node's address. */
  readonly hostNetwork: boolean;
  readonly containers: readonly object[];
}

interface Resources {
  readonly requests?: Readonly<Record<string, string>>;
  readonly limits?: Readonly<Record<string, string>>;
}

interface Traits {
  readonly owner?: Workload['owner'];
  readonly host?: true;
}

const amounts = (cpu: string, memory: string): Record<string, string> => ({ cpu, memory });

function workload(path: string, resources: readonly Resources[], { owner, host }: Traits = {}): Workload {
  const [namespace = '', name = ''] = path.split('/');
  const containers = resources.map((container, index) => ({
    name: index === 0 ? name : `sidecar-${index}`,
    image: `registry.example.test/${index === 0 ? path : 'mesh/sidecar'}:v1.4.2`,
    ports: [{ name: 'http', containerPort: 8080 + index, protocol: 'TCP' }],
    resources: container,
    volumeMounts: [
      { name: 'kube-api-access', readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' },
    ],
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: 'IfNotPresent',
  }));
  return { namespace, name, owner: owner ?? 'ReplicaSet', hostNetwork: host ?? false, containers };
}

const STATIC: Traits = { owner: 'Node', host: true };
const DAEMON: Traits = { owner: 'DaemonSet' };

/** Static pods of a control plane. */
export const CONTROL_PLANE_PODS: readonly Workload[] = [
  workload('kube-system/etcd', [{ requests: amounts('100m', '100Mi') }], STATIC),
  workload('kube-system/kube-apiserver', [{ requests: { cpu: '250m' } }], STATIC),
  workload('kube-system/kube-controller-manager', [{ requests: { cpu: '200m' } }], STATIC),
  workload('kube-system/kube-scheduler', [{ requests: { cpu: '100m' } }], STATIC),
];

/** One pod on every node. */
export const DAEMONS: readonly Workload[] = [
  workload('kube-system/kube-proxy', [{}], { ...DAEMON, host: true }),
  workload('kube-system/network-agent', [{ requests: amounts('100m', '50Mi'), limits: amounts('500m', '256Mi') }], {
    ...DAEMON,
    host: true,
  }),
  workload(
    'monitoring/node-exporter',
    [{ requests: amounts('20m', '32Mi'), limits: amounts('200m', '128Mi') }],
    DAEMON,
  ),
  workload('kube-system/log-agent', [{ requests: amounts('50m', '64Mi'), limits: { memory: '256Mi' } }], DAEMON),
];

/** The applications that fill the workers, in turn. */
export const APPLICATIONS: readonly Workload[] = [
  workload('shop/storefront', [
    { requests: amounts('250m', '256Mi'), limits: amounts('1', '512Mi') },
    { requests: amounts('50m', '64Mi'), limits: amounts('200m', '128Mi') },
  ]),
  workload('shop/catalog', [{ requests: amounts('200m', '384Mi'), limits: amounts('1', '768Mi') }]),
  workload('shop/cart', [{ requests: amounts('100m', '128Mi'), limits: amounts('500m', '256Mi') }]),
  workload('kube-system/coredns', [{ requests: amounts('100m', '70Mi'), limits: { memory: '170Mi' } }]),
  workload('shop/checkout', [{ requests: amounts('150m', '256Mi'), limits: amounts('500m', '512Mi') }]),
  workload('monitoring/prometheus', [{ requests: amounts('500m', '2Gi'), limits: amounts('2', '4Gi') }], {
    owner: 'StatefulSet',
  }),
  workload('shop/payments', [{ requests: amounts('0.1', '0.25Gi'), limits: amounts('0.5', '512M') }]),
  workload('shop/search', [{ requests: amounts('500m', '1Gi'), limits: amounts('2', '1536Mi') }]),
  workload('monitoring/grafana', [{ requests: amounts('100m', '128Mi'), limits: amounts('200m', '256Mi') }]),
  workload('kube-system/metrics-server', [{ requests: amounts('100m', '200Mi') }]),
  workload('shop/recommendations', [{}]),
];

/** Pods that come and go. */
export const JOB: Workload = workload(
  'shop/nightly-report',
  [{ requests: amounts('200m', '128Mi'), limits: amounts('1', '256Mi') }],
  { owner: 'Job' },
);

/** An application that is stopped: it has no pods. */
export const NEWSLETTER: Workload = workload('shop/newsletter', [{ requests: amounts('50m', '64Mi') }]);
