import type { Random } from '../../../src/runtime/random.ts';
import type { NewObject } from '../kube-object.ts';
import { uuidFrom } from '../seeded-random.ts';
import { timestamp } from '../timestamp.ts';
import { imagesOf, type NodeImage } from './images.ts';

/** What is decided about a node before it is made: enough to name it and to put pods on it. */
export interface NodePlan {
  readonly index: number;
  readonly name: string;
  readonly zone: 'a' | 'b' | 'c';
  readonly controlPlane: boolean;
  readonly address: string;
  readonly cordoned: boolean;
  readonly notReady: boolean;
}

export interface NodeStyle {
  /** Wall clock in milliseconds. Heartbeats are a little older than this, the nodes are weeks older. */
  readonly now: number;
  /** The prefix of the alias annotation. */
  readonly platform: string;
  /** The approximate size of a node as JSON. */
  readonly nodeBytes: number;
}

const ZONES = ['a', 'b', 'c'] as const;
const DAY_MS = 86_400_000;

/**
 * From four nodes on there are three control planes, and workers in three zones. From six on, one node is cordoned and
 * one is not ready.
 */
export function planNodes(count: number): NodePlan[] {
  const controlPlanes = count >= 4 ? 3 : Math.min(count, 1);
  return Array.from({ length: count }, (_, index) => {
    const controlPlane = index < controlPlanes;
    const worker = index - controlPlanes;
    const zone = ZONES[(controlPlane ? index : worker) % 3]!;
    return {
      index,
      name: controlPlane ? `control-plane-${index + 1}` : `worker-${zone}-${Math.floor(worker / 3) + 1}`,
      zone,
      controlPlane,
      // 192.0.2.0/24 is reserved for documentation, but too small for a large cluster.
      address: count <= 200 ? `192.0.2.${10 + index}` : `10.8.${index >> 8}.${index & 255}`,
      cordoned: count >= 6 && worker === 2,
      notReady: count >= 6 && worker === count - controlPlanes - 1,
    };
  });
}

const ALIASES = ['rack 1, top', 'rack 1, bottom', 'rack 2, top', 'batch pool', 'build machines'];

interface Size {
  readonly type: string;
  readonly cpu: number;
  readonly memoryKi: number;
}

const CONTROL_PLANE: Size = { type: 'standard-4', cpu: 4, memoryKi: 16_374_512 };
const WORKERS: readonly Size[] = [
  { type: 'standard-8', cpu: 8, memoryKi: 32_863_244 },
  { type: 'standard-16', cpu: 16, memoryKi: 65_846_932 },
  { type: 'memory-8', cpu: 8, memoryKi: 65_846_932 },
];

/** Makes node objects that share their image lists, so there is one list of each length in memory. */
export function nodeMaker(style: NodeStyle, random: Random): (plan: NodePlan) => NewObject {
  const lists = new Map<number, readonly NodeImage[]>();
  const imagesFor = (room: number): readonly NodeImage[] => {
    const rounded = Math.max(0, Math.round(room / 250) * 250);
    const known = lists.get(rounded) ?? imagesOf(6, rounded);
    lists.set(rounded, known);
    return known;
  };
  return (plan) => {
    const node = bareNode(plan, style, random);
    const images = imagesFor(style.nodeBytes - JSON.stringify(node).length);
    return { ...node, status: { ...node.status, images } };
  };
}

function bareNode(plan: NodePlan, style: NodeStyle, random: Random) {
  const size = plan.controlPlane ? CONTROL_PLANE : WORKERS[plan.index % WORKERS.length]!;
  const { name, index } = plan;
  const alias = plan.controlPlane || index % 3 !== 0 ? undefined : ALIASES[(index / 3) % ALIASES.length];
  const podCIDR = `10.${42 + (index >> 8)}.${index & 255}.0/24`;
  return {
    metadata: {
      name,
      uid: uuidFrom(random),
      creationTimestamp: timestamp(style.now - (40 + (index % 50)) * DAY_MS - Math.floor(random.fraction() * DAY_MS)),
      labels: labelsOf(plan, size),
      annotations: {
        ...(alias === undefined ? {} : { [`${style.platform}.io/alias-name`]: alias }),
        'node.alpha.kubernetes.io/ttl': '0',
        'volumes.kubernetes.io/controller-managed-attach-detach': 'true',
      },
    },
    spec: {
      podCIDR,
      podCIDRs: [podCIDR],
      providerID: `example://zone-${plan.zone}/${name}`,
      ...(plan.cordoned ? { unschedulable: true } : {}),
      ...taintsOf(plan, style),
    },
    status: statusOf(plan, size, { style, random }),
  };
}

