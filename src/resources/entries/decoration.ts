import type { Entry } from './entry.ts';
import type { AddedProgress } from './list-progress.ts';

/**
 * What is made of another collection of the cluster and added to the objects of a kind as annotations: to nodes, the usage of their
 * pods. The store asks for it whenever it is read, so that however much changed meanwhile, each entry is written once.
 */
export interface Decoration {
  /** How far the other collection is. */
  readonly progress: AddedProgress;
  /** Whether nothing but a little is missing from the entries. */
  readonly isCurrent: boolean;
  /** The entry with what is to be added to it now; the same one where it has that. */
  decorate(entry: Entry): Entry;
  /** Brings what changed into the entries of the store: at once where it is little, else aside. */
  refresh(): void;
  /** A list is about to be taken over: what is under way aside comes to nothing and is brought in afterwards. */
  giveUp(): void;
}

/** What a decoration needs of the store. */
export interface DecoratedStore {
  /** Runs this in slices of time. */
  run(steps: Generator<void, void, void>): void;
  get(key: string): Entry | undefined;
  /** An entry of which only what is added changed. */
  redecorate(entry: Entry): void;
  /** The entries of now, for many such changes at once: what the cluster changes meanwhile goes into both. */
  aside(): Aside;
}

export interface Aside {
  get(key: string): Entry | undefined;
  redecorate(entry: Entry): void;
  /** The store shows all of it from now on. */
  show(): void;
  /** The store forgets it. */
  drop(): void;
}
