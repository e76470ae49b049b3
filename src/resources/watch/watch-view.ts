import { compareResourceVersions } from '../../kubernetes/object.ts';
import type { Change, Mark } from '../entries/change.ts';
import type { ListState } from '../entries/collection-version.ts';
import type { Entry } from '../entries/entry.ts';
import type { Shape } from '../query/filter.ts';
import type { ChangeType, WatchForm } from './watch-event.ts';

/** Which objects a watcher wants, and in which form. */
export interface WatchView {
  readonly form: WatchForm;
  /** Each object is sent as a `PartialObjectMetadata`. */
  readonly metadataOnly: boolean;
  /** `''`: every object. */
  readonly filterKey: string;
  matches(object: Shape): boolean;
  /** Whether the watcher may have been sent an object while it had this shape. Absent: what matches now. */
  had?(object: Shape): boolean;
  /** The part of the list that the watcher sees, for its versions. Absent: the whole list. */
  readonly scope?: string | undefined;
  /** The namespace in the path of the watch. Part of what views share batches by, because `matches` depends on it. */
  readonly namespaceKey?: string | undefined;
}

/** What a watcher has: the whole list of the store's version `basis`, and all later changes up to `position`. */
export interface WatcherState {
  readonly basis: number;
  readonly position: number;
  /** No state that this stream sent is newer than this version of the store. */
  readonly newestSent: number;
  /** The version from which the client resumes if the stream ends here: that of the list that it had in full. */
  readonly complete: string;
  /** How new its objects may be. Set if that is newer than the list that it has in full. */
  readonly seen: ListState | undefined;
  /** The client resumed. An earlier stream may have sent it newer states, perhaps from a replica that is ahead of us. */
  readonly isResumed: boolean;
}

/** Which states a watcher may have been sent: those since the list that it had in full, up to a version of the store. */
export interface Reach {
  isAfterBasis(mark: Mark): boolean;
  readonly newestSent: number;
}

export const reachOf = ({ basis, position, newestSent, isResumed }: WatcherState): Reach => ({
  isAfterBasis: ({ version }) => version > basis,
  newestSent: isResumed ? Number.POSITIVE_INFINITY : Math.max(newestSent, position),
});

/** The reach of a client that had the full list when the cluster's objects were at this version. */
export const reachSince = (version: string): Reach => ({
  isAfterBasis: ({ changedAt }) => compareResourceVersions(changedAt, version) > 0,
  newestSent: Number.POSITIVE_INFINITY,
});

/** What a watcher may have been sent, and what it wants to see. */
interface Watcher {
  readonly reach: Reach;
  readonly view: WatchView;
}

/**
 * What one change means to a watcher: the object as it is now, or the uid of an object that it may have and must
 * forget.
 */
export type News = {
  readonly change: Change;
  /** After this event the watcher has all changes up to this version of the store. Default: the version of the change. */
  readonly upTo?: number | undefined;
} & (
  | { readonly type: Exclude<ChangeType, 'DELETED'>; readonly entry: Entry }
  | { readonly type: 'DELETED'; readonly uid: string }
);

/**
 * `entry` is the object as it is now, `undefined` if it is gone. Returns nothing if the object does not match now, and
 * matched in no state that the watcher may have been sent: then the watcher cannot have it.
 */
export function newsOf(change: Change, entry: Entry | undefined, watcher: Watcher): News | undefined {
  const { reach, view } = watcher;
  if (entry && view.matches(entry)) return { change, type: isNew(change, watcher) ? 'ADDED' : 'MODIFIED', entry };
  const had = (shape: Shape): boolean => view.had?.(shape) ?? view.matches(shape);
  // The rights of the watcher changed: it may have the object as it is now, and must forget it.
  if (entry && view.had?.(entry)) return { change, type: 'DELETED', uid: entry.uid };
  const held = change.past.findLast(
    ({ shape, from, until }) => reach.isAfterBasis(until) && from <= reach.newestSent && had(shape),
  );
  const uid = reach.isAfterBasis(change.pastForgottenAt) ? (change.removed ?? entry?.uid) : undefined;
  return held || uid !== undefined ? { change, type: 'DELETED', uid: held?.shape.uid ?? uid ?? '' } : undefined;
}

/** Whether the object was created, or began to match, after the basis. True if the past is not known far enough. */
function isNew({ addedAt, past, pastForgottenAt }: Change, { reach, view }: Watcher): boolean {
  if (reach.isAfterBasis(addedAt)) return true;
  if (view.filterKey === '') return false;
  const began = past.some(({ shape, until }) => reach.isAfterBasis(until) && !view.matches(shape));
  return began || reach.isAfterBasis(pastForgottenAt);
}
