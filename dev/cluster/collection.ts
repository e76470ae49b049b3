import type { Change, Entry } from './entry.ts';
import type { ResourceKind } from './kinds.ts';

/**
 * Enough for several clients in the middle of a paged list. A snapshot that was dropped is built again from the
 * history.
 */
const SNAPSHOTS_KEPT = 16;

/** The index of the first element that does not come before the wanted one. */
function lowerBound<T>(sorted: readonly T[], comesBefore: (element: T) => boolean): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (comesBefore(sorted[middle]!)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Index of the first entry whose key is not smaller than `key`. */
export const indexOfKey = (entries: readonly Entry[], key: string): number =>
  lowerBound(entries, (entry) => entry.key < key);

interface CollectionWatcher {
  changed(change: Change): void;
  /** The server ends the watch. */
  ended(): void;
}

/** All objects of one kind, in key order, now and at every version since the last compaction. */
export class Collection {
  readonly kind: ResourceKind;
  #entries = new Map<string, Entry>();
  #ordered: Entry[] | undefined;
  #history: Change[] = [];
  readonly #snapshots = new Map<number, readonly Entry[]>();
  readonly #watchers = new Set<CollectionWatcher>();

  constructor(kind: ResourceKind) {
    this.kind = kind;
  }

  get(key: string): Entry | undefined {
    return this.#entries.get(key);
  }

  /** In key order. Valid until the next write; not to be changed. */
  ordered(): readonly Entry[] {
    // Sorted at the first read only. Inserting in order while 150,000 pods are created would move the array each time.
    this.#ordered ??= inKeyOrder(this.#entries);
    return this.#ordered;
  }

  /** The collection as it was at `revision`, which must not be older than the last compaction. */
  at(revision: number): readonly Entry[] {
    const known = this.#snapshots.get(revision);
    if (known) return known;
    const later = this.changesAfter(revision);
    const snapshot = later.length === 0 ? [...this.ordered()] : inKeyOrder(this.#undo(later));
    if (this.#snapshots.size >= SNAPSHOTS_KEPT) this.#snapshots.delete(this.#snapshots.keys().next().value!);
    this.#snapshots.set(revision, snapshot);
    return snapshot;
  }

  changesAfter(revision: number): readonly Change[] {
    return this.#history.slice(lowerBound(this.#history, (change) => change.revision <= revision));
  }

  apply(change: Change): void {
    const { key } = change.entry;
    change.previous?.forgetText();
    if (change.type === 'DELETED') this.#entries.delete(key);
    else this.#entries.set(key, change.entry);
    this.#keepOrder(change);
    this.#history.push(change);
    for (const watcher of this.#watchers) watcher.changed(change);
  }

  /** Ends the watches that are open now. */
  endWatches(): void {
    for (const watcher of this.#watchers) watcher.ended();
  }

  /** Calls the watcher with every later change, in order, until the returned function is called. */
  subscribe(watcher: CollectionWatcher): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  compact(revision: number): void {
    this.#history = [...this.changesAfter(revision)];
    for (const kept of this.#snapshots.keys()) if (kept < revision) this.#snapshots.delete(kept);
  }

  restore(revision: number): void {
    this.#entries = this.#undo(this.changesAfter(revision));
    this.#ordered = undefined;
    this.#history.length = lowerBound(this.#history, (change) => change.revision <= revision);
    this.#snapshots.clear();
  }

  #undo(later: readonly Change[]): Map<string, Entry> {
    const entries = new Map(this.#entries);
    for (const { entry, previous } of later.toReversed()) {
      if (previous) entries.set(entry.key, previous);
      else entries.delete(entry.key);
    }
    return entries;
  }

  #keepOrder({ type, entry }: Change): void {
    if (!this.#ordered) return;
    const index = indexOfKey(this.#ordered, entry.key);
    if (type === 'ADDED') this.#ordered.splice(index, 0, entry);
    else if (type === 'DELETED') this.#ordered.splice(index, 1);
    else this.#ordered[index] = entry;
  }
}

/** Ordered by key, as in etcd. Keys are ASCII, so comparing UTF-16 units is the same as comparing bytes. */
const inKeyOrder = (entries: ReadonlyMap<string, Entry>): Entry[] =>
  [...entries.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
