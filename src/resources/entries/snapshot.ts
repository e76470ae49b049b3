import type { Leaf } from '../bytes/leaf.ts';
import type { Selection } from '../bytes/list-body.ts';
import { allOf } from '../query/filter.ts';
import type { ListQuery, SortKey, ValueOrder } from '../query/list-query.ts';
import type { Entry } from './entry.ts';

/** All objects at one version. Never changes, so an answer that is composed later still shows one state. */
export class Snapshot {
  readonly version: number;
  readonly size: number;
  /** In the default order. */
  readonly leaves: readonly Leaf<Entry>[];
  readonly #leavesByName: readonly Leaf<Entry>[];
  readonly #leavesByValue: ReadonlyMap<ValueOrder, readonly Leaf<Entry>[]>;
  readonly #sorted = new Map<SortKey, readonly Entry[]>();

  constructor(
    version: number,
    indexes: {
      readonly byCreation: readonly Leaf<Entry>[];
      readonly byName: readonly Leaf<Entry>[];
      readonly byValue: ReadonlyMap<ValueOrder, readonly Leaf<Entry>[]>;
    },
  ) {
    this.version = version;
    this.leaves = indexes.byCreation;
    this.#leavesByName = indexes.byName;
    this.#leavesByValue = indexes.byValue;
    this.size = this.leaves.reduce((sum, leaf) => sum + leaf.entries.length, 0);
  }

  select(query: ListQuery): Selection<Entry> {
    const sorted = this.#inOrder(query.sortBy);
    const matching = query.conditions.length > 0 ? sorted.filter(allOf(query.conditions)) : sorted;
    const total = matching.length;
    const { from, to } = toSlice(query, total);
    const entries = query.ascending ? matching.slice(total - to, total - from).reverse() : matching.slice(from, to);
    return { entries, total };
  }

  /** In the default order. */
  keys(): readonly string[] {
    return this.#inOrder('creationTimestamp').map((entry) => entry.key);
  }

  /** Descending. The leaves are sorted, so this only copies references, once per version. */
  #inOrder(sortBy: SortKey): readonly Entry[] {
    const sorted = this.#sorted.get(sortBy) ?? this.#leavesOf(sortBy).flatMap((leaf) => leaf.entries);
    this.#sorted.set(sortBy, sorted);
    return sorted;
  }

  #leavesOf(sortBy: SortKey): readonly Leaf<Entry>[] {
    if (sortBy === 'creationTimestamp') return this.leaves;
    const leaves = sortBy === 'name' ? this.#leavesByName : this.#leavesByValue.get(sortBy);
    if (leaves) return leaves;
    throw new Error(`the store has no order for ${JSON.stringify(sortBy)}`);
  }
}

/** Page p of limit n is the half-open slice [(p-1)n, pn), clipped to what is there; a limit of -1 is everything. */
function toSlice({ limit, page }: ListQuery, total: number): { readonly from: number; readonly to: number } {
  if (limit === -1n) return { from: 0, to: total };
  if (limit <= 0n || page <= 0n) return { from: 0, to: 0 };
  // Exact integers: a product of two 64-bit numbers would lose digits as a double and wrap around in 64 bits.
  const from = (page - 1n) * limit;
  const count = BigInt(total);
  if (from >= count) return { from: 0, to: 0 };
  const to = from + limit;
  return { from: Number(from), to: to < count ? Number(to) : total };
}
