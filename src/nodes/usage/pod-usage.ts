import { asArray, asObject, isObject } from '../../kubernetes/object.ts';
import type { Quantity, QuantityFormat } from './quantity.ts';

type Members = Readonly<Record<string, unknown>>;

/** The four sums of a node, in the order of all arrays of sums. */
export const FIGURES = ['cpu-limits', 'cpu-requests', 'memory-limits', 'memory-requests'] as const;

/** An amount and the formats of its operands. Operands of zero do not count. */
interface Amount {
  readonly nano: bigint;
  /** A bit for each of `FORMATS`. */
  readonly formats: number;
}

export const FORMATS: readonly QuantityFormat[] = ['BinarySI', 'DecimalSI', 'DecimalExponent'];

/** What one pod adds to its node, in the order of `FIGURES`. */
export type PodUsage = readonly Amount[];

export type QuantityReader = (value: unknown) => Quantity | undefined;

/** The amount in `resources` that one sum counts: `resources[kind][resource]`. */
interface Figure {
  readonly kind: 'limits' | 'requests';
  readonly resource: 'cpu' | 'memory';
}

const FIGURE_SOURCES: readonly Figure[] = [
  { kind: 'limits', resource: 'cpu' },
  { kind: 'requests', resource: 'cpu' },
  { kind: 'limits', resource: 'memory' },
  { kind: 'requests', resource: 'memory' },
];

const NOTHING: Amount = { nano: 0n, formats: 0 };

/**
 * What the scheduler counts for a pod, as `PodRequests` and `PodLimits` of k8s.io/component-helpers 0.34 do with
 * `UseStatusResources`: with sidecars
 * (https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/#resource-sharing-within-containers),
 * resources of the pod itself, overhead and resizes in place. From 1.33 on `kubectl describe node` sums requests in the
 * same way, but it leaves out the resources of the pod itself, and takes limits from the specification alone.
 * Unreadable quantities and odd members count as 0, so that one strange pod does not spoil the sums of its node.
 */
export function toPodUsage(pod: { readonly spec: unknown; readonly status: unknown }, read: QuantityReader): PodUsage {
  const spec = asObject(pod.spec);
  const parts = toParts(spec, asObject(pod.status));
  return FIGURE_SOURCES.map((figure) => effectiveAmount(spec, parts, { figure, read }));
}

/** The containers of a pod, each with the amounts that count for it. */
interface Parts {
  readonly containers: readonly CountedResources[];
  readonly initContainers: readonly { readonly isSidecar: boolean; readonly counted: CountedResources }[];
}

function toParts(spec: Members, status: Members): Parts {
  const resized = createResizedResources(status);
  return {
    containers: asArray(spec['containers']).map((container) => resized(asObject(container))),
    initContainers: asArray(spec['initContainers'])
      .map(asObject)
      .map((container) => {
        const isSidecar = container['restartPolicy'] === 'Always';
        // An init container that runs once cannot be resized.
        return { isSidecar, counted: isSidecar ? resized(container) : specifiedResources(container) };
      }),
  };
}

interface Reading {
  readonly figure: Figure;
  readonly read: QuantityReader;
}

function effectiveAmount(spec: Members, parts: Parts, { figure, read }: Reading): Amount {
  const amountIn = (list: Members): Amount | undefined => toAmount(read(list[figure.resource]));
  const counted = (lists: CountedResources): Amount =>
    lists[figure.kind].map((list) => amountIn(list) ?? NOTHING).reduce(greater, NOTHING);
  const ofPod = asObject(asObject(spec['resources'])[figure.kind]);
  const amount = amountIn(ofPod) ?? containersAmount(parts, counted);
  // Overhead counts, but it does not give a limit to a pod that has none.
  if (figure.kind === 'limits' && amount.nano === 0n) return amount;
  return plus(amount, amountIn(asObject(spec['overhead'])) ?? NOTHING);
}

/**
 * The greater of what the containers take together and what is taken while each init container runs. If both are equal,
 * the former.
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

/** If both are equal, the first one, and so the format in which it is written. */
const greater = (a: Amount, b: Amount): Amount => (b.nano > a.nano ? b : a);

function toAmount(quantity: Quantity | undefined): Amount | undefined {
  if (!quantity) return undefined;
  const { nano, format } = quantity;
  return nano === 0n ? NOTHING : { nano, formats: 1 << FORMATS.indexOf(format) };
}

function plus(a: Amount, b: Amount): Amount {
  if (b.nano === 0n) return a;
  return a.nano === 0n ? b : { nano: a.nano + b.nano, formats: a.formats | b.formats };
}

/** Resource lists of one container. The greatest amount of each resource counts. */
interface CountedResources {
  readonly requests: readonly Members[];
  readonly limits: readonly Members[];
}

/** What the container's specification asks for. */
function specifiedResources(container: Members): CountedResources {
  const { requests, limits } = asObject(container['resources']);
  return { requests: [asObject(requests)], limits: [asObject(limits)] };
}

/** What the kubelet reports about a resize of the pod (Kubernetes 1.33, KEP-1287). */
const RESIZE_CONDITIONS: ReadonlySet<unknown> = new Set(['PodResizePending', 'PodResizeInProgress']);

/**
 * What counts for the containers of a pod that may be resized in place
 * (https://kubernetes.io/docs/tasks/configure-pod-container/resize-container-resources/). Until the kubelet has resized
 * the pod, the greatest of three amounts counts: requested, allocated and in use. If the node can never do the resize,
 * the requested amount does not count. A pod without any report of a resize counts with what it requests, whatever else
 * is in its status. KubeSphere 3.4 counts it like this, and so does Kubernetes, because the amounts are equal then.
 */
function createResizedResources(status: Members): (container: Members) => CountedResources {
  const conditions = asArray(status['conditions']).map(asObject);
  if (!conditions.some(({ type }) => RESIZE_CONDITIONS.has(type))) return specifiedResources;
  const isInfeasible = isResizeInfeasible(conditions);
  return (container) => {
    const specified = specifiedResources(container);
    const actual = statusOf(status, container['name']);
    const used = actual['resources'];
    if (!isObject(used)) return specified; // a kubelet that does not resize, or a container that has not started
    const requests = [asObject(used['requests']), asObject(actual['allocatedResources'])];
    const limits = [asObject(used['limits'])];
    if (isInfeasible) return { requests, limits };
    return { requests: [...specified.requests, ...requests], limits: [...specified.limits, ...limits] };
  };
}

/** There is one such condition. If there were more, the first would count, as in Kubernetes. */
const isResizeInfeasible = (conditions: readonly Members[]): boolean =>
  conditions.find(({ type }) => type === 'PodResizePending')?.['reason'] === 'Infeasible';

function statusOf(status: Members, name: unknown): Members {
  const named = (entry: unknown): boolean => asObject(entry)['name'] === name;
  const found = asArray(status['initContainerStatuses']).findLast(named);
  return asObject(found ?? asArray(status['containerStatuses']).findLast(named));
}
