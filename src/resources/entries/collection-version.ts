import { compareResourceVersions } from '../../kubernetes/object.ts';
import type { StoredEntry } from '../../kubernetes/reflector/store.ts';

/**
 * A state of a collection: its newest change, and how many objects there were. No two states of one history are equal.
 */
export interface CollectionState {
  /** The resourceVersion of the newest change. `0` if there was none. */
  readonly newest: string;
  readonly count: number;
}

export const NOTHING: CollectionState = { newest: '0', count: 0 };

/** A state of a list: that of its objects, and that of the collection which adds annotations (`NOTHING` if there is none). */
export interface ListState {
  readonly objects: CollectionState;
  readonly added: CollectionState;
}

/** A complete list, as it went into a store. */
export interface ListedCollection extends CollectionState {
  /** The version of the list. Newer changes are not in it. */
  readonly resourceVersion: string;
  /** See `Replacement`. */
  readonly sameHistory: boolean;
}

type Versioned = Pick<StoredEntry, 'resourceVersion'>;

/** How many of the newest states we keep, with their numbers of objects. If a client resumes from one, we need not count. */
const MOST_COUNTS = 4_096;
/**
 * How many counts of unchanged objects we keep. They are for clients that come from a replica that is ahead of this one. It
 * takes some 15 ms to count among 450,000 pods, so we make each count once. It takes some microseconds a change to keep
 * 1,024 of them up to date.
 */
const MOST_UNCHANGED = 1_024;

/**
 * How far a mirrored collection has come, in the cluster's own versions, which every replica understands. Two replicas
 * that have seen the same changes have equal states, whenever they started.
 */
export class CollectionVersion {
  #state: CollectionState = NOTHING;
  #reached = '0';
  #floor: Omit<ListedCollection, 'sameHistory'> = { ...NOTHING, resourceVersion: '0' };
  #isListed = false;
  #objects: () => Iterable<Versioned> = () => [];
  /** The number of objects in each of the newest states, by the newest version of that state, the oldest first. */
  readonly #counts = new Map<string, number>();
  /** For some versions, how many of the present objects have that version or an older one. */
  readonly #unchanged = new Map<string, number>();

  /** Sets the function that returns the objects of the collection, in any order. */
  countIn(objects: () => Iterable<Versioned>): void {
    this.#objects = objects;
  }

  get state(): CollectionState {
    return this.#state;
  }

  /**
   * Records a change. Changes come in order. `replaced` is the version that the changed or removed object had before.
   */
  advance(version: string, count: number, replaced?: string): void {
    if (replaced !== undefined) {
      for (const [since, left] of this.#unchanged) {
        if (compareResourceVersions(replaced, since) <= 0) this.#unchanged.set(since, left - 1);
      }
    }
    this.#become({ newest: later(this.#state.newest, version), count });
    this.#reached = later(this.#reached, version);
  }

  /**
   * Records a list. It does not show objects that came and went since the last event, so clients that saw them at another
   * replica have to begin again. If the list begins another history, the versions of objects prove nothing, and all
   * objects count as changed with the list.
   */
  listed({ resourceVersion, newest, count, sameHistory }: ListedCollection): void {
    const changed = this.trusts(sameHistory) ? newest : resourceVersion;
    const state = { newest: sameHistory ? later(this.#state.newest, changed) : changed, count };
    this.#isListed = true;
    if (!sameHistory) this.#counts.clear();
    this.#unchanged.clear();
    this.#become(state);
    this.#reached = resourceVersion;
    this.#floor = { ...this.#state, resourceVersion };
  }

  /** Whether the versions of the objects in the next list say when they changed. */
  trusts(sameHistory: boolean): boolean {
    return sameHistory || !this.#isListed;
  }

  /**
   * Whether we have seen all changes up to this state. A removal does not show in `newest`, only in `count`: if we have
   * more than `count` objects that are not newer than `newest`, we have not seen the removals yet.
   */
  has({ newest, count }: CollectionState): boolean {
    if (compareResourceVersions(this.#reached, newest) < 0) return false;
    const known = this.#counts.get(newest) ?? this.#state.count;
    return Math.min(known, this.#state.count) <= count || this.#countUnchanged(newest) <= count;
  }

  /**
   * Whether we know every change after this state. For a state before the last list we do, if the list shows the same
   * state: no newer object, so nothing was added or changed, and as many objects, so nothing was removed. But a client that has `seen`
   * more than this state may have an object that came and went before the list.
   */
  knowsAfter({ newest, count }: CollectionState, seen: CollectionState = { newest, count }): boolean {
    const floor = this.#floor;
    if (compareResourceVersions(newest, floor.resourceVersion) >= 0) return true;
    const sawNoMore = seen.newest === newest && seen.count === count;
    return sawNoMore && compareResourceVersions(newest, floor.newest) >= 0 && count === floor.count;
  }

  #become(state: CollectionState): void {
    this.#state = state;
    this.#counts.delete(state.newest);
    this.#counts.set(state.newest, state.count);
    forgetOldest(this.#counts, MOST_COUNTS);
  }

  #countUnchanged(since: string): number {
    const known = this.#unchanged.get(since);
    if (known !== undefined) return known;
    let count = 0;
    for (const { resourceVersion } of this.#objects()) {
      if (compareResourceVersions(resourceVersion, since) <= 0) count++;
    }
    this.#unchanged.set(since, count);
    forgetOldest(this.#unchanged, MOST_UNCHANGED);
    return count;
  }
}

function forgetOldest(counts: Map<string, number>, most: number): void {
  const [oldest] = counts.keys();
  if (oldest !== undefined && counts.size > most) counts.delete(oldest);
}

export const later = (a: string, b: string): string => (compareResourceVersions(a, b) >= 0 ? a : b);

/** The newer of two states of one history. If both have the same newest change, fewer objects mean a later removal. */
export function laterState(a: CollectionState, b: CollectionState): CollectionState {
  const order = compareResourceVersions(a.newest, b.newest);
  return order > 0 || (order === 0 && a.count <= b.count) ? a : b;
}
