import type { Selector } from './selector.ts';

export type NodeStatusWord = 'running' | 'warning' | 'unschedulable';

/** A list request's parameters, parsed once. Absent conditions match everything. */
export interface NodeListQuery {
  /** -1: all. Exact integers up to 64 bits. */
  readonly limit: bigint;
  /** From 1. */
  readonly page: bigint;
  readonly sortBy: 'name' | 'creationTimestamp';
  readonly ascending: boolean;
  readonly filters: NodeFilters;
}

export interface NodeFilters {
  readonly labelSelector?: Selector;
  readonly label?: Selector;
  readonly annotation?: Selector;
  readonly name?: string;
  readonly names?: readonly string[];
  readonly alias?: string;
  readonly uid?: string;
  readonly namespace?: string;
  readonly ownerReference?: string;
  readonly ownerKind?: string;
  readonly status?: NodeStatusWord;
}
