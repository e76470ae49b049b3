import type { Random } from '../../../src/runtime/random.ts';
import type { NewObject } from '../kube-object.ts';
import { seededRandom, uuidFrom } from '../seeded-random.ts';
import { timestamp } from '../timestamp.ts';
import { containerStatuses, type PodPhase } from './container-statuses.ts';
import type { NodePlan } from './nodes.ts';
import { APPLICATIONS, CONTROL_PLANE_PODS, DAEMONS, JOB, type Workload } from './workloads.ts';

/** One pod of a workload. */
export interface PodPlan {
  readonly workload: Workload;
  /** Makes the name unique within the workload. */
  readonly serial: number;
  readonly phase: PodPhase;
  /** Undefined: not scheduled. */
  readonly node: Pick<NodePlan, 'name' | 'address' | 'index'> | undefined;
}

/**
 * `perNode` pods for a node: first the pods that each node runs, then applications, and now and then a job that is
 * done, failed or waiting.
 */
export function* planPods(node: NodePlan, perNode: number): Generator<PodPlan> {
  const own = node.controlPlane ? [...CONTROL_PLANE_PODS, ...DAEMONS] : DAEMONS;
  for (let place = 0; place < perNode; place++) {
    const serial = node.index * perNode + place;
    const fixed = own[place];
    if (fixed) yield { workload: fixed, serial, phase: 'Running', node };
    else if (serial % 53 === 50) yield { workload: JOB, serial, phase: 'Succeeded', node };
    else if (serial % 97 === 60) yield { workload: JOB, serial, phase: 'Failed', node };
    else if (serial % 89 === 70) yield { workload: APPLICATIONS[7]!, serial, phase: 'Pending', node: undefined };
    else yield { workload: APPLICATIONS[serial % APPLICATIONS.length]!, serial, phase: 'Running', node };
  }
}

/** The letters of generated names. */
const LETTERS = 'bcdfghjklmnpqrstvwxz2456789';

/** Five letters, different for every number below 27^5 = 14,348,907, because the multiplier has no factor in common with 27^5. */
export function suffixOf(serial: number): string {
  let rest = (serial * 5_882_353 + 1_234_567) % 14_348_907;
  return Array.from({ length: 5 }, () => {
    const letter = LETTERS[rest % 27];
    rest = Math.floor(rest / 27);
    return letter;
  }).join('');
}

function nameOf({ workload: { owner, name }, serial, node }: PodPlan): string {
  if (owner === 'Node') return `${name}-${node?.name}`;
  if (owner === 'StatefulSet') return `${name}-${serial}`;
  return `${ownerNameOf({ owner, name })}-${suffixOf(serial)}`;
}

/** The name of the object that owns the pods of a workload. */
export function ownerNameOf({ owner, name }: Pick<Workload, 'owner' | 'name'>): string {
  return owner === 'ReplicaSet' ? replicaSetOf(name) : owner === 'Job' ? `${name}-29383200` : name;
}

/** The name of the replica set of a deployment of this name. */
const replicaSetOf = (name: string): string => `${name}-${suffixOf(name.length)}${suffixOf(name.charCodeAt(0))}`;

interface PodStyle {
  readonly now: number;
  /** Whether pods have `status.containerStatuses`, and those of stateful sets a claim. */
  readonly detailed: boolean;
}

/** Makes pod objects. They share containers and other large parts with their workload. */
export function podMaker({ now, detailed }: PodStyle, random: Random): (plan: PodPlan) => NewObject {
  return (plan) => {
    const { workload, node } = plan;
    const { namespace } = workload;
    const createdAt = now - Math.floor(random.fraction() * 20 * 86_400_000);
    const startedAt = timestamp(createdAt + 4_000);
    const podName = nameOf(plan);
    return {
      metadata: {
        name: podName,
        namespace,
        uid: uuidFrom(random),
        creationTimestamp: timestamp(createdAt),
        labels: podLabelsOf(workload),
        ownerReferences: ownerOf(workload),
      },
      spec: {
        ...podSpecOf(workload),
        ...(detailed && workload.owner === 'StatefulSet' ? { volumes: [...SPEC.volumes, dataOf(podName)] } : {}),
        ...(node ? { nodeName: node.name } : {}),
      },
      status: {
        ...statusOf(plan, startedAt),
        ...(detailed && node ? { containerStatuses: containerStatuses(workload, plan.phase, startedAt) } : {}),
      },
    };
  };
}

