import { asArray, asObject } from '../../runtime/text/json-value.ts';
import { type Amount, NOTHING, plus, toAmount } from './amount.ts';
import {
  type CountedResources,
  namesOwnResource,
  PodStatus,
  type RequirementKind,
  type View,
} from './counted-resources.ts';
import type { Quantity } from './quantity.ts';

type Members = Readonly<Record<string, unknown>>;

/** The four sums of a node. Every array of sums has this order. */
export const FIGURES = ['cpu-limits', 'cpu-requests', 'memory-limits', 'memory-requests'] as const;

/** What one pod adds to its node, in the order of `FIGURES`. */
export type PodUsage = readonly Amount[];

export type QuantityReader = (value: unknown) => Quantity | undefined;

/** The amount in `resources` that one sum counts: `resources[kind][resource]`. */
interface Figure {
  readonly kind: RequirementKind;
  readonly resource: 'cpu' | 'memory';
}

const FIGURE_SOURCES: readonly Figure[] = [
  { kind: 'limits', resource: 'cpu' },
  { kind: 'requests', resource: 'cpu' },
  { kind: 'limits', resource: 'memory' },
  { kind: 'requests', resource: 'memory' },
];

/**
 * What the scheduler of Kubernetes 1.37 counts for a pod: `PodRequests` and `PodLimits` of k8s.io/component-helpers 0.37 with the
 * features that are on by default there. These include sidecars
 * (https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/#resource-sharing-within-containers),
 * resources of the pod itself, overhead, and in-place resizes of containers and of pods. What older versions count differently is in
 * docs/operations/node-usage.md. Devices that stand for cpu or memory (`DRANodeAllocatableResources`, off by
 * default) do not count. Unreadable quantities and odd members count as 0, so that one strange pod does not spoil the sums of its
 * node.
 */
export function toPodUsage(pod: { readonly spec: unknown; readonly status: unknown }, read: QuantityReader): PodUsage {
  const spec = asObject(pod.spec);
  const status = new PodStatus(pod.status);
  const parts = toParts(spec, status);
  return FIGURE_SOURCES.map((figure) => effectiveAmount({ spec, status, parts }, { figure, read }));
}

/** The containers of a pod, each with the resources that count for it. */
interface Parts {
  readonly containers: readonly CountedResources[];
  readonly initContainers: readonly { readonly isSidecar: boolean; readonly counted: CountedResources }[];
}

const toParts = (spec: Members, status: PodStatus): Parts => ({
  containers: asArray(spec['containers']).map((container) => status.resourcesOf(asObject(container))),
  initContainers: asArray(spec['initContainers'])
    .map(asObject)
    .map((container) => ({
      isSidecar: container['restartPolicy'] === 'Always',
      counted: status.resourcesOf(container),
    })),
});

interface CountedPod {
  readonly spec: Members;
  readonly status: PodStatus;
  readonly parts: Parts;
}

interface Reading {
  readonly figure: Figure;
  readonly read: QuantityReader;
}

type AmountReader = (list: Members) => Amount | undefined;

function effectiveAmount(pod: CountedPod, { figure, read }: Reading): Amount {
  const amountIn: AmountReader = (list) => knownAmount(read(list[figure.resource]));
  const amount = ownAmount(pod, figure, amountIn) ?? amountOfContainers(pod, figure, amountIn);
  // A pod's overhead counts, except that a pod without a limit does not get one by it.
  if (figure.kind === 'limits' && amount.nano === 0n) return amount;
  return plus(amount, amountIn(asObject(pod.spec['overhead'])) ?? NOTHING);
}

/** The amount of the pod's own resources. `undefined` if its containers count instead. */
function ownAmount({ spec, status }: CountedPod, { kind }: Figure, amountIn: AmountReader): Amount | undefined {
  const own = asObject(spec['resources']);
  const [requests, limits] = [asObject(own['requests']), asObject(own['limits'])];
  const isSet = namesOwnResource(requests) || (kind === 'limits' && namesOwnResource(limits));
  if (!isSet) return undefined;
  const lists = status.listsInstead(kind, kind === 'requests' ? requests : limits);
  const amounts = lists.map(amountIn).filter((amount) => amount !== undefined);
  return amounts.length === 0 ? undefined : amounts.reduce(greater);
}

function amountOfContainers({ status, parts }: CountedPod, figure: Figure, amountIn: AmountReader): Amount {
  const { kind } = figure;
  const ofPod = status.ofPod(kind);
  const sumOf = (view: View): Amount => {
    const reported = ofPod[view];
    if (reported) return amountIn(reported) ?? NOTHING;
    return containersAmount(parts, (counted) => amountIn(counted[kind][view]) ?? NOTHING);
  };
  const [first, ...others] = status.viewsOf(kind);
  // Few pods are being resized. For the others all views have the same sum, so it is computed once.
  const isSettled = Object.keys(ofPod).length === 0 && agree(parts, figure);
  return (isSettled ? [] : others).map(sumOf).reduce(greater, first ? sumOf(first) : NOTHING);
}

/** Whether each container has the same amount of the resource in all views. */
function agree({ containers, initContainers }: Parts, { kind, resource }: Figure): boolean {
  const isOne = ({ [kind]: { specified, used, allocated } }: CountedResources): boolean =>
    used[resource] === specified[resource] && allocated[resource] === specified[resource];
  return containers.every(isOne) && initContainers.every(({ counted }) => isOne(counted));
}

/**
 * The greater of two amounts: what all containers take together, and the most that is taken while an init container
 * runs. If both are equal, the first one.
 */
function containersAmount(parts: Parts, amountOf: (counted: CountedResources) => Amount): Amount {
  let sidecars = NOTHING;
  let peak = NOTHING;
  for (const { isSidecar, counted } of parts.initContainers) {
    const during = plus(sidecars, amountOf(counted));
    if (isSidecar) sidecars = during;
    peak = greater(peak, during);
  }
  return greater(parts.containers.map(amountOf).reduce(plus, sidecars), peak);
}

/** The greater of two amounts. If both are equal, the first one, so that its format is used. */
const greater = (a: Amount, b: Amount): Amount => (b.nano > a.nano ? b : a);

const knownAmount = (quantity: Quantity | undefined): Amount | undefined => quantity && toAmount(quantity);
