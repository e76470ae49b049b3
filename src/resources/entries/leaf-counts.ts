import type { Leaf } from '../bytes/leaf.ts';
import { allOf, type Condition } from '../query/filter.ts';
import type { SortKey } from '../query/list-query.ts';
import type { Within } from '../query/within.ts';
import type { Entry } from './entry.ts';

/** Which entries of a list are chosen, and in which order they are read. */
export interface Choice {
  readonly conditions: readonly Condition[];
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
 * The choices that are kept for a list. 64, as many as queries that are kept with their parsed form. A choice among 150,000 small objects
 * takes 20 kB, so 1.5 MB are taken at most by a list of that size.
 */
const MOST_KEPT = 64;

/** So far from its old place a leaf is looked for. Each cut of a leaf, and each two that became one, move those after it by one place. */
const MOST_MOVED = 4;

/**
 * Counts the chosen entries of each leaf and keeps the counts. A leaf never changes, so after a change of the list only the new leaves are
 * counted: a page of a filtered list costs the entries of a few leaves and not those of the whole list.
 */
export class KeptCounts {
  readonly #place: (entry: Entry) => string;
  /** The last used comes first. */
  readonly #kept: { readonly choice: Choice; counts: LeafCounts }[] = [];

  /** `place`: the name by which `Within` has an entry. */
  constructor(place: (entry: Entry) => string) {
    this.#place = place;
  }

  /** The conditions may not depend on other objects: their answer for an entry must never change. */
  of(choice: Choice, leaves: readonly Leaf<Entry>[]): LeafCounts {
    const at = this.#kept.findIndex((one) => isSame(one.choice, choice));
    const [known] = at < 0 ? [] : this.#kept.splice(at, 1);
    const counts = known?.counts.leaves === leaves ? known.counts : counted(leaves, this.chosen(choice), known?.counts);
    this.#kept.unshift({ choice, counts });
    this.#kept.length = Math.min(this.#kept.length, MOST_KEPT);
    return counts;
  }

  /** Counts without keeping anything. */
  once(choice: Choice, leaves: readonly Leaf<Entry>[]): LeafCounts {
    return counted(leaves, this.chosen(choice), undefined);
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
}

/** A query that is asked again is the same object with the same conditions, unless it has none. */
const isSame = (a: Choice, b: Choice): boolean =>
  (a.conditions === b.conditions || (a.conditions.length === 0 && b.conditions.length === 0)) &&
  a.within === b.within &&
  a.sortBy === b.sortBy;

function counted(
  leaves: readonly Leaf<Entry>[],
  holds: (entry: Entry) => boolean,
  before: LeafCounts | undefined,
): LeafCounts {
  const counts = new Uint32Array(leaves.length);
  let total = 0;
  /** How far the leaves have moved from their old places so far. */
  let moved = 0;
  for (const [at, leaf] of leaves.entries()) {
    const old = before ? placeBefore(before.leaves, leaf, at - moved) : -1;
    if (old >= 0) moved = at - old;
    const count = old >= 0 ? (before?.counts[old] as number) : countIn(leaf, holds);
    counts[at] = count;
    total += count;
  }
  return { leaves, counts, total, holds };
}

/** Where the leaf was, at or near the place `expected`. -1: not there. */
function placeBefore(leaves: readonly Leaf<Entry>[], leaf: Leaf<Entry>, expected: number): number {
  for (let away = 0; away <= MOST_MOVED; away++) {
    if (leaves[expected + away] === leaf) return expected + away;
    if (leaves[expected - away] === leaf) return expected - away;
  }
  return -1;
}

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
