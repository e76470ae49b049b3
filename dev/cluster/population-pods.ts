import type { Random } from '../../src/runtime/random.ts';
import type { NewObject } from './kube-object.ts';
import type { NodePlan } from './population-nodes.ts';
import { APPLICATIONS, CONTROL_PLANE_PODS, DAEMONS, JOB, type Workload } from './population-workloads.ts';
import { seededRandom, uuidFrom } from './seeded-random.ts';
import { timestamp } from './timestamp.ts';

type Phase = 'Pending' | 'Running' | 'Succeeded' | 'Failed';

/** One pod of a workload. */
export interface PodPlan {
  readonly workload: Workload;
  /** Makes the name unique within the workload. */
  readonly serial: number;
  readonly phase: Phase;
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
  const set = owner === 'ReplicaSet' ? `-${suffixOf(name.length)}${suffixOf(name.charCodeAt(0))}` : '';
  return `${name}${set}-${suffixOf(serial)}`;
}

interface PodStyle {
  readonly now: number;
}

/** Makes pod objects. They share containers and other large parts with their workload. */
export function podMaker({ now }: PodStyle, random: Random): (plan: PodPlan) => NewObject {
  return (plan) => {
    const { workload, node } = plan;
    const { namespace, name } = workload;
    const createdAt = now - Math.floor(random.fraction() * 20 * 86_400_000);
    return {
      metadata: {
        name: nameOf(plan),
        namespace,
        uid: uuidFrom(random),
        creationTimestamp: timestamp(createdAt),
        labels: labelsOf(workload),
        ownerReferences: ownerOf(workload),
      },
      spec: {
        ...SPEC,
        containers: workload.containers,
        serviceAccountName: name,
        ...(workload.hostNetwork ? { hostNetwork: true } : {}),
        ...(workload.owner === 'Job' ? { restartPolicy: 'Never' } : {}),
        ...(node ? { nodeName: node.name } : {}),
      },
      status: statusOf(plan, timestamp(createdAt + 4_000)),
    };
  };
}

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

/** Calls `make` once for each workload, so that 150,000 pods share a few dozen objects. */
const remembered = <Made>(make: (workload: Workload) => Made): ((workload: Workload) => Made) => {
  const known = new WeakMap<Workload, { readonly made: Made }>();
  return (workload) => {
    const entry = known.get(workload) ?? { made: make(workload) };
    known.set(workload, entry);
    return entry.made;
  };
};

const labelsOf = remembered(({ name, namespace }) => ({
  'app.kubernetes.io/name': name,
  'app.kubernetes.io/part-of': namespace,
}));

/** A uid that depends only on the workload's name. */
const uidOf = ({ namespace, name }: Workload): string =>
  uuidFrom(seededRandom(Buffer.from(`${namespace}/${name}`).reduce((sum, byte) => Math.imul(sum, 31) + byte, 7)));

const ownerOf = remembered((workload) => {
  const { owner, name } = workload;
  return [
    {
      apiVersion: owner === 'Node' ? 'v1' : owner === 'Job' ? 'batch/v1' : 'apps/v1',
      kind: owner,
      name,
      uid: uidOf(workload),
      controller: true,
    },
  ];
});

const qosOf = remembered(({ containers }) =>
  JSON.stringify(containers).includes('"requests"') ? 'Burstable' : 'BestEffort',
);

const conditionsWhen = (ready: 'True' | 'False'): readonly object[] => [
  { type: 'PodScheduled', status: 'True' },
  { type: 'Initialized', status: 'True' },
  { type: 'ContainersReady', status: ready },
  { type: 'Ready', status: ready },
];
const READY = conditionsWhen('True');
const NOT_READY = conditionsWhen('False');

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
  const conditions = phase === 'Running' ? READY : NOT_READY;
  return { phase, qosClass, conditions, hostIP: node.address, podIP, podIPs: [{ ip: podIP }], startTime };
}
