import type { KubeObject, NewObject } from '../kube-object.ts';
import type { ObjectStore } from '../object-store.ts';
import { timestamp } from '../timestamp.ts';
import { certificateObjects } from './certificates.ts';
import { clusterObjects, shopObjects } from './other-objects.ts';
import { ownerNameOf, podLabelsOf, podSpecOf, workloadUid } from './pods.ts';
import { APPLICATIONS, DAEMONS, JOB, NEWSLETTER, type Workload } from './workloads.ts';

/** An object and the name of its kind in the store. */
export type KindAndObject = readonly [kind: string, object: NewObject];

/** The age of what was installed with the cluster. */
const AGE_MS = 25 * 86_400_000;

interface Counts {
  readonly all: number;
  readonly ready: number;
  readonly pods: readonly KubeObject[];
}

/**
 * Adds what the pods of a population belong to: deployments, services and claims, a job, a custom resource with its definition, and a few
 * objects of other kinds. Only namespaces that have pods get any.
 */
export function populateWorkloads(objects: ObjectStore, { now }: { readonly now: number }): void {
  const byOwner = Map.groupBy(objects.list('pods'), ({ metadata }) => ownerUid(metadata) ?? '');
  const countsOf = (workload: Workload): Counts => {
    const pods = byOwner.get(workloadUid(workload)) ?? [];
    return { all: pods.length, ready: pods.filter(isReady).length, pods };
  };
  const there = (namespace: string): boolean => objects.get('namespaces', namespace) !== undefined;
  const workloads = [...DAEMONS, ...APPLICATIONS, JOB, NEWSLETTER].filter(({ namespace }) => there(namespace));
  const made = [
    ...clusterObjects(),
    ...workloads.flatMap((workload) => objectsOf(workload, countsOf(workload), now)),
    ...(there('shop') ? shopObjects() : []),
    ...certificateObjects(workloads, now),
  ];
  const creationTimestamp = timestamp(now - AGE_MS);
  for (const [kind, { metadata, ...object }] of made)
    objects.create(kind, { ...object, metadata: { creationTimestamp, ...metadata } });
}

/** The uid of the controller of an object. */
const ownerUid = ({ ownerReferences }: KubeObject['metadata']): string | undefined =>
  (ownerReferences as readonly { uid: string }[] | undefined)?.[0]?.uid;

export const isReady = ({ status }: KubeObject): boolean =>
  ((status?.['conditions'] ?? []) as readonly { type: string; status: string }[]).some(
    (one) => one.type === 'Ready' && one.status === 'True',
  );

function objectsOf(workload: Workload, counts: Counts, now: number): readonly KindAndObject[] {
  const common = [['serviceaccounts', { metadata: placed(workload, workload.name) }] as const];
  switch (workload.owner) {
    case 'ReplicaSet':
      return [...common, ...deployment(workload, counts), service(workload, {}), settings(workload)];
    case 'StatefulSet':
      return [
        ...common,
        statefulSet(workload, counts),
        service(workload, { clusterIP: 'None' }),
        ...counts.pods.flatMap(claim),
      ];
    case 'DaemonSet':
      return [...common, daemonSet(workload, counts)];
    case 'Job':
      return [...common, ...job(workload, counts, now)];
    case 'Node':
      return [];
  }
}

/** Name, namespace and labels of an object of a workload. */
const placed = (workload: Workload, name: string) => ({
  name,
  namespace: workload.namespace,
  labels: podLabelsOf(workload),
});

const selectorOf = (workload: Workload) => ({ matchLabels: podLabelsOf(workload) });

function templateOf(workload: Workload) {
  const spec = podSpecOf(workload);
  const metadata = { labels: podLabelsOf(workload) };
  if (!workload.hostNetwork) return { metadata, spec };
  // A real server fills in the port of the node for a pod, and refuses a template without it.
  const containers = spec.containers.map((container) => {
    const { ports, ...rest } = container as { readonly ports: readonly { readonly containerPort: number }[] };
    return { ...rest, ports: ports.map((port) => ({ ...port, hostPort: port.containerPort })) };
  });
  return { metadata, spec: { ...spec, containers } };
}

const controller = (apiVersion: string, kind: string, name: string, uid: string) => ({
  ownerReferences: [{ apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }],
});

/** `status` of a deployment or of a replica set with this many pods. */
export const replicaStatus = (kind: 'Deployment' | 'ReplicaSet', all: number, ready: number): object =>
  kind === 'ReplicaSet'
    ? { replicas: all, fullyLabeledReplicas: all, readyReplicas: ready, availableReplicas: ready }
    : {
        ...{ replicas: all, updatedReplicas: all, readyReplicas: ready, availableReplicas: ready },
        ...(ready < all && { unavailableReplicas: all - ready }),
      };

