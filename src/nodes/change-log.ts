import { compareResourceVersions } from '../kubernetes/resource-version.ts';
import { later } from './collection-version.ts';
import { isSameShape, type Mark, type NodeChange, withPast } from './node-change.ts';
import type { NodeEntry } from './node-entry.ts';
import type { ListState } from './watch-version.ts';

/** When a change was made. */
export interface ChangeMoment {
  /** Of the store. */
  readonly version: number;
  /** The resourceVersion of the change; `undefined`: it is none of the node itself. */
  readonly changedAt?: string | undefined;
  readonly seen: ListState;
}

const BEGINNING: Mark = { version: 0, changedAt: '0' };

/**
 * Nodes that went are remembered up to here: a cluster that loses one node a minute remembers half a day. What filters read of
 * them is the most of what is kept, and less than the encoded node, which 16 MiB count.
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
  /** The bytes of the nodes whose newest change is a removal, oldest first. */
  readonly #removed = new Map<string, number>();
  #removedBytes = 0;
  #forgotten = BEGINNING;

  /** `previous` is what the store had under this name; `entry` shares its equal texts. */
  put(entry: NodeEntry, previous: NodeEntry | undefined, { version, changedAt, seen }: ChangeMoment): void {
    const last = this.#newest.get(entry.key);
    const mark = { version, changedAt: changedAt ?? last?.changedAt ?? entry.resourceVersion };
    const isSame = last !== undefined && previous !== undefined && previous.uid === entry.uid;
    const hasShape = isSame && isSameShape(previous, entry);
    const past = last && previous && !hasShape ? withPast(last, previous, mark) : last;
    this.#append({
      name: entry.key,
      version,
      changedAt: mark.changedAt,
      seen,
      addedAt: isSame ? last.addedAt : mark,
      shapedAt: hasShape ? last.shapedAt : version,
      past: past?.past ?? [],
      pastForgottenAt: past?.pastForgottenAt ?? BEGINNING,
    });
  }

  remove(entry: NodeEntry, { version, changedAt = entry.resourceVersion, seen }: ChangeMoment): void {
    const last = this.#newest.get(entry.key);
    if (!last) return;
    const mark = { version, changedAt };
    this.#append({ ...last, ...withPast(last, entry, mark), ...mark, seen, removed: entry.uid });
    this.#removed.set(entry.key, entry.encoded.length);
    this.#removedBytes += entry.encoded.length;
    while (this.#removed.size > MOST_REMOVED || this.#removedBytes > MOST_REMOVED_BYTES) this.#forgetOldest();
  }

  /** The newest change of the node of this name, if one is remembered. */
  of(name: string): NodeChange | undefined {
    return this.#newest.get(name);
  }

  /** Whether everything that happened after this version is known. */
  knows(version: number): boolean {
    return version >= this.#forgotten.version;
  }

  /** The same for a version of the cluster's nodes. */
  knowsAfter(version: string): boolean {
    return compareResourceVersions(version, this.#forgotten.changedAt) >= 0;
  }

  /** The newest changes that came after this version, the oldest first, one a node. To be read before the next change. */
  *since(version: number): Generator<NodeChange, void> {
    for (let at = this.#firstAfter(version); at < this.#changes.length; at++) {
      const change = this.#changes[at] as NodeChange;
      if (this.#newest.get(change.name) === change) yield change;
    }
  }

  #append(change: NodeChange): void {
    if (this.#removed.size > 0) this.#forgetRemoval(change.name);
    this.#newest.set(change.name, change);
    this.#changes.push(change);
    if (this.#changes.length > 2 * this.#newest.size + SPARE_CHANGES) this.#sweep();
  }

  #sweep(): void {
    this.#changes = this.#changes.filter((change) => this.#newest.get(change.name) === change);
  }

  #forgetOldest(): void {
    const [name] = this.#removed.keys();
    if (name === undefined) return;
    const { version, changedAt } = this.#newest.get(name) ?? this.#forgotten;
    this.#forgotten = { version, changedAt: later(changedAt, this.#forgotten.changedAt) };
    this.#forgetRemoval(name);
    this.#newest.delete(name);
  }

  #forgetRemoval(name: string): void {
    this.#removedBytes -= this.#removed.get(name) ?? 0;
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
