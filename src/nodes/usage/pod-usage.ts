import { asArray, asObject } from '../../kubernetes/json.ts';
import type { Quantity, QuantityFormat } from './quantity.ts';
import { type CountedResources, createResizedResources, specifiedResources } from './resized-resources.ts';

type Members = Readonly<Record<string, unknown>>;

/** The four sums of a node, in the order of every array of them. */
export const FIGURES = ['cpu-limits', 'cpu-requests', 'memory-limits', 'memory-requests'] as const;

/** An amount and the formats that its operands were written in; zero operands do not count. */
interface Amount {
  readonly nano: bigint;
  /** A bit for each of `FORMATS`. */
  readonly formats: number;
}

export const FORMATS: readonly QuantityFormat[] = ['BinarySI', 'DecimalSI', 'DecimalExponent'];

/** What one pod adds to its node, in the order of `FIGURES`. */
export type PodUsage = readonly Amount[];

export type QuantityReader = (value: unknown) => Quantity | undefined;

/** Which of a resource list counts: `resources[kind][resource]`. */
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
 * What the scheduler counts for a pod, as `PodRequests` and `PodLimits` of k8s.io/component-helpers 0.34 have it with
 * `UseStatusResources`: sidecars
 * (https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/#resource-sharing-within-containers), resources of
 * the pod itself, overhead and resizes in place. `kubectl describe node` sums requests alike from 1.33 on; it leaves out the
 * resources of the pod itself, and takes limits from the specification alone. Unreadable quantities and odd members count
 * as 0, so that one strange pod never costs a node its sums.
 */
export function toPodUsage(pod: { readonly spec: unknown; readonly status: unknown }, read: QuantityReader): PodUsage {
  const spec = asObject(pod.spec);
  const parts = toParts(spec, asObject(pod.status));
  return FIGURE_SOURCES.map((figure) => effectiveAmount(spec, parts, { figure, read }));
}

/** The containers of a pod, with what counts of each. */
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
        // A container that runs once cannot be resized.
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
  // Overhead is real, but a pod without a limit does not get one by it.
  if (figure.kind === 'limits' && amount.nano === 0n) return amount;
  return plus(amount, amountIn(asObject(spec['overhead'])) ?? NOTHING);
}

/** The greater of what runs together at the end and what runs while each init container does; a tie keeps the former. */
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

/** A tie keeps the first, and with it the format that it is written in. */
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