function labelsOf({ name, zone, controlPlane }: NodePlan, { type }: Size): Record<string, string> {
  return {
    'kubernetes.io/arch': 'amd64',
    'kubernetes.io/hostname': name,
    'kubernetes.io/os': 'linux',
    'node.kubernetes.io/instance-type': type,
    ...(controlPlane
      ? { 'node-role.kubernetes.io/control-plane': '', 'node.kubernetes.io/exclude-from-external-load-balancers': '' }
      : { 'node-role.kubernetes.io/worker': '' }),
    'topology.kubernetes.io/region': 'region-1',
    'topology.kubernetes.io/zone': `zone-${zone}`,
  };
}

function taintsOf({ controlPlane, cordoned, notReady }: NodePlan, { now }: NodeStyle): object {
  const timeAdded = timestamp(now - 3_600_000);
  const taints = [
    ...(controlPlane ? [{ key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' }] : []),
    ...(cordoned ? [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule', timeAdded }] : []),
    ...(notReady
      ? [
          { key: 'node.kubernetes.io/unreachable', effect: 'NoSchedule', timeAdded },
          { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute', timeAdded },
        ]
      : []),
  ];
  return taints.length === 0 ? {} : { taints };
}

function statusOf(plan: NodePlan, size: Size, { style, random }: { style: NodeStyle; random: Random }) {
  const capacity = {
    cpu: String(size.cpu),
    'ephemeral-storage': '203056560Ki',
    memory: `${size.memoryKi}Ki`,
    pods: '110',
  };
  const allocatable = {
    cpu: `${size.cpu * 1000 - 200}m`,
    'ephemeral-storage': '187136925414',
    memory: `${size.memoryKi - 1_048_576}Ki`,
    pods: '110',
  };
  return {
    capacity,
    allocatable,
    conditions: conditionsOf(plan, style, random),
    addresses: [
      { type: 'InternalIP', address: plan.address },
      { type: 'Hostname', address: plan.name },
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
    nodeInfo: {
      machineID: uuidFrom(random).replaceAll('-', ''),
      systemUUID: uuidFrom(random),
      bootID: uuidFrom(random),
      kernelVersion: '6.12.48',
      osImage: 'Example Linux 12 (stable)',
      containerRuntimeVersion: 'containerd://2.1.4',
      kubeletVersion: plan.index % 7 === 5 ? 'v1.34.3' : 'v1.34.4',
      kubeProxyVersion: '',
      operatingSystem: 'linux',
      architecture: 'amd64',
    },
  };
}

const HEALTHY = [
  ['MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
  ['DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
  ['PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
  ['Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'],
] as const;

/** A node that lost its kubelet an hour ago has all conditions Unknown, as the node controller sets them. */
function conditionsOf({ notReady }: NodePlan, { now }: NodeStyle, random: Random): readonly object[] {
  const heartbeat = timestamp(now - (notReady ? 3_600_000 : Math.floor(random.fraction() * 300_000)));
  const transition = timestamp(now - (notReady ? 3_550_000 : 12 * DAY_MS));
  return HEALTHY.map(([type, status, reason, message]) => ({
    type,
    status: notReady ? 'Unknown' : status,
    lastHeartbeatTime: heartbeat,
    lastTransitionTime: transition,
    reason: notReady ? 'NodeStatusUnknown' : reason,
    message: notReady ? 'Kubelet stopped posting node status.' : message,
  }));
}
