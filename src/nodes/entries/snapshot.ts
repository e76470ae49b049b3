import type { Leaf } from '../bytes/leaf.ts';
import { toNodeFilter } from '../query/filter.ts';
import type { NodeListQuery } from '../query/list-query.ts';
import type { NodeEntry } from './entry.ts';

/** What one list answers. */
export interface Selection {
  readonly entries: readonly NodeEntry[];
  /** After filters, before paging. */
  readonly total: number;
}

/** All nodes at one version. Never changes, so an answer that is composed later still shows one state. */
export class NodeSnapshot {
  readonly version: number;
  readonly size: number;
  /** In the default order. */
  readonly leaves: readonly Leaf[];
  readonly #leavesByName: readonly Leaf[];
  readonly #sorted: { [order in NodeListQuery['sortBy']]?: readonly NodeEntry[] } = {};

  constructor(version: number, indexes: { readonly byCreation: readonly Leaf[]; readonly byName: readonly Leaf[] }) {
    this.version = version;
    this.leaves = indexes.byCreation;
    this.#leavesByName = indexes.byName;
    this.size = this.leaves.reduce((sum, leaf) => sum + leaf.entries.length, 0);
  }

  select(query: NodeListQuery, aliasKey: string): Selection {
    const sorted = this.#inOrder(query.sortBy);
    const isFiltered = Object.keys(query.filters).length > 0;
    const matching = isFiltered ? sorted.filter(toNodeFilter(query.filters, aliasKey)) : sorted;
    const total = matching.length;
    const { from, to } = toSlice(query, total);
    const entries = query.ascending ? matching.slice(total - to, total - from).reverse() : matching.slice(from, to);
    return { entries, total };
  }

  /** In the default order. */
  names(): readonly string[] {
    return this.#inOrder('creationTimestamp').map((entry) => entry.key);
  }

  /** Descending. The leaves are sorted, so this is one copy of references a version. */
  #inOrder(sortBy: NodeListQuery['sortBy']): readonly NodeEntry[] {
    const leaves = sortBy === 'name' ? this.#leavesByName : this.leaves;
    this.#sorted[sortBy] ??= leaves.flatMap((leaf) => leaf.entries);
    return this.#sorted[sortBy];
  }
}

/** Page p of limit n is the half-open slice [(p-1)n, pn), clipped to what is there; a limit of -1 is everything. */
function toSlice({ limit, page }: NodeListQuery, total: number): { readonly from: number; readonly to: number } {
  if (limit === -1n) return { from: 0, to: total };
  if (limit <= 0n || page <= 0n) return { from: 0, to: 0 };
  // Exact integers: a product of two 64-bit numbers would lose digits as a double and wrap around in 64 bits.
  const from = (page - 1n) * limit;
  const count = BigInt(total);
  if (from >= count) return { from: 0, to: 0 };
  const to = from + limit;
  return { from: Number(from), to: to < count ? Number(to) : total };
}
