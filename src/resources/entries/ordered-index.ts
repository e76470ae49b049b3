import type { Steps } from '../../runtime/time-slices.ts';
import { Leaf } from '../bytes/leaf.ts';
import type { SortKey } from '../query/list-query.ts';
import type { Entry } from './entry.ts';

/**
 * A full leaf is cut in two. Of 12 kB nodes, 16 to 32 make a leaf of 190 to 380 kB: 1 to 3 ms to deflate when one of them
 * changed, 160 to 310 pieces for 5,000 nodes. 64 compress 16 % better and double what a change costs; 16 compress 31 % worse
 * (docs/decisions/0012-leaf-size-and-compression.md).
 */
const LEAF_CAPACITY = 32;

/** How full leaves are made that are made all at once: a quarter is left for objects that come. */
const LEAF_FILL = (LEAF_CAPACITY * 3) / 4;

/** Below 0: `a` comes first. Total over the objects of a kind. */
export type Order = (a: Entry, b: Entry) => number;

// Names are ASCII (RFC 1123), so the order of code units is the order of bytes.
const descending = (a: string, b: string): number => (a < b ? 1 : a > b ? -1 : 0);
const byNameDescending: Order = (a, b) => descending(a.name, b.name) || descending(a.namespace, b.namespace);

/** The two orders a list may have; the ascending ones are their exact reverse. */
export const ORDERS: Readonly<Record<SortKey, Order>> = {
  name: byNameDescending,
  creationTimestamp: (a, b) =>
    a.createdAt === b.createdAt ? byNameDescending(a, b) : a.createdAt < b.createdAt ? 1 : -1,
};

/** The entries in one order, kept sorted. What `leaves` returned is never changed. */
export class OrderedIndex {
  readonly #order: Order;
  #leaves: readonly Leaf<Entry>[] = [];

  constructor(order: Order) {
    this.#order = order;
  }

  get leaves(): readonly Leaf<Entry>[] {
    return this.#leaves;
  }

  /** The same order and entries, to be changed apart from this one. They share their leaves. */
  copy(): OrderedIndex {
    const copy = new OrderedIndex(this.#order);
    copy.#leaves = this.#leaves;
    return copy;
  }

  /** These entries and no others. One sort, where as many puts would copy the list of leaves as many times. */
  *fillInSteps(entries: readonly Entry[]): Steps<void> {
    const sorted = yield* sortedInSteps(entries, this.#order);
    const leaves: Leaf<Entry>[] = [];
    for (let at = 0; at < sorted.length; at += LEAF_FILL) {
      leaves.push(new Leaf(sorted.slice(at, at + LEAF_FILL)));
      yield;
    }
    this.#leaves = leaves;
  }

  /** `previous` is the entry of the same name that it replaces. */
  put(entry: Entry, previous: Entry | undefined): void {
    if (previous && this.#order(previous, entry) !== 0) this.remove(previous);
    const { leafAt, at, found } = this.#find(entry);
    const entries = (this.#leaves[leafAt]?.entries ?? []).toSpliced(at, found ? 1 : 0, entry);
    const half = entries.length > LEAF_CAPACITY ? LEAF_CAPACITY / 2 : entries.length;
    this.#swap(leafAt, 1, [entries.slice(0, half), entries.slice(half)]);
  }

  remove(entry: Entry): void {
    const { leafAt, at, found } = this.#find(entry);
    if (!found) return;
    const entries = (this.#leaves[leafAt]?.entries ?? []).toSpliced(at, 1);
    const next = this.#leaves[leafAt + 1]?.entries ?? [];
    // Two thin neighbours become one, so that many removals do not leave many small leaves behind.
    const isThin = entries.length > 0 && entries.length + next.length <= LEAF_CAPACITY / 2;
    if (isThin) this.#swap(leafAt, 2, [[...entries, ...next]]);
    else this.#swap(leafAt, 1, [entries]);
  }

  /** Puts leaves of these contents, empty ones aside, in the place of `count` leaves. */
  #swap(leafAt: number, count: number, contents: readonly (readonly Entry[])[]): void {
    const leaves = contents.filter((entries) => entries.length > 0).map((entries) => new Leaf(entries));
    this.#leaves = this.#leaves.toSpliced(leafAt, count, ...leaves);
  }

  /** Where the entry is, or where it belongs. */
  #find(entry: Entry): { leafAt: number; at: number; found: boolean } {
    const leavesBefore = countBefore(
      this.#leaves,
      (leaf) => leaf.entries[0] !== undefined && this.#order(leaf.entries[0], entry) <= 0,
    );
    const leafAt = Math.max(0, leavesBefore - 1);
    const entries = this.#leaves[leafAt]?.entries ?? [];
    const at = countBefore(entries, (other) => this.#order(other, entry) < 0);
    const other = entries[at];
    return { leafAt, at, found: other !== undefined && this.#order(other, entry) === 0 };
  }
}

/** Entries that are sorted or merged in one step: 0.3 ms. */
const SORTED_RUN = 512;

/** A merge sort: runs in one step each, then merged two by two. */
function* sortedInSteps(entries: readonly Entry[], order: Order): Steps<readonly Entry[]> {
  let runs: Entry[][] = [];
  for (let at = 0; at < entries.length; at += SORTED_RUN) {
    runs.push(entries.slice(at, at + SORTED_RUN).sort(order));
    yield;
  }
  while (runs.length > 1) {
    const merged: Entry[][] = [];
    for (let at = 0; at < runs.length; at += 2) merged.push(yield* merge(runs[at] ?? [], runs[at + 1] ?? [], order));
    runs = merged;
  }
  return runs[0] ?? [];
}

function* merge(first: readonly Entry[], second: readonly Entry[], order: Order): Steps<Entry[]> {
  const merged: Entry[] = [];
  let at = 0;
  while (merged.length < first.length + second.length) {
    const [one, other] = [first[at], second[merged.length - at]];
    const isFirst = one !== undefined && (other === undefined || order(one, other) <= 0);
    merged.push((isFirst ? one : other) as Entry);
    if (isFirst) at++;
    if (merged.length % SORTED_RUN === 0) yield;
  }
  return merged;
}

/** How many leading items satisfy a condition that, once false, stays false. Binary search. */
function countBefore<Item>(items: readonly Item[], isBefore: (item: Item) => boolean): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const item = items[middle];
    if (item !== undefined && isBefore(item)) low = middle + 1;
    else high = middle;
  }
  return low;
}
