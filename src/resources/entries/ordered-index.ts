import type { Steps } from '../../runtime/time-slices.ts';
import { Leaf } from '../bytes/leaf.ts';
import type { KeptOrder, SortKey, ValueOrder } from '../query/list-query.ts';
import type { Entry } from './entry.ts';
import { NamespaceIndex } from './namespace-index.ts';

/**
 * Entries by key and in every order of their kind. A copy is cheap and separate from the original, so a large change can be made in a copy
 * and shown at once.
 */
export class Content {
  readonly byCreation: OrderedIndex;
  readonly byName: OrderedIndex;
  readonly byNamespace: NamespaceIndex;
  readonly byValue: ReadonlyMap<ValueOrder, OrderedIndex>;
  readonly #kind: ContentKind;
  readonly #entries: Map<string, Entry>;

  /** `of`: what it copies. */
  constructor(kind: ContentKind, of?: Content) {
    this.#kind = kind;
    this.byCreation = of?.byCreation.copy() ?? new OrderedIndex(ORDERS.creationTimestamp);
    this.byName = of?.byName.copy() ?? new OrderedIndex(ORDERS.name);
    this.byNamespace = new NamespaceIndex(of?.byNamespace);
    this.byValue = new Map(
      [...kind.orders].map((order) => [order, of?.byValue.get(order)?.copy() ?? new OrderedIndex(orderOf(order))]),
    );
    this.#entries = new Map(of ? of.#entries : []);
  }

  copy(): Content {
    return new Content(this.#kind, this);
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): Entry | undefined {
    return this.#entries.get(key);
  }

  entries(): IterableIterator<Entry> {
    return this.#entries.values();
  }

  put(entry: Entry): void {
    const previous = this.#entries.get(entry.key);
    this.#entries.set(entry.key, entry);
    const leaf = this.byCreation.put(entry, previous);
    // A buffer stays as long as one entry has its bytes there: Node's pool, from which a text of some kB comes, and that of a leaf.
    if (leaf && isLoose(leaf)) this.#gather(leaf);
    else if (bringsBytes(entry, previous)) entry.encoded.moveOut();
    this.byName.put(entry, previous);
    this.byNamespace.put(entry, previous);
    for (const index of this.byValue.values()) index.put(entry, previous);
  }

  remove(key: string): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    this.#entries.delete(key);
    const leaf = this.byCreation.remove(entry);
    if (leaf && isLoose(leaf)) this.#gather(leaf);
    this.byName.remove(entry);
    this.byNamespace.remove(entry);
    for (const index of this.byValue.values()) index.remove(entry);
  }

