import type { ListVocabulary } from '../query/list-query.ts';
import type { Entry } from './entry.ts';
import type { AddedProgress } from './list-progress.ts';
import type { ObjectKind } from './object-kind.ts';

/**
 * Describes a kind to the list engine, which knows no kind by name.
 * @example
 * ```ts
 * const volumes: Kind = {
 *   platform: 'gatehouse',
 *   group: '',
 *   version: 'v1',
 *   resource: 'persistentvolumes',
 *   kind: 'PersistentVolume',
 *   singularName: 'persistentvolume',
 *   shortNames: ['pv'],
 *   namespaced: false,
 *   sortWords: COMMON_SORT_WORDS,
 *   filters: new Map([['status', statusFilter(['Available', 'Bound', 'Released', 'Failed'])]]),
 *   statusOf: ({ status }) => String(asObject(status)['phase'] ?? ''),
 * };
 * const volume = { metadata: { name: 'pv-1', uid: 'u-1', resourceVersion: '7' }, status: { phase: 'Bound' } };
 * assert.equal(createListQueryParser(volumes)('status=Bound').conditions[0]?.(toEntry(volume, volumes)), true);
 * ```
 */
export interface Kind extends ObjectKind, ListVocabulary {
  readonly singularName: string;
  readonly shortNames: readonly string[];
  /** The annotation that carries the status word when a client asks for metadata only. */
  readonly statusKey?: string;
  /** Whether the texts of the objects are kept deflated: a tenth of the memory, for a kind whose texts are read seldom. Absent: no. */
  readonly isPacked?: boolean;
  /** Creates the decoration, which adds the annotations of `addedKeys`. Absent: nothing is added. */
  decorate?(store: DecoratedStore): Decoration;
}

/**
 * Adds annotations from another collection of the cluster to the objects of a kind, such as the usage of pods to nodes.
 * The store calls it when a snapshot is taken. So each entry is written once for any number of changes since the last one.
 */
export interface Decoration {
  /** Which state of the other collection the entries show. Only watches of the kind need it. */
  readonly progress?: AddedProgress;
  /** Whether at most a few changes are missing in the entries. */
  readonly isCurrent: boolean;
  /** The entry with the annotations that it should have now. The same entry if it has them already. */
  decorate(entry: Entry): Entry;
  /** Writes changes into the entries of the store: a few at once, many in a copy. */
  refresh(): void;
  /**
   * Called when a list is about to replace the content. Drops the changes that are being made in a copy; they are made
   * again afterwards.
   */
  giveUp(): void;
}

/** What a decoration needs of the store. */
export interface DecoratedStore {
  /** Runs the steps in slices of time, so that they do not hold the event loop. */
  run(steps: Generator<void, void, void>): void;
  get(key: string): Entry | undefined;
  /** Replaces an entry of which only the added annotations changed. */
  redecorate(entry: Entry): void;
  /**
   * Begins a copy of the present entries, in which many annotations can change before the store shows it. Meanwhile changes
   * from the cluster go into both the store and the copy.
   */
  aside(): Aside;
}

/** A copy of the entries of a store that takes many changes before the store shows it. */
export interface Aside {
  get(key: string): Entry | undefined;
  redecorate(entry: Entry): void;
  /** Makes the store show the copy from now on. */
  show(): void;
  /** Makes the store forget the copy. */
  drop(): void;
}
