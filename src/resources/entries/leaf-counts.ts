import type { Leaf } from '../bytes/leaf.ts';
import { allOf } from '../query/filter.ts';
import type { ChosenObjects, SortKey } from '../query/list-query.ts';
import type { Within } from '../query/within.ts';
import type { Entry } from './entry.ts';

/** Which entries of a list are chosen, and in which order they are read. */
export interface Choice extends ChosenObjects {
  /** Absent: the caller may see all. */
  readonly within: Within | undefined;
  readonly sortBy: SortKey;
}

/** Leaves in one order, and how many entries of each are chosen. */
export interface LeafCounts {
  readonly leaves: readonly Leaf<Entry>[];
  readonly counts: Uint32Array;
  readonly total: number;
  /** Whether an entry is chosen. */
  readonly holds: (entry: Entry) => boolean;
}

/**
 * How many choices are kept for a list. In each leaf they take 8 bytes each, and in each order of the list as many again while they are
 * used: 2.5 MB for 150,000 pods of 4 kB, which are 6,000 leaves.
 */
const MOST_KEPT = 32;

/** In a leaf's cells each slot has the number of the choice that it was counted for, and the count. */
const CELLS_A_SLOT = 2;

/** A choice without what decides about it: the same text means the same entries, today as a minute later. */
interface NamedChoice {
  readonly filterKey: string;
  /** The id of a scope, which names its namespaces. Without an id, the namespace of the path. */
  readonly scope: Within | string | undefined;
  readonly sortBy: SortKey;
}

interface KeptChoice extends NamedChoice {
  /** Where its counts are in the cells of a leaf. */
  readonly slot: number;
  /** Tells it apart from the choices that had the slot before. */
  readonly number: number;
  /** Weak, because a choice that nobody asks for any more must not keep the objects of its time in memory. */
  leaves: WeakRef<readonly Leaf<Entry>[]>;
  counts: Uint32Array;
  total: number;
}

/**
 * Counts the chosen entries of each leaf and keeps the counts with the leaf. A leaf never changes, so after a change of the list only the
 * new leaves are counted: a page of a filtered list costs the entries of a few leaves and not those of the whole list.
 */
export class KeptCounts {
  readonly #place: (entry: Entry) => string;
  readonly #cells = new WeakMap<Leaf<Entry>, Uint32Array>();
  /** The last used comes first. */
  readonly #kept: KeptChoice[] = [];
  #choices = 0;

  /** `place`: the name by which `Within` has an entry. */
  constructor(place: (entry: Entry) => string) {
    this.#place = place;
  }

  /** The conditions may not depend on other objects: their answer for an entry must never change. */
  of(choice: Choice, leaves: readonly Leaf<Entry>[]): LeafCounts {
    const holds = this.chosen(choice);
    const kept = this.#keptFor(choice);
    if (kept.leaves.deref() !== leaves) {
      kept.counts = Uint32Array.from(leaves, (leaf) => this.#countIn(leaf, kept, holds));
      kept.total = sum(kept.counts);
      kept.leaves = new WeakRef(leaves);
    }
    return { leaves, counts: kept.counts, total: kept.total, holds };
  }

  /** Counts without keeping anything. */
  once(choice: Choice, leaves: readonly Leaf<Entry>[]): LeafCounts {
    const holds = this.chosen(choice);
    const counts = Uint32Array.from(leaves, (leaf) => countIn(leaf, holds));
    return { leaves, counts, total: sum(counts), holds };
  }

  /** Whether an entry is chosen. */
  chosen({ conditions, within }: Choice): (entry: Entry) => boolean {
    const place = this.#place;
    if (!within) return allOf(conditions);
    const { names } = within;
    if (conditions.length === 0) return (entry) => names.has(place(entry));
    const holds = allOf(conditions);
    return (entry) => names.has(place(entry)) && holds(entry);
  }

  #keptFor({ filterKey, within, sortBy }: Choice): KeptChoice {
    const named: NamedChoice = { filterKey, scope: within?.id ?? within, sortBy };
    const at = this.#kept.findIndex((one) => isSame(one, named));
    const [known = this.#begin(named)] = at < 0 ? [] : this.#kept.splice(at, 1);
    this.#kept.unshift(known);
    return known;
  }

  /** A new choice takes the place of the one that was used longest ago. */
  #begin(named: NamedChoice): KeptChoice {
    const slot = (this.#kept.length < MOST_KEPT ? undefined : this.#kept.pop()?.slot) ?? this.#kept.length;
    return { ...named, slot, number: ++this.#choices, leaves: new WeakRef([]), counts: new Uint32Array(0), total: 0 };
  }

  #countIn(leaf: Leaf<Entry>, { slot, number }: KeptChoice, holds: (entry: Entry) => boolean): number {
    const cells = this.#cells.get(leaf) ?? new Uint32Array(MOST_KEPT * CELLS_A_SLOT);
    const at = slot * CELLS_A_SLOT;
    if (cells[at] !== number) {
      cells[at] = number;
      cells[at + 1] = countIn(leaf, holds);
      this.#cells.set(leaf, cells);
    }
    return cells[at + 1] as number;
  }
}

const isSame = (a: NamedChoice, b: NamedChoice): boolean =>
  a.filterKey === b.filterKey && a.scope === b.scope && a.sortBy === b.sortBy;

const sum = (counts: Uint32Array): number => counts.reduce((all, count) => all + count, 0);

function countIn({ entries }: Leaf<Entry>, holds: (entry: Entry) => boolean): number {
  let count = 0;
  for (const entry of entries) if (holds(entry)) count++;
  return count;
}

/** The half-open range `[from, to)` of the chosen entries in their order or, if `ascending`, in the reverse of it. */
export interface PageSlice {
  readonly from: number;
  readonly to: number;
  readonly ascending: boolean;
}

/** Reads only the leaves in which the slice has entries. */
export function sliceOf({ leaves, counts, holds }: LeafCounts, { from, to, ascending }: PageSlice): Entry[] {
  const slice: Entry[] = [];
  let seen = 0;
  for (let step = 0; step < leaves.length && seen < to; step++) {
    const at = ascending ? leaves.length - 1 - step : step;
    const count = counts[at] as number;
    if (seen + count > from && count > 0) {
      const { entries } = leaves[at] as Leaf<Entry>;
      const chosen = count === entries.length ? entries : entries.filter(holds);
      const [first, end] = [Math.max(0, from - seen), Math.min(count, to - seen)];
      if (ascending) for (let one = first; one < end; one++) slice.push(chosen[count - 1 - one] as Entry);
      else for (let one = first; one < end; one++) slice.push(chosen[one] as Entry);
    }
    seen += count;
  }
  return slice;
}
