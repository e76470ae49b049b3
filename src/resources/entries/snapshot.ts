import type { Leaf } from '../bytes/leaf.ts';
import type { Selection } from '../bytes/list-body.ts';
import { allOf } from '../query/filter.ts';
import type { ListQuery, SortKey, ValueOrder } from '../query/list-query.ts';
import type { Within } from '../query/within.ts';
import type { Entry } from './entry.ts';
import type { NamespaceIndex } from './namespace-index.ts';
import { orderOf } from './ordered-index.ts';

/** All objects at one version. Never changes, so an answer that is composed later still shows one state. */
export class Snapshot {
  readonly version: number;
  readonly size: number;
  /** In the default order. */
  readonly leaves: readonly Leaf<Entry>[];
  readonly #leavesByName: readonly Leaf<Entry>[];
  readonly #byNamespace: NamespaceIndex;
  /** The entries in order that a caller may see, for each caller who asked since this version. */
  readonly #visible = new WeakMap<Within, Map<SortKey, readonly Entry[]>>();
  readonly #leavesByValue: ReadonlyMap<ValueOrder, readonly Leaf<Entry>[]>;
  readonly #sorted = new Map<SortKey, readonly Entry[]>();

  /** `byNamespace` changes with the store, so `select` may be called only while the snapshot is the present one. */
  constructor(
    version: number,
    indexes: {
      readonly byCreation: readonly Leaf<Entry>[];
      readonly byName: readonly Leaf<Entry>[];
      readonly byNamespace: NamespaceIndex;
      readonly byValue: ReadonlyMap<ValueOrder, readonly Leaf<Entry>[]>;
    },
  ) {
    this.version = version;
    this.leaves = indexes.byCreation;
    this.#leavesByName = indexes.byName;
    this.#byNamespace = indexes.byNamespace;
    this.#leavesByValue = indexes.byValue;
    this.size = this.leaves.reduce((sum, leaf) => sum + leaf.entries.length, 0);
  }

  /** `within` are the namespaces whose objects the caller may see; absent: all. */
  select(query: ListQuery, within?: Within): Selection<Entry> {
    if (within && query.conditions.length === 0) return this.#pageWithin(query, within);
    const sorted = within ? this.#inOrderWithin(query.sortBy, within) : this.#inOrder(query.sortBy);
    const matching = query.conditions.length > 0 ? sorted.filter(allOf(query.conditions)) : sorted;
    const total = matching.length;
    const { from, to } = toSlice(query, total);
    const entries = query.ascending ? matching.slice(total - to, total - from).reverse() : matching.slice(from, to);
    return { entries, total };
  }

  /**
   * A page without filters. Its total comes from the counts of the namespaces, so in a list of 150,000 objects of which the caller may
   * see many, only the objects before the end of the page are looked at.
   */
  #pageWithin(query: ListQuery, within: Within): Selection<Entry> {
    const total = this.#byNamespace.count(within.names);
    const { from, to } = toSlice(query, total);
    if (total < this.size * SPARSE || to - from > MOST_LOOKED_UP) {
      const sorted = this.#inOrderWithin(query.sortBy, within);
      const entries = query.ascending ? sorted.slice(total - to, total - from).reverse() : sorted.slice(from, to);
      return { entries, total };
    }
    const leaves = this.#leavesOf(query.sortBy);
    return { entries: visibleSlice(leaves, within, { from, to, ascending: query.ascending }), total };
  }

  /** Descending. */
  #inOrderWithin(sortBy: SortKey, within: Within): readonly Entry[] {
    const known = this.#visible.get(within) ?? new Map();
    this.#visible.set(within, known);
    const sorted = known.get(sortBy) ?? this.#sortWithin(sortBy, within.names);
    known.set(sortBy, sorted);
    return sorted;
  }

  #sortWithin(sortBy: SortKey, names: ReadonlySet<string>): readonly Entry[] {
    if (this.#byNamespace.count(names) < this.size * SPARSE) return this.#byNamespace.in(names).sort(orderOf(sortBy));
    return this.#inOrder(sortBy).filter(({ namespace }) => names.has(namespace));
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

/** Below this share of all objects, it is cheaper to sort those that the caller may see than to pick them out of all. */
const SPARSE = 1 / 16;
/** A longer page is cut from the sorted copy, which the next page uses again. */
const MOST_LOOKED_UP = 1_000;

interface VisibleSlice {
  readonly from: number;
  readonly to: number;
  readonly ascending: boolean;
}

/** The entries `[from, to)` of those that the caller may see. */
function visibleSlice(
  leaves: readonly Leaf<Entry>[],
  { names }: Within,
  { from, to, ascending }: VisibleSlice,
): Entry[] {
  const slice: Entry[] = [];
  let seen = 0;
  for (let leafAt = 0; leafAt < leaves.length && seen < to; leafAt++) {
    const { entries } = leaves[ascending ? leaves.length - 1 - leafAt : leafAt] as Leaf<Entry>;
    for (let at = 0; at < entries.length && seen < to; at++) {
      const entry = entries[ascending ? entries.length - 1 - at : at] as Entry;
      if (!names.has(entry.namespace)) continue;
      if (seen++ >= from) slice.push(entry);
    }
  }
  return slice;
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
