import { LIST_PARAMETERS } from './list-parameters.ts';
import { readParameters } from './read-parameters.ts';
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
  /** Of a watch: what its field selector says of a node's name. */
  readonly fields?: (name: string) => boolean;
}

/** Reads the text behind the `?` (empty when there is none). Throws one 400 that names every bad parameter in query order. */
export function parseNodeListQuery(queryString: string): NodeListQuery {
  let query: NodeListQuery = { limit: -1n, page: 1n, sortBy: 'creationTimestamp', ascending: false, filters: {} };
  for (const setting of readParameters(queryString, LIST_PARAMETERS)) {
    if ('filter' in setting) query = { ...query, filters: { ...query.filters, ...setting.filter } };
    else query = { ...query, ...setting };
  }
  return query;
}
