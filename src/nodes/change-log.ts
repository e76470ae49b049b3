import type { NodeEntry } from './node-entry.ts';

/** What became of one node last; its next change takes the place of this one. */
export interface NodeChange {
  readonly name: string;
  /** The version of the store that it made: no two changes have the same. */
  readonly version: number;
  /** Since when a node of this name and uid is there without a gap. */
  readonly addedAt: number;
  /** No earlier version had a node of this name, whatever its uid, as far as removals are remembered. */
  readonly knownSince: number;
  /** The last version at which a filter may have changed its mind: what filters read of the node changed, or the node came. */
  readonly shapedAt: number;
  /** Set when the node went: as it was last, in memory of its own. The newest state of any other is in the store. */
  readonly removed?: NodeEntry;
}

/**
 * Nodes that went, with their last state, are remembered up to here: a cluster that loses one node a minute remembers half a
 * day. 16 MiB hold as many as that of 12 kB each.
 */
const MOST_REMOVED = 1_000;
const MOST_REMOVED_BYTES = 16 * 1024 * 1024;

/** Superseded changes may be as many as the others, and so many besides: then they are swept out. */
const SPARE_CHANGES = 1_024;

/**
 * What changed when: the newest change of each node, in the order of versions. So what happened since any version is known
 * without keeping its events, in memory that grows with the nodes and not with their changes. Written by the store, at each
 * change: a push, and a look at the small fields.
 */
export class ChangeLog {
  #changes: NodeChange[] = [];
  readonly #newest = new Map<string, NodeChange>();
  /** The newest changes that are removals, oldest first. */
  readonly #removed = new Map<string, NodeChange & { readonly removed: NodeEntry }>();
  #removedBytes = 0;
  #forgottenAt = 0;

  /** `previous` is what the store had under this name. */
  put(entry: NodeEntry, previous: NodeEntry | undefined, version: number): void {
    const last = this.#newest.get(entry.key);
    const isSame = last !== undefined && previous !== undefined && previous.uid === entry.uid;
    this.#append({
      name: entry.key,
      version,
      addedAt: isSame ? last.addedAt : version,
      knownSince: last?.knownSince ?? version,
      shapedAt: isSame && isSameShape(previous, entry) ? last.shapedAt : version,
    });
  }

  remove(entry: NodeEntry, version: number): void {
    const last = this.#newest.get(entry.key);
    if (!last) return;
    // Its bytes lie in a leaf with those of its neighbours, which would be kept with it.
    const removed = { ...entry, encoded: entry.encoded.copy() };
    const change = { ...last, version, removed };
    this.#append(change);
    this.#removed.set(entry.key, change);
    this.#removedBytes += removed.encoded.length;
    while (this.#removed.size > MOST_REMOVED || this.#removedBytes > MOST_REMOVED_BYTES) this.#forgetOldest();
  }

  /** Whether everything that happened after this version is known. */
  knows(version: number): boolean {
    return version >= this.#forgottenAt;
  }

  /** The newest changes that came after this version, the oldest first, one a node. To be read before the next change. */
  *since(version: number): Generator<NodeChange, void> {
    for (let at = this.#firstAfter(version); at < this.#changes.length; at++) {
      const change = this.#changes[at] as NodeChange;
      if (this.#newest.get(change.name) === change) yield change;
    }
  }

  #append(change: NodeChange): void {
    this.#forgetRemoval(change.name);
    this.#newest.set(change.name, change);
    this.#changes.push(change);
    if (this.#changes.length > 2 * this.#newest.size + SPARE_CHANGES) this.#sweep();
  }

  #sweep(): void {
    this.#changes = this.#changes.filter((change) => this.#newest.get(change.name) === change);
  }

  #forgetOldest(): void {
    const [oldest] = this.#removed.values();
    if (!oldest) return;
    this.#forgetRemoval(oldest.name);
    this.#newest.delete(oldest.name);
    this.#forgottenAt = oldest.version;
  }

  #forgetRemoval(name: string): void {
    this.#removedBytes -= this.#removed.get(name)?.removed.encoded.length ?? 0;
    this.#removed.delete(name);
  }

  /** Binary search: versions ascend. */
  #firstAfter(version: number): number {
    let low = 0;
    let high = this.#changes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#changes[middle] as NodeChange).version <= version) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Whether no filter can tell the two apart. */
const isSameShape = (a: NodeEntry, b: NodeEntry): boolean =>
  a.status === b.status &&
  isSameTexts(a.labels, b.labels) &&
  isSameTexts(a.annotations, b.annotations) &&
  a.owners.length === b.owners.length &&
  a.owners.every((owner, at) => owner.uid === b.owners[at]?.uid && owner.kind === b.owners[at]?.kind);

function isSameTexts(a: NodeEntry['labels'] = {}, b: NodeEntry['labels'] = {}): boolean {
  if (a === b) return true;
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => Object.hasOwn(b, name) && a[name] === b[name]);
}
