import { compareResourceVersions } from '../../kubernetes/object.ts';
import type { Change } from './change.ts';
import type { ChangeLog } from './change-log.ts';
import { type CollectionState, CollectionVersion, type ListState, NOTHING } from './collection-version.ts';
import type { Entry } from './entry.ts';

/** How far the collection is that the objects of a list are decorated from. */
export interface AddedProgress {
  /** What of it the whole list shows. */
  readonly shown: CollectionState;
  /** What an entry shows that is written now. */
  readonly reached: CollectionState;
  /** Whether all that was seen there is here, and shown. */
  hasShown(state: CollectionState): boolean;
  /** Whether all that happened to it after this state is known. */
  knowsAfter(state: CollectionState): boolean;
  /** Its version when what is added to this object changed last. */
  changedAt(key: string): string | undefined;
  /** An object came, or changed, with what is added to it now. */
  brought(entry: Entry, previous: Entry | undefined): void;
  /** An object went. */
  forget(key: string): void;
}

/** How far a list is, its objects and what is added to them, in versions that every replica understands. */
export class ListProgress {
  /** The objects that the cluster told us of. */
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

  /** How new an object may be: what is added to it is as new as can be when it is written. */
  get seen(): ListState {
    return { objects: this.objects.state, added: this.#added?.reached ?? NOTHING };
  }

  /** Whether all that was seen there is here, and shown. */
  hasSeen({ objects, added }: ListState): boolean {
    if (!this.objects.has(objects)) return false;
    return this.#added ? this.#added.hasShown(added) : added.newest === NOTHING.newest;
  }

  /** Whether all that happened to the list after this state is known. */
  knowsAfter({ objects, added }: ListState): boolean {
    const knowsAdded = this.#added ? this.#added.knowsAfter(added) : added.newest === NOTHING.newest;
    return knowsAdded && this.objects.knowsAfter(objects) && this.#changes.knowsAfter(objects.newest);
  }

  /** The newest changes of all objects that changed after this state, or what is added to them; to be asked when it knows. */
  changedAfter({ objects, added }: ListState): readonly Change[] {
    const isLater = (version: string | undefined, than: string): boolean =>
      version !== undefined && compareResourceVersions(version, than) > 0;
    return [...this.#changes.since(0)].filter(
      ({ key, changedAt }) => isLater(changedAt, objects.newest) || isLater(this.#added?.changedAt(key), added.newest),
    );
  }

  /** As `AddedProgress`. */
  brought(entry: Entry, previous: Entry | undefined): void {
    this.#added?.brought(entry, previous);
  }

  /** As `AddedProgress`. */
  forget(key: string): void {
    this.#added?.forget(key);
  }
}
