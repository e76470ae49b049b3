import type { KubernetesObject } from '../kubernetes/object.ts';
import { atOnce } from '../runtime/time-slices.ts';
import { Leaf } from './bytes/leaf.ts';
import { type Selection, selectionComposer } from './bytes/list-body.ts';
import { type Entry, toEntry } from './entries/entry.ts';
import { KeptCounts } from './entries/leaf-counts.ts';
import { NamespaceIndex } from './entries/namespace-index.ts';
import type { ObjectKind } from './entries/object-kind.ts';
import { orderOf } from './entries/ordered-index.ts';
import { Snapshot } from './entries/snapshot.ts';
import type { ListQuery, SortKey } from './query/list-query.ts';
import { placeOf } from './query/within.ts';

/**
 * The body of a list whose objects were fetched for this one answer: filtered, ordered and paged like a list from memory.
 * Leaves out an object that the engine cannot read, as the mirrors do. For some hundreds of objects only, because it runs
 * in one step.
 */
export function fetchedList(objects: readonly KubernetesObject[], kind: ObjectKind, query: ListQuery): Uint8Array {
  const entries = objects.flatMap((object) => understood(object, kind));
  return Buffer.concat(atOnce(selectionComposer(selectedOf(entries, kind, query)).identity()));
}

/** The entries of a page of such a list, and how many match in all. */
export function selectedOf(
  entries: readonly Entry[],
  kind: Pick<ObjectKind, 'namespaced'>,
  query: ListQuery,
): Selection<Entry> {
  const leafIn = (order: SortKey) => [new Leaf(entries.toSorted(orderOf(order)))];
  const { sortBy } = query;
  const byValue = new Map(typeof sortBy === 'string' ? [] : [[sortBy, leafIn(sortBy)] as const]);
  const snapshot = new Snapshot(0, {
    byCreation: leafIn('creationTimestamp'),
    byName: leafIn('name'),
    byValue,
    namespaced: kind.namespaced,
    byNamespace: new NamespaceIndex(),
    counts: new KeptCounts(placeOf(kind)),
  });
  return snapshot.select(query);
}

function understood(object: KubernetesObject, kind: ObjectKind): readonly Entry[] {
  try {
    return [toEntry(object, kind)];
  } catch {
    return [];
  }
}
