import { asObject } from '../kubernetes/json.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import type { Kind } from '../resources/entries/kind.ts';
import { type FilterReader, statusFilter } from '../resources/query/filter.ts';
import { COMMON_SORT_WORDS } from '../resources/query/list-query.ts';
import { NODE_STATUS_WORDS, nodeStatusWord } from './node-status.ts';
import { parseQuantity } from './usage/quantity.ts';
import { type Allocatable, usageKeys } from './usage/usage-annotations.ts';
import { UsageDecoration } from './usage/usage-decoration.ts';
import type { UsageLedger } from './usage/usage-ledger.ts';

export interface NodeKindOptions {
  /** DNS label: prefix of the annotations. */
  readonly platform: string;
  /** Where usage comes from; without one nodes are answered without usage annotations. */
  readonly ledger?: UsageLedger | undefined;
  /** As `UsageOptions`. */
  readonly mostCountedAtOnce?: number | undefined;
}

/** The filters that only nodes have. */
const FILTERS = new Map<string, FilterReader>([['status', statusFilter(NODE_STATUS_WORDS)]]);

/** What the list engine is told of nodes. */
export function createNodeKind({ platform, ledger, mostCountedAtOnce }: NodeKindOptions): Kind {
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
    // It is made of spec and status, which are left out where only metadata is asked for.
    statusKey: `node.${platform}.io/status`,
    project: readAllocatable,
    ...(ledger && {
      addedKeys: usageKeys(platform),
      decorate: (store) => new UsageDecoration({ platform, ledger, mostCountedAtOnce }, store),
    }),
  };
}

/** `status.allocatable` only: capacity is no substitute. */
function readAllocatable(node: KubernetesObject): Allocatable {
  const { cpu, memory } = asObject(asObject(node['status'])['allocatable']);
  return { cpu: parseQuantity(cpu)?.nano ?? 0n, memory: parseQuantity(memory)?.nano ?? 0n };
}
