import { compareResourceVersions } from '../../kubernetes/object.ts';
import type { StoredEntry } from '../../kubernetes/reflector/store.ts';

/** A state of a collection: its newest change, and how many objects there were. No two states of one history read the same. */
export interface CollectionState {
  /** The resourceVersion of the newest change; `0` where there is none. */
  readonly newest: string;
  readonly count: number;
}

export const NOTHING: CollectionState = { newest: '0', count: 0 };

/** A state of a list: of its objects, and of the collection that is added to them. Where nothing is added, that is nothing. */
export interface ListState {
  readonly objects: CollectionState;
  readonly added: CollectionState;
}

/** A complete list, as it went into a store. */
export interface ListedCollection extends CollectionState {
  /** The version of the list: whatever is newer is not in it. */
  readonly resourceVersion: string;
  /** The list went on from what the store had before. */
  readonly sameHistory: boolean;
}

type Versioned = Pick<StoredEntry, 'resourceVersion'>;

/** The counts of so many newest states are remembered: a client that resumes from one of them costs no look at all objects. */
const MOST_COUNTS = 4_096;
/**
 * A look at 450,000 pods takes some 15 ms, so each of these counts is made once and then kept up to date: 1,024 comparisons a change
 * are some microseconds. They are those of the states of clients that come from a replica which listed what we have not heard of.
 */
const MOST_UNCHANGED = 1_024;

/**
 * How far a mirrored collection has come, in the cluster's own versions, which every replica understands. Two replicas that
 * have heard of the same changes give their states the same name, whenever they started.
 */
export class CollectionVersion {
  #state: CollectionState = NOTHING;
  #reached = '0';
  #floor: Omit<ListedCollection, 'sameHistory'> = { ...NOTHING, resourceVersion: '0' };
  #isListed = false;
  #objects: () => Iterable<Versioned> = () => [];
  /** How many objects there were when each of these was the newest change, the oldest first. */
  readonly #counts = new Map<string, number>();
  /** How many of the objects of now are not newer than these versions. */
  readonly #unchanged = new Map<string, number>();

  /** Where the objects of the collection are, in any order. */
  countIn(objects: () => Iterable<Versioned>): void {
    this.#objects = objects;
  }

  get state(): CollectionState {
    return this.#state;
  }

  /** A change came, after all that are older. `replaced`: the version of the object that it changed or took away. */
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
   * What came and went between the last event and the list is not known; whoever was told of it elsewhere begins anew. In another
   * history the versions of objects prove nothing: they count as changed with the list.
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

  /** Whether the objects of the next list changed when their versions say so. */
  trusts(sameHistory: boolean): boolean {
    return sameHistory || !this.#isListed;
  }

  /**
   * Whether all that led to this state is here. A list shows no removals, so its state may lack objects that went after its newest
   * change: who still has more of those that are not newer has not heard of it.
   */
  has({ newest, count }: CollectionState): boolean {
    if (compareResourceVersions(this.#reached, newest) < 0) return false;
    const known = this.#counts.get(newest) ?? this.#state.count;
    return Math.min(known, this.#state.count) <= count || this.#countUnchanged(newest) <= count;
  }

  /**
   * Whether every change after this state is known. Of a state before the last list that is so if the list is that state: nothing
   * in it is newer, so nothing came or changed, and with as many objects nothing went.
   */
  knowsAfter({ newest, count }: CollectionState): boolean {
    const floor = this.#floor;
    if (compareResourceVersions(newest, floor.resourceVersion) >= 0) return true;
    return compareResourceVersions(newest, floor.newest) >= 0 && count === floor.count;
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

/** Which of two states of one history is newer: with the same newest change, that from which more went. */
export function laterState(a: CollectionState, b: CollectionState): CollectionState {
  const order = compareResourceVersions(a.newest, b.newest);
  return order > 0 || (order === 0 && a.count <= b.count) ? a : b;
}
