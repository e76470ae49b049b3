import { compareResourceVersions } from '../../kubernetes/object.ts';
import type { Steps } from '../../runtime/time-slices.ts';
import { type Change, isSameShape, type Mark, type ShapedKind, withPast } from './change.ts';
import { type ListState, later, NOTHING } from './collection-version.ts';
import type { Entry } from './entry.ts';

/** The moment at which a change is shown. */
export interface ChangeMoment {
  /** The store's version, which is later than that of every change before. */
  readonly version: number;
  /** How far we had followed the cluster by then. It never goes back from one change to the next. */
  readonly seen: ListState;
}

/** The changes of a list, with the work done that need not be in the step that shows them. */
export interface PreparedChanges {
  /** Removals first. */
  readonly changes: readonly PreparedChange[];
  /** The newest change of each object when all of them are in the log. Absent if they are few beside the others. */
  readonly newest?: Map<string, Change>;
}

type Writable<T> = { -readonly [Name in keyof T]: T[Name] };

/** A change that is ready but not yet in the log. `add` sets its moment, in `change` and in `mark`. */
export interface PreparedChange {
  readonly change: Writable<Change>;
  /** The change of the same object before this one. */
  readonly last: Change | undefined;
  /** The mark of this change. Several fields of `change` may refer to it, so that all of them get its version. */
  readonly mark: Writable<Mark>;
  /** Whether filters see the object differently after this change. */
  readonly isNewShape: boolean;
  /** Bytes of the encoded object if this change removes it, else 0. They count against `MOST_REMOVED_BYTES`. */
  readonly removedBytes: number;
}

/** Sets a flag in the change itself, because a look-up of the newest change by key took 10 ms for 30,000 changes. */
function supersede(change: Writable<Change>): void {
  change.isNewest = false;
}

/** Placeholders until `add` sets the values. */
const NO_VERSION = 0;
const NOTHING_SEEN: ListState = { objects: NOTHING, added: NOTHING };

/** Most objects never change their shape. They share this. */
const NO_PAST: Change['past'] = [];

const BEGINNING: Mark = { version: 0, changedAt: '0' };

/**
 * How many removed objects the log remembers: 16 hours of a cluster that loses one node a minute. It keeps only what
 * filters read of them, but the length of the whole encoded object counts against the 16 MiB.
 */
const MOST_REMOVED = 1_000;
const MOST_REMOVED_BYTES = 16 * 1024 * 1024;

/** How many keys one step of `prepareAll` writes, at most a microsecond each. */
const KEYS_A_STEP = 64;

/** The log drops its superseded changes when there are this many more of them than of the others. */
const SPARE_CHANGES = 1_024;

/**
 * The newest change of each object, in the order of versions. So the log knows what happened since a version without
 * keeping events, and its memory grows with the number of objects, not of changes. The store writes to it at each
 * change, which costs a push and a comparison of the small fields.
 */
export class ChangeLog {
  readonly #kind: ShapedKind;
  #changes: Change[] = [];
  #newest = new Map<string, Change>();
  /** The bytes of the objects whose newest change is a removal, oldest first. */
  readonly #removed = new Map<string, number>();
  #removedBytes = 0;
  #forgotten = BEGINNING;

  constructor(kind: ShapedKind = {}) {
    this.#kind = kind;
  }

  /**
   * Prepares a change, so that only `add` is left to do in the step that shows it. `previous` is what the store has
   * under this key; `entry` shares equal texts with it. `changedAt` is the resourceVersion of the change, or
   * `undefined` if only added annotations changed. The object must not change again before `add`.
   */
  prepare(entry: Entry, previous: Entry | undefined, changedAt: string | undefined): PreparedChange {
    const last = this.#newest.get(entry.key);
    const mark = { version: NO_VERSION, changedAt: changedAt ?? last?.changedAt ?? entry.resourceVersion };
    const isSame = last !== undefined && previous !== undefined && previous.uid === entry.uid;
    const hasShape = isSame && isSameShape(previous, entry, this.#kind);
    const past = last && previous && !hasShape ? withPast(last, previous, mark, this.#kind) : last;
    const change = {
      key: entry.key,
      isNewest: true,
      version: NO_VERSION,
      changedAt: mark.changedAt,
      seen: NOTHING_SEEN,
      addedAt: isSame ? last.addedAt : mark,
      shapedAt: hasShape ? last.shapedAt : NO_VERSION,
      past: past?.past ?? NO_PAST,
      pastForgottenAt: past?.pastForgottenAt ?? BEGINNING,
    };
    return { change, last, mark, isNewShape: !hasShape, removedBytes: 0 };
  }

  /** Prepares the removal of an object. `undefined` if the log does not know it. */
  prepareRemoval(entry: Entry, changedAt: string): PreparedChange | undefined {
    const last = this.#newest.get(entry.key);
    if (!last) return undefined;
    const mark = { version: NO_VERSION, changedAt };
    const change = { ...last, ...withPast(last, entry, mark, this.#kind), ...mark, removed: entry.uid };
    return { change, last, mark, isNewShape: false, removedBytes: entry.encoded.length };
  }

  /** Prepares many changes to be added together. No other change may come before `begin`. */
  *prepareAll(changes: readonly PreparedChange[]): Steps<PreparedChanges> {
    if (changes.length * 2 < this.#newest.size) return { changes };
    const newest = new Map<string, Change>();
    for (const [key, change] of this.#newest) {
      newest.set(key, change);
      if (newest.size % KEYS_A_STEP === 0) yield;
    }
    for (const [at, { change }] of changes.entries()) {
      newest.set(change.key, change);
      if ((at + 1) % KEYS_A_STEP === 0) yield;
    }
    return { changes, newest };
  }

  /** Called before each of these changes is added, in the same step. */
  begin({ newest }: PreparedChanges): void {
    if (!newest) return;
    this.#newest = newest;
    // An object that comes back must not be forgotten as a removed one.
    for (const key of [...this.#removed.keys()]) {
      if (newest.get(key)?.removed === undefined) this.#forgetRemoval(key);
    }
  }

  add({ change, last, mark, isNewShape, removedBytes }: PreparedChange, { version, seen }: ChangeMoment): void {
    mark.version = version;
    change.version = version;
    change.seen = seen;
    if (isNewShape) change.shapedAt = version;
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

  /** Whether the log has every change after this version of the store. */
  knows(version: number): boolean {
    return version >= this.#forgotten.version;
  }

  /** Whether the log has every change after this resourceVersion. */
  knowsAfter(version: string): boolean {
    return compareResourceVersions(version, this.#forgotten.changedAt) >= 0;
  }

  /** The newest change of each object that changed after this version, oldest first. Read it before the next change. */
  *since(version: number): Generator<Change, void> {
    for (let at = this.#firstAfter(version); at < this.#changes.length; at++) {
      const change = this.#changes[at] as Change;
      if (change.isNewest) yield change;
    }
  }

  #append(change: Change): void {
    if (this.#removed.size > 0) this.#forgetRemoval(change.key);
    if (this.#newest.get(change.key) !== change) this.#newest.set(change.key, change);
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
