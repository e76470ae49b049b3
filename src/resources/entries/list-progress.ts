import { compareResourceVersions } from '../../kubernetes/object.ts';
import type { Change } from './change.ts';
import type { ChangeLog } from './change-log.ts';
import { type CollectionState, CollectionVersion, type ListState, NOTHING } from './collection-version.ts';
import type { Entry } from './entry.ts';

/** How far the collection has come from which annotations are added to the objects of a list. */
export interface AddedProgress {
  /** The state that the whole list shows. */
  readonly shown: CollectionState;
  /** The state that an entry shows if it is written now. */
  readonly reached: CollectionState;
  /** Whether all changes up to this state are here, and shown. */
  hasShown(state: CollectionState): boolean;
  /** Whether all changes after this state are known. */
  knowsAfter(state: CollectionState): boolean;
  /** The collection's version when what is added to this object changed last. */
  changedAt(key: string): string | undefined;
  /**
   * The version to note with `changed` once this entry is shown in place of the previous one, with what is added to it
   * now. `undefined`: none, because what is added stays the same.
   */
  broughtAt(entry: Entry, previous: Entry | undefined): string | undefined;
  /** What is added to this object changed last at this version. */
  changed(key: string, version: string): void;
  /** Forgets an object that is gone. */
  forget(key: string): void;
}

/** How far a list has come, its objects and what is added to them, in versions that every replica understands. */
export class ListProgress {
  /** The version of the objects that the cluster sent. */
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
   * How new an object of the list may be. What is added to it may be newer than what the list shows, because it is read
   * when the object is written.
   */
  get seen(): ListState {
    return { objects: this.objects.state, added: this.#added?.reached ?? NOTHING };
  }

  /** Whether all changes up to this state are here, and shown. */
  hasSeen({ objects, added }: ListState): boolean {
    if (!this.objects.has(objects)) return false;
    return this.#added ? this.#added.hasShown(added) : added.newest === NOTHING.newest;
  }

  /** Whether all changes of the list after this state are known. */
  knowsAfter({ objects, added }: ListState): boolean {
    const knowsAdded = this.#added ? this.#added.knowsAfter(added) : added.newest === NOTHING.newest;
    return knowsAdded && this.objects.knowsAfter(objects) && this.#changes.knowsAfter(objects.newest);
  }

  /**
   * The newest changes of all objects that changed after this state, or to which something else is added since.
   * Complete only if `knowsAfter` says so.
   */
  changedAfter({ objects, added }: ListState): readonly Change[] {
    const isLater = (version: string | undefined, than: string): boolean =>
      version !== undefined && compareResourceVersions(version, than) > 0;
    return [...this.#changes.since(0)].filter(
      ({ key, changedAt }) => isLater(changedAt, objects.newest) || isLater(this.#added?.changedAt(key), added.newest),
    );
  }

  /** This entry is shown in place of the previous one. */
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
