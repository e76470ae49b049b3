import { compareResourceVersions } from '../kubernetes/resource-version.ts';

/** A state of a collection: its newest change, and how many objects there were. No two states of one history read the same. */
export interface CollectionState {
  /** The resourceVersion of the newest change; `0` where there is none. */
  readonly newest: string;
  readonly count: number;
}

export const NOTHING: CollectionState = { newest: '0', count: 0 };

/** A complete list, as it went into a store. */
export interface ListedCollection extends CollectionState {
  /** The version of the list: whatever is newer is not in it. */
  readonly resourceVersion: string;
  /** The list went on from what the store had before. */
  readonly sameHistory: boolean;
}

/**
 * How far a mirrored collection has come, in the cluster's own versions, which every replica understands. Two replicas that
 * have heard of the same changes give their states the same name, whenever they started.
 */
export class CollectionVersion {
  #state: CollectionState = NOTHING;
  #reached = '0';
  #floor: Omit<ListedCollection, 'sameHistory'> = { ...NOTHING, resourceVersion: '0' };
  #isListed = false;

  get state(): CollectionState {
    return this.#state;
  }

  /** A change came, after all that are older. */
  advance(version: string, count: number): void {
    this.#state = { newest: later(this.#state.newest, version), count };
    this.#reached = later(this.#reached, version);
  }

  /**
   * What came and went between the last event and the list is not known; whoever was told of it elsewhere begins anew. In another
   * history the versions of objects prove nothing: they count as changed with the list.
   */
  listed({ resourceVersion, newest, count, sameHistory }: ListedCollection): void {
    const isTrusted = this.trusts(sameHistory);
    this.#isListed = true;
    const changed = isTrusted ? newest : resourceVersion;
    this.#state = { newest: sameHistory ? later(this.#state.newest, changed) : changed, count };
    this.#reached = resourceVersion;
    this.#floor = { ...this.#state, resourceVersion };
  }

  /** Whether the objects of the next list changed when their versions say so. */
  trusts(sameHistory: boolean): boolean {
    return sameHistory || !this.#isListed;
  }

  /** Whether all up to this version is here. */
  has(version: string): boolean {
    return compareResourceVersions(this.#reached, version) >= 0;
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
}

export const later = (a: string, b: string): string => (compareResourceVersions(a, b) >= 0 ? a : b);