/** The part of the spec that all pods of a workload have. */
export const podSpecOf = ({ name, containers, hostNetwork, owner }: Workload) => ({
  ...SPEC,
  containers,
  serviceAccountName: name,
  ...(hostNetwork ? { hostNetwork: true } : {}),
  ...(owner === 'Job' ? { restartPolicy: 'Never' } : {}),
});

const SPEC = {
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  schedulerName: 'default-scheduler',
  securityContext: {},
  enableServiceLinks: true,
  preemptionPolicy: 'PreemptLowerPriority',
  volumes: [{ name: 'kube-api-access', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } }],
  priority: 0,
  tolerations: [
    { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
    { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
  ],
};

/** The volume of a stateful pod, whose claim has its name. */
const dataOf = (pod: string): object => ({ name: 'data', persistentVolumeClaim: { claimName: `data-${pod}` } });

/** Calls `make` once for each workload, so that 150,000 pods share a few dozen objects. */
const remembered = <Made>(make: (workload: Workload) => Made): ((workload: Workload) => Made) => {
  const known = new WeakMap<Workload, { readonly made: Made }>();
  return (workload) => {
    const entry = known.get(workload) ?? { made: make(workload) };
    known.set(workload, entry);
    return entry.made;
  };
};

export const podLabelsOf = remembered(({ name, namespace }) => ({
  'app.kubernetes.io/name': name,
  'app.kubernetes.io/part-of': namespace,
}));

/** A uid that depends only on the workload's name. */
export const workloadUid = ({ namespace, name }: Pick<Workload, 'namespace' | 'name'>): string =>
  uuidFrom(seededRandom(Buffer.from(`${namespace}/${name}`).reduce((sum, byte) => Math.imul(sum, 31) + byte, 7)));

const ownerOf = remembered((workload) => {
  const { owner } = workload;
  return [
    {
      apiVersion: owner === 'Node' ? 'v1' : owner === 'Job' ? 'batch/v1' : 'apps/v1',
      kind: owner,
      name: ownerNameOf(workload),
      uid: workloadUid(workload),
      controller: true,
    },
  ];
});

const qosOf = remembered(({ containers }) =>
  JSON.stringify(containers).includes('"requests"') ? 'Burstable' : 'BestEffort',
);

const conditionsWhen = (ready: 'True' | 'False', reason?: string): readonly object[] => [
  { type: 'PodScheduled', status: 'True' },
  { type: 'Initialized', status: 'True', ...(reason === 'PodCompleted' && { reason }) },
  { type: 'ContainersReady', status: ready, ...(reason !== undefined && { reason }) },
  { type: 'Ready', status: ready, ...(reason !== undefined && { reason }) },
];
const DONE = conditionsWhen('False', 'PodCompleted');
const NOT_READY = conditionsWhen('False', 'ContainersNotReady');

/** The conditions of a scheduled pod in this phase. */
export const POD_CONDITIONS: Readonly<Record<PodPhase, readonly object[]>> = {
  Pending: NOT_READY,
  Running: conditionsWhen('True'),
  Succeeded: DONE,
  Failed: conditionsWhen('False', 'PodFailed'),
};

function statusOf({ workload, phase, node, serial }: PodPlan, startTime: string): object {
  const qosClass = qosOf(workload);
  if (!node) {
    const message = '0/12 nodes are available: 12 Insufficient memory.';
    return {
      phase,
      qosClass,
      conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }],
    };
  }
  const podIP = workload.hostNetwork
    ? node.address
    : `10.${42 + (node.index >> 8)}.${node.index & 255}.${2 + (serial % 250)}`;
  return {
    phase,
    qosClass,
    conditions: POD_CONDITIONS[phase],
    hostIP: node.address,
    podIP,
    podIPs: [{ ip: podIP }],
    startTime,
  };
}
