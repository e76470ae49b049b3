import { asArray, asObject } from './json.ts';
import type { Quantity, QuantityFormat } from './quantity.ts';

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
 * What the scheduler counts for a pod, as kubectl's node totals have it
 * (https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/#resource-sharing-within-containers). Unreadable
 * quantities and odd members count as 0, so that one strange pod never costs a node its sums.
 */
export function toPodUsage(spec: unknown, read: QuantityReader): PodUsage {
  return FIGURE_SOURCES.map((figure) => effectiveAmount(asObject(spec), figure, read));
}

function effectiveAmount(spec: Readonly<Record<string, unknown>>, figure: Figure, read: QuantityReader): Amount {
  const amountOf = (owner: unknown): Amount | undefined => {
    const list = asObject(asObject(asObject(owner)['resources'])[figure.kind]);
    return toAmount(read(list[figure.resource]));
  };
  const amount = amountOf(spec) ?? containersAmount(spec, (container) => amountOf(container) ?? NOTHING);
  // Overhead is real, but a pod without a limit does not get one by it.
  if (figure.kind === 'limits' && amount.nano === 0n) return amount;
  return plus(amount, toAmount(read(asObject(spec['overhead'])[figure.resource])) ?? NOTHING);
}

/** The greater of what runs together at the end and what runs while each init container does; a tie keeps the former. */
function containersAmount(spec: Readonly<Record<string, unknown>>, amountOf: (container: unknown) => Amount): Amount {
  let sidecars = NOTHING;
  let peak = NOTHING;
  for (const container of asArray(spec['initContainers'])) {
    const isSidecar = asObject(container)['restartPolicy'] === 'Always';
    const during = plus(sidecars, amountOf(container));
    if (isSidecar) sidecars = during;
    if (during.nano > peak.nano) peak = during;
  }
  const together = asArray(spec['containers']).map(amountOf).reduce(plus, sidecars);
  return peak.nano > together.nano ? peak : together;
}

function toAmount(quantity: Quantity | undefined): Amount | undefined {
  if (!quantity) return undefined;
  const { nano, format } = quantity;
  return nano === 0n ? NOTHING : { nano, formats: 1 << FORMATS.indexOf(format) };
}

function plus(a: Amount, b: Amount): Amount {
  if (b.nano === 0n) return a;
  return a.nano === 0n ? b : { nano: a.nano + b.nano, formats: a.formats | b.formats };
}
