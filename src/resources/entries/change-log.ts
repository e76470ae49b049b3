import { compareResourceVersions } from '../../kubernetes/object.ts';
import { type Change, isSameShape, type Mark, withPast } from './change.ts';
import { type ListState, later, NOTHING } from './collection-version.ts';
import type { Entry } from './entry.ts';

/** When a change is shown. */
export interface ChangeMoment {
  /** Of the store, later than that of all changes before. */
  readonly version: number;
  /** All that the cluster has told us by then. It never goes back from one change to the next. */
  readonly seen: ListState;
}

/** A change that is written down and not yet in the log: `add` gives it its moment. */
export interface PreparedChange {
  readonly change: Change;
  /** The change of the same object that it takes the place of. */
  readonly last: Change | undefined;
  /** That of this change, wherever `change` holds it. */
  readonly mark: Mark;
  /** Whether filters see something else of the node from this change on. */
  readonly isNewShape: boolean;
  /** Of the object that this change removes: bytes that are remembered of it. */
  readonly removedBytes: number;
}

/** Said in the change itself: looked up by key, 30,000 changes took a step of 10 ms. */
function supersede(change: Writable<Change>): void {
  change.isNewest = false;
}

type Writable<T> = { -readonly [Name in keyof T]: T[Name] };

/** Until `add` knows better. */
const NO_VERSION = 0;
const NOTHING_SEEN: ListState = { objects: NOTHING, added: NOTHING };

const BEGINNING: Mark = { version: 0, changedAt: '0' };

/**
 * Objects that went are remembered up to here: a cluster that loses one node a minute remembers half a day. What filters read of
 * them is the most of what is kept, and less than the encoded object, which 16 MiB count.
 */
const MOST_REMOVED = 1_000;
const MOST_REMOVED_BYTES = 16 * 1024 * 1024;

/** Superseded changes may be as many as the others, and so many besides: then they are swept out. */
const SPARE_CHANGES = 1_024;

/**
 * What changed when: the newest change of each object, in the order of versions. So what happened since any version is known
 * without keeping its events, in memory that grows with the objects and not with their changes. Written by the store, at each
 * change: a push, and a look at the small fields.
 */
export class ChangeLog {
  #changes: Change[] = [];
  readonly #newest = new Map<string, Change>();
  /** The bytes of the objects whose newest change is a removal, oldest first. */
  readonly #removed = new Map<string, number>();
  #removedBytes = 0;
  #forgotten = BEGINNING;

  /**
   * Writes a change down, so that only `add` is left to do in the turn that shows it. `previous` is what the store has under this key;
   * `entry` shares its equal texts. `changedAt`: the resourceVersion of the change; `undefined`: it is none of the object itself. The
   * object must not change again before `add`.
   */
  prepare(entry: Entry, previous: Entry | undefined, changedAt: string | undefined): PreparedChange {
    const last = this.#newest.get(entry.key);
    const mark = { version: NO_VERSION, changedAt: changedAt ?? last?.changedAt ?? entry.resourceVersion };
    const isSame = last !== undefined && previous !== undefined && previous.uid === entry.uid;
    const hasShape = isSame && isSameShape(previous, entry);
    const past = last && previous && !hasShape ? withPast(last, previous, mark) : last;
    const change = {
      key: entry.key,
      isNewest: true,
      version: NO_VERSION,
      changedAt: mark.changedAt,
      seen: NOTHING_SEEN,
      addedAt: isSame ? last.addedAt : mark,
      shapedAt: hasShape ? last.shapedAt : NO_VERSION,
      past: past?.past ?? [],
      pastForgottenAt: past?.pastForgottenAt ?? BEGINNING,
    };
    return { change, last, mark, isNewShape: !hasShape, removedBytes: 0 };
  }

  /** The same for an object that went; `undefined` where the log does not know it. */
  prepareRemoval(entry: Entry, changedAt: string): PreparedChange | undefined {
    const last = this.#newest.get(entry.key);
    if (!last) return undefined;
    const mark = { version: NO_VERSION, changedAt };
    const change = { ...last, ...withPast(last, entry, mark), ...mark, removed: entry.uid };
    return { change, last, mark, isNewShape: false, removedBytes: entry.encoded.length };
  }

  add({ change, last, mark, isNewShape, removedBytes }: PreparedChange, { version, seen }: ChangeMoment): void {
    const added: Writable<Change> = change;
    (mark as Writable<Mark>).version = version;
    added.version = version;
    added.seen = seen;
    if (isNewShape) added.shapedAt = version;
    if (last) supersede(last);
    this.#append(change);
    if (change.removed === undefined) return;
    this.#removed.set(change.key, removedBytes);
    this.#removedBytes += removedBytes;
    while (this.#removed.size > MOST_REMOVED || this.#removedBytes > MOST_REMOVED_BYTES) this.#forgetOldest();
  }

  /** The newest change of the object of this key, if one is remembered. */
  of(key: string): Change | undefined {
    return this.#newest.get(key);
  }

  /** Whether everything that happened after this version is known. */
  knows(version: number): boolean {
    return version >= this.#forgotten.version;
  }

  /** The same for a version of the cluster. */
  knowsAfter(version: string): boolean {
    return compareResourceVersions(version, this.#forgotten.changedAt) >= 0;
  }

  /** The newest changes that came after this version, the oldest first, one an object. To be read before the next change. */
  *since(version: number): Generator<Change, void> {
    for (let at = this.#firstAfter(version); at < this.#changes.length; at++) {
      const change = this.#changes[at] as Change;
      if (change.isNewest) yield change;
    }
  }

  #append(change: Change): void {
    if (this.#removed.size > 0) this.#forgetRemoval(change.key);
    this.#newest.set(change.key, change);
    this.#changes.push(change);
    if (this.#changes.length > 2 * this.#newest.size + SPARE_CHANGES) this.#sweep();
  }

  #sweep(): void {
    this.#changes = this.#changes.filter(({ isNewest }) => isNewest);
  }

  #forgetOldest(): void {
    const [key] = this.#removed.keys();
    if (key === undefined) return;
    const change = this.#newest.get(key);
    if (change)
      this.#forgotten = { version: change.version, changedAt: later(change.changedAt, this.#forgotten.changedAt) };
    if (change) supersede(change);
    this.#forgetRemoval(key);
    this.#newest.delete(key);
  }

  #forgetRemoval(key: string): void {
    this.#removedBytes -= this.#removed.get(key) ?? 0;
    this.#removed.delete(key);
  }

  /** Binary search: versions ascend. */
  #firstAfter(version: number): number {
    let low = 0;
    let high = this.#changes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#changes[middle] as Change).version <= version) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
