import type { ListVocabulary } from '../query/list-query.ts';
import type { Entry } from './entry.ts';
import type { AddedProgress } from './list-progress.ts';
import type { ObjectKind } from './object-kind.ts';

/** A kind as it describes itself to the list engine, which knows no kind by name. */
export interface Kind extends ObjectKind, ListVocabulary {
  readonly singularName: string;
  readonly shortNames: readonly string[];
  /** An annotation with the status word, where only the metadata of an object is asked for. */
  readonly statusKey?: string;
  /** What adds the annotations of `addedKeys`. Default: nothing is added. */
  decorate?(store: DecoratedStore): Decoration;
}

/**
 * Adds annotations to the objects of a kind that come from another collection of the cluster, as the usage of pods is
 * added to nodes. The store asks for them when it is read. So each entry is written once, however much has changed
 * meanwhile.
 */
export interface Decoration {
  /** How far the other collection is. Only watches of the kind need it. */
  readonly progress?: AddedProgress;
  /** Whether the entries lack at most a few changes. */
  readonly isCurrent: boolean;
  /** The entry with the annotations that it should have now. The same entry if it has them already. */
  decorate(entry: Entry): Entry;
  /** Brings changes into the entries of the store: a few at once, many in a copy. */
  refresh(): void;
  /**
   * A list is about to replace the content. Changes that are being made in a copy are dropped, and made again
   * afterwards.
   */
  giveUp(): void;
}

/** What a decoration needs of the store. */
export interface DecoratedStore {
  /** Runs this in slices of time. */
  run(steps: Generator<void, void, void>): void;
  get(key: string): Entry | undefined;
  /** Replaces an entry of which only the added annotations changed. */
  redecorate(entry: Entry): void;
  /**
   * A copy of the present entries, for many such changes at once. What the cluster changes meanwhile goes into the
   * store and the copy.
   */
  aside(): Aside;
}

export interface Aside {
  get(key: string): Entry | undefined;
  redecorate(entry: Entry): void;
  /** The store shows the copy from now on. */
  show(): void;
  /** The store forgets the copy. */
  drop(): void;
}