  /** Puts all of them. This is cheaper than single `put`s if most leaves change. */
  *putAll(entries: readonly Entry[]): Steps<void> {
    for (const entry of entries) {
      this.byNamespace.put(entry, this.#entries.get(entry.key));
      this.#entries.set(entry.key, entry);
    }
    const all = [...this.#entries.values()];
    yield* this.byCreation.fillInSteps(all);
    // Each object came with bytes of its own, in an 8 kB piece of Node's pool that it may fill by half. Together they take what they have.
    for (const leaf of this.byCreation.leaves) {
      this.#gather(leaf);
      yield;
    }
    yield* this.byName.fillInSteps(all);
    for (const index of this.byValue.values()) yield* index.fillInSteps(all);
  }

  #gather(leaf: Leaf<Entry>): void {
    if (this.#kind.isPacked && leaf.length <= LONGEST_PACKED) leaf.pack();
    else leaf.joined();
  }
}

/** In one turn of the event loop. A leaf of 32 objects with the most metadata that Kubernetes takes, 8 MB, would take 100 ms. */
const LONGEST_PACKED = 512 * 1024;

/** What the content of a list depends on. */
interface ContentKind {
  /** The orders that only this kind has. */
  readonly orders: Iterable<ValueOrder>;
  /** Whether texts are kept deflated. */
  readonly isPacked: boolean;
}

/**
 * When more than a quarter of a leaf's entries changed, all are copied into one buffer: 130 kB are copied for eight changes, and not more
 * than a third of the bytes is lost.
 */
const MOST_LOOSE = 1 / 4;

const isLoose = ({ loose, entries }: Leaf<Entry>): boolean => loose > entries.length * MOST_LOOSE;

/**
 * A leaf that has both more objects than this and more bytes than `MOST_BYTES` is cut in two. 16 to 32 nodes of 12 kB make a
 * leaf of 190 to 380 kB: it takes 1 to 3 ms to deflate when one of them changed, and 5,000 nodes are 160 to 310 pieces. A limit
 * of 64 compresses 16 % better and doubles what a change costs; 16 compresses 31 % worse
 * (docs/decisions/0012-leaf-size-and-compression.md).
 */
const MOST_OBJECTS = 32;

/**
 * Small objects share a leaf until they have this many bytes. With the other limit alone, 5,000 namespaces of 1 kB would be
 * 210 pieces of 21 kB, and each piece costs a write.
 */
const MOST_BYTES = 128 * 1024;

/** How full leaves are when all are made at once. A quarter is left free for objects that come. */
const FILL = 3 / 4;

/** Two neighbouring leaves become one if both together are no fuller than this. So the new leaf is not soon cut again. */
const THIN = 1 / 2;

/** Whether both the objects and their bytes exceed this part of the limits. */
const exceeds = ({ objects, bytes }: { objects: number; bytes: number }, part: number): boolean =>
  objects > MOST_OBJECTS * part && bytes > MOST_BYTES * part;

/** Below 0: `a` comes first. Never 0 for two objects of a kind. */
export type Order = (a: Entry, b: Entry) => number;

// Names are ASCII (RFC 1123), so the order of code units is the order of bytes.
const descending = (a: string, b: string): number => (a < b ? 1 : a > b ? -1 : 0);
const byNameDescending: Order = (a, b) => descending(a.name, b.name) || descending(a.namespace, b.namespace);

/** The orders that every list may have; the ascending ones are their exact reverse. */
export const ORDERS: Readonly<Record<KeptOrder, Order>> = {
  name: byNameDescending,
  creationTimestamp: (a, b) =>
    a.createdAt === b.createdAt ? byNameDescending(a, b) : a.createdAt < b.createdAt ? 1 : -1,
};

/** The order of a list, descending. Objects of equal value are in the order of their names. */
export function orderOf(key: SortKey): Order {
  if (typeof key === 'string') return ORDERS[key];
  return (a, b) => {
    const [one, other] = [key.value(a), key.value(b)];
    return one === other ? byNameDescending(a, b) : one < other ? 1 : -1;
  };
}

/** False if only added annotations changed: then the text is still where it was. */
const bringsBytes = (entry: Entry, previous: Entry | undefined): boolean =>
  !previous?.encoded.sharesBuffer(entry.encoded);

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

  /** A copy, which can change without this one. Both share their leaves. */
  copy(): OrderedIndex {
    const copy = new OrderedIndex(this.#order);
    copy.#leaves = this.#leaves;
    return copy;
  }

  /** Replaces all entries by one sort. A single `put` for each would copy the list of leaves each time. */
  *fillInSteps(entries: readonly Entry[]): Steps<void> {
    const sorted = yield* sortedInSteps(entries, this.#order);
    const leaves: Leaf<Entry>[] = [];
    for (let from = 0; from < sorted.length; ) {
      const to = endOfLeaf(sorted, from);
      leaves.push(new Leaf(sorted.slice(from, to)));
      from = to;
      yield;
    }
    this.#leaves = leaves;
  }

  /** `previous` is the entry with the same key that it replaces. Returns the leaf in which the entry is now, unless that was cut in two. */
  put(entry: Entry, previous: Entry | undefined): Leaf<Entry> | undefined {
    if (previous && this.#order(previous, entry) !== 0) this.remove(previous);
    const { leafAt, at, found } = this.#find(entry);
    const before = this.#leaves[leafAt];
    const entries = (before?.entries ?? []).toSpliced(at, found ? 1 : 0, entry);
    const half = exceeds(sizeOf(entries), 1) ? entries.length >>> 1 : entries.length;
    const loose = (before?.loose ?? 0) + (bringsBytes(entry, previous) ? 1 : 0);
    this.#swap(leafAt, 1, [entries.slice(0, half), entries.slice(half)], loose);
    return half === entries.length ? this.#leaves[leafAt] : undefined;
  }

  /** Returns the leaf that has the neighbours of the entry now. */
  remove(entry: Entry): Leaf<Entry> | undefined {
    const { leafAt, at, found } = this.#find(entry);
    if (!found) return undefined;
    const entries = (this.#leaves[leafAt]?.entries ?? []).toSpliced(at, 1);
    const both = [...entries, ...(this.#leaves[leafAt + 1]?.entries ?? [])];
    // Two thin neighbours become one, so that many removals do not leave many small leaves behind.
    const loose = (this.#leaves[leafAt]?.loose ?? 0) + 1;
    if (entries.length > 0 && !exceeds(sizeOf(both), THIN)) this.#swap(leafAt, 2, [both], both.length);
    else this.#swap(leafAt, 1, [entries], loose);
    return entries.length > 0 ? this.#leaves[leafAt] : undefined;
  }

  /** Replaces `count` leaves with leaves of these contents, which have so many loose entries. Empty ones are left out. */
  #swap(leafAt: number, count: number, contents: readonly (readonly Entry[])[], loose: number): void {
    const leaves = contents.filter((entries) => entries.length > 0).map((entries) => new Leaf(entries, loose));
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

const sizeOf = (entries: readonly Entry[]): { objects: number; bytes: number } => ({
  objects: entries.length,
  bytes: entries.reduce((sum, { encoded }) => sum + encoded.length, 0),
});

/** The end of the leaf that starts at `from`, when all leaves are made at once. */
function endOfLeaf(sorted: readonly Entry[], from: number): number {
  let bytes = 0;
  for (let to = from; to < sorted.length; to++) {
    bytes += sorted[to]?.encoded.length ?? 0;
    if (exceeds({ objects: to + 1 - from, bytes }, FILL)) return Math.max(from + 1, to);
  }
  return sorted.length;
}

/** How many entries are sorted or merged in one step: 0.3 ms. */
const SORTED_RUN = 512;

/** A merge sort: each run is sorted in one step, then the runs are merged two by two. */
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

/** Counts the leading items for which `isBefore` is true, by binary search. It must be false for all items after them. */
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
