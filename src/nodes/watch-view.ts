import type { NodeChange, NodeShape } from './node-change.ts';
import type { NodeEntry } from './node-entry.ts';
import type { ChangeType, WatchForm } from './watch-event.ts';

/** What of the list a watcher wants to see, and how. */
export interface WatchView {
  readonly form: WatchForm;
  /** A `PartialObjectMetadata` in the place of each node. */
  readonly metadataOnly: boolean;
  /** `''`: every node. */
  readonly filterKey: string;
  matches(node: NodeShape): boolean;
}

/** Where a watcher stands: it had the whole list of `basis`, and was told of all changes up to `position` since. */
export interface Standing {
  readonly basis: number;
  readonly position: number;
  /** It may have been told states up to this version: while its first state was sent, or before it came back. */
  readonly told: number;
}

/** What one change means to a watcher: the node as it is, or the uid of one that it may have and that it has to forget. */
export type NodeNews =
  | { readonly type: Exclude<ChangeType, 'DELETED'>; readonly entry: NodeEntry }
  | { readonly type: 'DELETED'; readonly uid: string };

/**
 * `entry` is the node as it is now, `undefined` when it went. Nothing for a node that the watcher does not see now and cannot
 * have: at no time between its basis and what it was told did the node match.
 */
export function newsOf(
  change: NodeChange,
  entry: NodeEntry | undefined,
  { standing, view }: { readonly standing: Standing; readonly view: WatchView },
): NodeNews | undefined {
  if (entry && view.matches(entry)) return { type: isNew(change, { standing, view }) ? 'ADDED' : 'MODIFIED', entry };
  const { basis } = standing;
  const told = Math.max(standing.told, standing.position);
  const held = change.past.findLast(
    ({ shape, from, until }) => until > basis && from <= told && view.matches(shape),
  )?.shape;
  const uid = change.pastForgottenAt > basis ? (change.removed?.uid ?? entry?.uid) : undefined;
  return held || uid !== undefined ? { type: 'DELETED', uid: held?.uid ?? uid ?? '' } : undefined;
}

/** It came, or began to match, after the basis, as far as is known. */
function isNew(
  { addedAt, past, pastForgottenAt }: NodeChange,
  { standing: { basis }, view }: { readonly standing: Standing; readonly view: WatchView },
): boolean {
  if (addedAt > basis) return true;
  if (view.filterKey === '') return false;
  return pastForgottenAt > basis || past.some(({ shape, until }) => until > basis && !view.matches(shape));
}
