import { compareResourceVersions } from '../../kubernetes/resource-version.ts';
import type { Mark, NodeChange, NodeShape } from '../entries/change.ts';
import type { NodeEntry } from '../entries/entry.ts';
import type { ChangeType, WatchForm } from './watch-event.ts';
import type { ListState } from './watch-version.ts';

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
  /** This stream told no state that is newer. */
  readonly told: number;
  /** The version that the client goes on from when it is cut off here: of the list that it had whole. */
  readonly complete: string;
  /** How new what it was told may be, where that is newer than what it has whole and each node by itself. */
  readonly seen: ListState | undefined;
  /** It came with a version: an earlier stream, perhaps of a replica that is ahead of us, may have told it anything. */
  readonly isResumed: boolean;
}

/** Of which times a watcher may have been told: from the list that it had whole on, up to a version of the store. */
export interface Reach {
  isAfterBasis(mark: Mark): boolean;
  readonly told: number;
}

export const reachOf = ({ basis, position, told, isResumed }: Standing): Reach => ({
  isAfterBasis: ({ version }) => version > basis,
  told: isResumed ? Number.POSITIVE_INFINITY : Math.max(told, position),
});

/** Of a client that had the list whole when the cluster's nodes were at this version. */
export const reachSince = (nodes: string): Reach => ({
  isAfterBasis: ({ changedAt }) => compareResourceVersions(changedAt, nodes) > 0,
  told: Number.POSITIVE_INFINITY,
});

/** What one change means to a watcher: the node as it is, or the uid of one that it may have and that it has to forget. */
export type NodeNews = { readonly change: NodeChange } & (
  | { readonly type: Exclude<ChangeType, 'DELETED'>; readonly entry: NodeEntry }
  | { readonly type: 'DELETED'; readonly uid: string }
);

/**
 * `entry` is the node as it is now, `undefined` when it went. Nothing for a node that the watcher does not see now and cannot
 * have: at no time of which it may have been told did the node match.
 */
export function newsOf(
  change: NodeChange,
  entry: NodeEntry | undefined,
  watcher: { readonly reach: Reach; readonly view: WatchView },
): NodeNews | undefined {
  const { reach, view } = watcher;
  if (entry && view.matches(entry)) return { change, type: isNew(change, watcher) ? 'ADDED' : 'MODIFIED', entry };
  const held = change.past.findLast(
    ({ shape, from, until }) => reach.isAfterBasis(until) && from <= reach.told && view.matches(shape),
  );
  const uid = reach.isAfterBasis(change.pastForgottenAt) ? (change.removed ?? entry?.uid) : undefined;
  return held || uid !== undefined ? { change, type: 'DELETED', uid: held?.shape.uid ?? uid ?? '' } : undefined;
}

/** It came, or began to match, after the basis, as far as is known. */
function isNew(
  { addedAt, past, pastForgottenAt }: NodeChange,
  { reach, view }: { readonly reach: Reach; readonly view: WatchView },
): boolean {
  if (reach.isAfterBasis(addedAt)) return true;
  if (view.filterKey === '') return false;
  const began = past.some(({ shape, until }) => reach.isAfterBasis(until) && !view.matches(shape));
  return began || reach.isAfterBasis(pastForgottenAt);
}