function deployment(workload: Workload, { all, ready }: Counts): readonly KindAndObject[] {
  const { namespace, name } = workload;
  const uid = workloadUid({ namespace, name: `deployment/${name}` });
  const spec = { replicas: all, selector: selectorOf(workload), template: templateOf(workload) };
  return [
    [
      'deployments',
      { metadata: { ...placed(workload, name), uid }, spec, status: replicaStatus('Deployment', all, ready) },
    ],
    [
      'replicasets',
      {
        metadata: {
          ...placed(workload, ownerNameOf(workload)),
          uid: workloadUid(workload),
          ...controller('apps/v1', 'Deployment', name, uid),
        },
        spec,
        status: replicaStatus('ReplicaSet', all, ready),
      },
    ],
  ];
}

function service(workload: Workload, more: object): KindAndObject {
  const ports = [{ name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' }];
  const spec = { type: 'ClusterIP', selector: podLabelsOf(workload), ports, ...more };
  return ['services', { metadata: placed(workload, workload.name), spec }];
}

const settings = (workload: Workload): KindAndObject => [
  'configmaps',
  { metadata: placed(workload, `${workload.name}-settings`), data: { 'log.level': 'info', 'http.port': '8080' } },
];

function statefulSet(workload: Workload, { all, ready }: Counts): KindAndObject {
  const { name } = workload;
  const spec = {
    replicas: all,
    serviceName: name,
    selector: selectorOf(workload),
    template: templateOf(workload),
    volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: CLAIM }],
  };
  const status = { replicas: all, readyReplicas: ready, currentReplicas: all, updatedReplicas: all };
  return ['statefulsets', { metadata: { ...placed(workload, name), uid: workloadUid(workload) }, spec, status }];
}

const SIZE = { storage: '20Gi' };
const CLAIM = { accessModes: ['ReadWriteOnce'], resources: { requests: SIZE }, storageClassName: 'standard' };

/** The claim of a stateful pod, and its volume. */
function claim({ metadata: { name, namespace = '' } }: KubeObject): readonly KindAndObject[] {
  const claimName = `data-${name}`;
  const uid = workloadUid({ namespace, name: claimName });
  const volumeName = `pvc-${uid}`;
  const bound = { accessModes: CLAIM.accessModes, capacity: SIZE, storageClassName: CLAIM.storageClassName };
  return [
    [
      'persistentvolumeclaims',
      {
        metadata: { name: claimName, namespace, uid },
        spec: { ...CLAIM, volumeName, volumeMode: 'Filesystem' },
        status: { phase: 'Bound', accessModes: CLAIM.accessModes, capacity: SIZE },
      },
    ],
    [
      'persistentvolumes',
      {
        metadata: { name: volumeName },
        spec: {
          ...bound,
          claimRef: { kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace, name: claimName, uid },
          csi: { driver: 'disks.example.test', volumeHandle: volumeName },
          persistentVolumeReclaimPolicy: 'Delete',
          volumeMode: 'Filesystem',
        },
        status: { phase: 'Bound' },
      },
    ],
  ];
}

function daemonSet(workload: Workload, { all, ready }: Counts): KindAndObject {
  const status = {
    ...{ currentNumberScheduled: all, desiredNumberScheduled: all, numberMisscheduled: 0, numberReady: ready },
    ...{ updatedNumberScheduled: all, numberAvailable: ready },
  };
  const spec = { selector: selectorOf(workload), template: templateOf(workload) };
  return ['daemonsets', { metadata: { ...placed(workload, workload.name), uid: workloadUid(workload) }, spec, status }];
}

function job(workload: Workload, { pods }: Counts, now: number): readonly KindAndObject[] {
  const { namespace, name } = workload;
  const uid = workloadUid({ namespace, name: `cronjob/${name}` });
  const jobTemplate = { spec: { template: templateOf(workload) } };
  const began = timestamp(now - 8 * 3_600_000);
  const inPhase = (phase: string): number => pods.filter(({ status }) => status?.['phase'] === phase).length;
  return [
    [
      'cronjobs',
      {
        metadata: { ...placed(workload, name), uid },
        spec: { schedule: '0 2 * * *', concurrencyPolicy: 'Forbid', jobTemplate },
        status: { lastScheduleTime: began, lastSuccessfulTime: began },
      },
    ],
    [
      'jobs',
      {
        metadata: {
          ...placed(workload, ownerNameOf(workload)),
          ...controller('batch/v1', 'CronJob', name, uid),
          uid: workloadUid(workload),
          creationTimestamp: began,
        },
        spec: { ...jobTemplate.spec, completions: 1, parallelism: 1, backoffLimit: 6 },
        status: {
          startTime: began,
          completionTime: timestamp(now - 8 * 3_600_000 + 95_000),
          succeeded: inPhase('Succeeded'),
          failed: inPhase('Failed'),
          conditions: [{ type: 'Complete', status: 'True', lastTransitionTime: began }],
        },
      },
    ],
  ];
}
