import type { ListVocabulary } from '../query/list-query.ts';
import type { DecoratedStore, Decoration } from './decoration.ts';
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
