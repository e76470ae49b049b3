import { hash } from 'node:crypto';
import type { NewObject } from '../../dev/cluster/kube-object.ts';
import { suffixOf } from '../../dev/cluster/population/pods.ts';

/** How many pods a Deployment of the bench has. They share labels and owner, as those of a ReplicaSet do. */
const REPLICAS = 5;
const PHASES = ['Running', 'Running', 'Running', 'Pending'];
const NODES = 40;
const BORN_MS = Date.parse('2026-01-05T08:00:00Z');

/** A pod's place among all of them. Two numbers make the same pod in every run. */
export interface PodPlace {
  readonly index: number;
  readonly namespaces: number;
}

export const namespaceName = (index: number): string => `team-${String(index).padStart(5, '0')}`;

/**
 * A pod as an API server sends it: 4.0 kB of compact JSON, of which `managedFields` are 0.9 kB. One container with probes, resources and
 * variables, the token's volume, two tolerations, five conditions and the container's status.
 */
export function podOf({ index, namespaces }: PodPlace): NewObject {
  const set = Math.floor(index / REPLICAS);
  const app = `shop-${suffixOf(set % 997)}`;
  const replicaSet = `${app}-${suffixOf(set)}`;
  const at = new Date(BORN_MS + index * 1_000).toISOString().replace(/\.\d+/, '');
  return {
    metadata: {
      name: `${replicaSet}-${suffixOf(index)}`,
      generateName: `${replicaSet}-`,
      namespace: namespaceName(set % namespaces),
      uid: uuidOf(index),
      creationTimestamp: at,
      labels: {
        'app.kubernetes.io/name': app,
        'app.kubernetes.io/instance': `${app}-main`,
        'app.kubernetes.io/part-of': 'shop',
        tier: set % 3 === 0 ? 'front' : 'back',
        'pod-template-hash': suffixOf(set),
      },
      annotations: { 'cni.projectcalico.org/podIP': `${ipOf(index)}/32`, 'prometheus.io/scrape': 'true' },
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'ReplicaSet',
          name: replicaSet,
          uid: uuidOf(0x1000_0000 + set),
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
      managedFields: MANAGED_FIELDS,
    },
    spec: specOf(app, index),
    status: statusOf(at, index),
  } as NewObject;
}

/** Sixteen bytes without a pattern, as those of a cluster: texts with a pattern in them would deflate too well. */
function uuidOf(index: number): string {
  const hex = hash('sha256', String(index), 'hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-9${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

const ipOf = (index: number): string => `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`;

const TOLERATIONS = ['not-ready', 'unreachable'].map((taint) => ({
  key: `node.kubernetes.io/${taint}`,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds: 300,
}));

const TOKEN_VOLUME = {
  name: 'kube-api-access-x7k2p',
  projected: {
    sources: [
      { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
      { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    ],
    defaultMode: 420,
  },
};

const PROBE = { httpGet: { path: '/healthz', port: 8080, scheme: 'HTTP' }, timeoutSeconds: 1, periodSeconds: 10 };

const specOf = (app: string, index: number): object => ({
  volumes: [TOKEN_VOLUME],
  containers: [
    {
      name: 'main',
      image: `registry.example.test/shop/${app}:1.24.${index % 50}`,
      ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
      env: [
        { name: 'POD_NAME', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } },
        { name: 'DATABASE', value: `postgres.${app}.svc:5432` },
      ],
      resources: { limits: { memory: '256Mi' }, requests: { cpu: '100m', memory: '128Mi' } },
      volumeMounts: [
        { name: TOKEN_VOLUME.name, readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' },
      ],
      livenessProbe: PROBE,
      readinessProbe: PROBE,
      terminationMessagePath: '/dev/termination-log',
      imagePullPolicy: 'IfNotPresent',
    },
  ],
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  serviceAccountName: 'default',
  nodeName: `worker-${index % NODES}`,
  securityContext: {},
  schedulerName: 'default-scheduler',
  tolerations: TOLERATIONS,
  priority: 0,
  enableServiceLinks: true,
});

const CONDITIONS = ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'];

const statusOf = (at: string, index: number): object => ({
  phase: PHASES[index % PHASES.length],
  conditions: CONDITIONS.map((type) => ({ type, status: 'True', lastProbeTime: null, lastTransitionTime: at })),
  hostIP: ipOf(index % NODES),
  podIP: ipOf(index),
  podIPs: [{ ip: ipOf(index) }],
  startTime: at,
  containerStatuses: [
    {
      name: 'main',
      state: { running: { startedAt: at } },
      lastState: {},
      ready: true,
      restartCount: 0,
      image: 'registry.example.test/shop/main:1.24.0',
      imageID: `registry.example.test/shop/main@sha256:${'ab12'.repeat(16)}`,
      containerID: `containerd://${uuidOf(index).replaceAll('-', '').repeat(2)}`,
      started: true,
    },
  ],
  qosClass: 'Burstable',
});

const fieldsOf = (paths: readonly string[]): object => Object.fromEntries(paths.map((path) => [`f:${path}`, {}]));

const MANAGED_FIELDS = [
  {
    manager: 'kube-controller-manager',
    operation: 'Update',
    apiVersion: 'v1',
    time: '2026-01-05T08:00:00Z',
    fieldsType: 'FieldsV1',
    fieldsV1: {
      'f:metadata': { 'f:generateName': {}, 'f:labels': fieldsOf(['.', 'app.kubernetes.io/name', 'tier']) },
      'f:spec': {
        'f:containers': { 'k:{"name":"main"}': fieldsOf(['.', 'env', 'image', 'name', 'ports', 'resources']) },
        ...fieldsOf(['dnsPolicy', 'enableServiceLinks', 'restartPolicy', 'schedulerName', 'securityContext']),
      },
    },
  },
  {
    manager: 'kubelet',
    operation: 'Update',
    apiVersion: 'v1',
    time: '2026-01-05T08:00:09Z',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:status': fieldsOf(['conditions', 'containerStatuses', 'hostIP', 'phase', 'podIP', 'startTime']) },
    subresource: 'status',
  },
];
