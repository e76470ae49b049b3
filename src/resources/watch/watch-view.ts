import { compareResourceVersions } from '../../kubernetes/object.ts';
import type { Change, Mark } from '../entries/change.ts';
import type { ListState } from '../entries/collection-version.ts';
import type { Entry } from '../entries/entry.ts';
import type { Shape } from '../query/filter.ts';
import type { ChangeType, WatchForm } from './watch-event.ts';

/** What of the list a watcher wants to see, and how. */
export interface WatchView {
  readonly form: WatchForm;
  /** A `PartialObjectMetadata` in the place of each object. */
  readonly metadataOnly: boolean;
  /** `''`: every object. */
  readonly filterKey: string;
  matches(object: Shape): boolean;
}

/** Where a watcher stands: it had the whole list of `basis`, and was told of all changes up to `position` since. */
export interface Standing {
  readonly basis: number;
  readonly position: number;
  /** This stream told no state that is newer. */
  readonly told: number;
  /** The version that the client goes on from when it is cut off here: of the list that it had whole. */
  readonly complete: string;
  /** How new what it was told may be, where that is newer than what it has whole and each object by itself. */
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

/** Of a client that had the list whole when the cluster's objects were at this version. */
export const reachSince = (version: string): Reach => ({
  isAfterBasis: ({ changedAt }) => compareResourceVersions(changedAt, version) > 0,
  told: Number.POSITIVE_INFINITY,
});

/** What one change means to a watcher: the object as it is, or the uid of one that it may have and that it has to forget. */
export type News = { readonly change: Change } & (
  | { readonly type: Exclude<ChangeType, 'DELETED'>; readonly entry: Entry }
  | { readonly type: 'DELETED'; readonly uid: string }
);

/**
 * `entry` is the object as it is now, `undefined` when it went. Nothing for an object that the watcher does not see now and cannot
 * have: at no time of which it may have been told did the object match.
 */
export function newsOf(
  change: Change,
  entry: Entry | undefined,
  watcher: { readonly reach: Reach; readonly view: WatchView },
): News | undefined {
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
  { addedAt, past, pastForgottenAt }: Change,
  { reach, view }: { readonly reach: Reach; readonly view: WatchView },
): boolean {
  if (reach.isAfterBasis(addedAt)) return true;
  if (view.filterKey === '') return false;
  const began = past.some(({ shape, until }) => reach.isAfterBasis(until) && !view.matches(shape));
  return began || reach.isAfterBasis(pastForgottenAt);
}
