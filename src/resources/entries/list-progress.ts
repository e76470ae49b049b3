import { compareResourceVersions } from '../../kubernetes/object.ts';
import type { Change } from './change.ts';
import type { ChangeLog } from './change-log.ts';
import { type CollectionState, CollectionVersion, type ListState, NOTHING } from './collection-version.ts';
import type { Entry } from './entry.ts';

/** The progress of the other collection, from which annotations are added to the objects of a list. */
export interface AddedProgress {
  /** The state of the other collection that the whole list shows. */
  readonly shown: CollectionState;
  /** The state that an entry shows if it is written now. */
  readonly reached: CollectionState;
  /** Whether all changes up to this state have arrived and are shown. */
  hasShown(state: CollectionState): boolean;
  /** Whether all changes after this state are known, to a client that has `seen` so much. */
  knowsAfter(state: CollectionState, seen?: CollectionState): boolean;
  /** The collection's version at which the added annotations of this object last changed. */
  changedAt(key: string): string | undefined;
  /**
   * The version to pass to `changed` when this entry replaces the previous one. `undefined` if both have the same added
   * annotations.
   */
  broughtAt(entry: Entry, previous: Entry | undefined): string | undefined;
  /** Records that the added annotations of this object last changed at this version. */
  changed(key: string, version: string): void;
  /** Forgets an object that is gone. */
  forget(key: string): void;
}

/** How far a list has followed the cluster, with its added annotations, in versions that every replica understands. */
export class ListProgress {
  /** The progress of the objects that the cluster sent. */
  readonly objects = new CollectionVersion();
  readonly #changes: ChangeLog;
  readonly #added: AddedProgress | undefined;

  /** Without `added` nothing is added to the objects. */
  constructor(changes: ChangeLog, added: AddedProgress | undefined) {
    this.#changes = changes;
    this.#added = added;
  }

  /** What the list shows now. */
  get state(): ListState {
    return { objects: this.objects.state, added: this.#added?.shown ?? NOTHING };
  }

  /**
   * How new an object of the list may be. Its added annotations may be newer than `state`, because each object gets the
   * newest ones when it is written.
   */
  get seen(): ListState {
    return { objects: this.objects.state, added: this.#added?.reached ?? NOTHING };
  }

  /** Whether all changes up to this state have arrived and are shown. */
  hasSeen({ objects, added }: ListState): boolean {
    if (!this.objects.has(objects)) return false;
    return this.#added ? this.#added.hasShown(added) : added.newest === NOTHING.newest;
  }

  /** Whether all changes of the list after this state are known, to a client that has the whole state and perhaps objects as new as `seen`. */
  knowsAfter({ objects, added }: ListState, seen: ListState = { objects, added }): boolean {
    const knowsAdded = this.#added ? this.#added.knowsAfter(added, seen.added) : added.newest === NOTHING.newest;
    return knowsAdded && this.objects.knowsAfter(objects, seen.objects) && this.#changes.knowsAfter(objects.newest);
  }

  /**
   * The newest change of each object that changed, or whose added annotations changed, after this state. Complete only
   * if `knowsAfter` says so.
   */
  changedAfter({ objects, added }: ListState): readonly Change[] {
    const isLater = (version: string | undefined, than: string): boolean =>
      version !== undefined && compareResourceVersions(version, than) > 0;
    return [...this.#changes.since(0)].filter(
      ({ key, changedAt }) => isLater(changedAt, objects.newest) || isLater(this.#added?.changedAt(key), added.newest),
    );
  }

  /** Records that this entry replaced the previous one. */
  brought(entry: Entry, previous: Entry | undefined): void {
    const version = this.broughtAt(entry, previous);
    if (version !== undefined) this.changed(entry.key, version);
  }

  /** See `AddedProgress`. */
  broughtAt(entry: Entry, previous: Entry | undefined): string | undefined {
    return this.#added?.broughtAt(entry, previous);
  }

  /** See `AddedProgress`. */
  changed(key: string, version: string): void {
    this.#added?.changed(key, version);
  }

  /** See `AddedProgress`. */
  forget(key: string): void {
    this.#added?.forget(key);
  }
}
