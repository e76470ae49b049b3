import { FIGURES } from './pod-usage.ts';
import { divideUp, formatQuantity, NANO } from './quantity.ts';
import type { NodeUsage, UsageSum } from './usage-ledger.ts';

/** What a node has for pods, in nano units; 0 when missing or unreadable. */
export interface Allocatable {
  readonly cpu: bigint;
  readonly memory: bigint;
}

const NANO_OF_MILLI = 10n ** 6n;

const keyPrefix = (platform: string): string => `node.${platform}.io/`;

/** The eight annotation keys. */
export const usageKeys = (platform: string): ReadonlySet<string> =>
  new Set(FIGURES.flatMap((figure) => [`${keyPrefix(platform)}${figure}`, `${keyPrefix(platform)}${figure}-fraction`]));

/** The eight annotations as JSON members; without pods all are zero. Plain ASCII: a platform is a DNS label. */
export function usageMembers(platform: string, usage: NodeUsage | undefined, allocatable: Allocatable): string {
  const members = FIGURES.map((figure, at) => {
    const resource = figure.startsWith('cpu') ? 'cpu' : 'memory';
    const sum = usage?.[at];
    const key = `${keyPrefix(platform)}${figure}`;
    const fraction = percentage(resource, sum?.nano ?? 0n, allocatable[resource]);
    return `"${key}":"${sumText(resource, sum)}","${key}-fraction":"${fraction}"`;
  });
  return members.join();
}

/** Operands of one format keep it. Mixed ones take the usual format of the resource, whatever their order was. */
function sumText(resource: keyof Allocatable, sum: UsageSum | undefined): string {
  if (!sum) return '0';
  return formatQuantity(sum.nano, sum.format ?? (resource === 'memory' ? 'BinarySI' : 'DecimalSI'));
}

/** As 3.4: whole milli-cores or bytes, doubles in this order, cut toward zero. 0.29 / 1 * 100 is 28 %, as it always was. */
function percentage(resource: keyof Allocatable, sum: bigint, allocatable: bigint): string {
  const unit = resource === 'cpu' ? NANO_OF_MILLI : NANO;
  const whole = Number(divideUp(allocatable, unit));
  if (whole === 0) return '0%';
  const percent = Math.trunc((Number(divideUp(sum, unit)) / whole) * 100);
  return `${BigInt(percent)}%`;
}
