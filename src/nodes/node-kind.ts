import type { KubernetesObject } from '../kubernetes/object.ts';
import type { Kind } from '../resources/entries/kind.ts';
import { type FilterReader, statusFilter } from '../resources/query/filter.ts';
import { COMMON_SORT_WORDS } from '../resources/query/list-query.ts';
import { asArray, asObject } from '../runtime/text/json-value.ts';
import { type Amount, toAmount } from './usage/amount.ts';
import { boundedMemo } from './usage/pod-store.ts';
import { parseQuantity, type Quantity } from './usage/quantity.ts';
import { type Allocatable, createUsageDecoration, usageKeys } from './usage/usage-decoration.ts';
import type { UsageLedger } from './usage/usage-ledger.ts';

export interface NodeKindOptions {
  /** DNS label: prefix of the annotations. */
  readonly platform: string;
  /** Where usage comes from. Without it nodes have no usage annotations. */
  readonly ledger?: UsageLedger | undefined;
  /** See `UsageOptions`. */
  readonly mostCountedAtOnce?: number | undefined;
}

export const NODE_STATUS_WORDS = ['running', 'warning', 'unschedulable'] as const;

export type NodeStatusWord = (typeof NODE_STATUS_WORDS)[number];

/** The filters that only nodes have. */
const FILTERS = new Map<string, FilterReader>([['status', statusFilter(NODE_STATUS_WORDS)]]);

/** How many allocatable amounts are remembered, so that nodes of one machine type share them. */
const MOST_AMOUNTS = 20_000;

/** Describes nodes to the list engine. */
export function createNodeKind({ platform, ledger, mostCountedAtOnce }: NodeKindOptions): Kind {
  const amountOf = boundedMemo(MOST_AMOUNTS, (value: unknown) => toAmount(parseQuantity(value) ?? NONE));
  return {
    platform,
    group: '',
    version: 'v1',
    resource: 'nodes',
    kind: 'Node',
    singularName: 'node',
    shortNames: ['no'],
    namespaced: false,
    sortWords: COMMON_SORT_WORDS,
    filters: FILTERS,
    statusOf: nodeStatusWord,
    // The status word comes from spec and status, so a client that gets metadata alone could not derive it.
    statusKey: `node.${platform}.io/status`,
    project: (node) => readAllocatable(node, amountOf),
    ...(ledger && {
      addedKeys: usageKeys(platform),
      decorate: (store) => createUsageDecoration({ platform, ledger, mostCountedAtOnce }, store),
    }),
  };
}

/** Reads `status.allocatable`, never `status.capacity`, which includes what the node reserves for its own programs. */
function readAllocatable(node: KubernetesObject, amountOf: (value: unknown) => Amount): Allocatable {
  const { cpu, memory, pods } = asObject(asObject(node['status'])['allocatable']);
  return { cpu: amountOf(cpu), memory: amountOf(memory), pods: amountOf(pods) };
}

const NONE: Quantity = { nano: 0n, format: 'DecimalSI' };

/** The condition types that decide about `warning`, each with its healthy value. */
const HEALTHY: ReadonlyMap<unknown, string> = new Map([
  ['MemoryPressure', 'False'],
  ['DiskPressure', 'False'],
  ['PIDPressure', 'False'],
  ['NetworkUnavailable', 'False'],
  ['Ready', 'True'],
  ['KubeletReady', 'True'],
  ['ConfigOK', 'True'],
]);

/** The word that the `status` filter compares. Ignores conditions of other types, and members that are not as expected. */
export function nodeStatusWord(node: KubernetesObject): NodeStatusWord {
  if (asObject(node['spec'])['unschedulable'] === true) return 'unschedulable';
  return asArray(asObject(node['status'])['conditions']).some(isUnhealthy) ? 'warning' : 'running';
}

function isUnhealthy(condition: unknown): boolean {
  const { type, status } = asObject(condition);
  const healthy = HEALTHY.get(type);
  return healthy !== undefined && status !== healthy;
}
