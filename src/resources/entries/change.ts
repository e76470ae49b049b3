import type { Shape } from '../query/filter.ts';
import type { ListState } from './collection-version.ts';
import type { Entry } from './entry.ts';
import type { ObjectKind } from './object-kind.ts';

/** A point in time, by the store's version and by the cluster's. */
export interface Mark {
  readonly version: number;
  readonly changedAt: string;
}

/** What filters saw of an object before it changed. */
interface PastShape {
  readonly shape: Shape;
  /** The version of the store at which the object got this shape. */
  readonly from: number;
  readonly until: Mark;
}

/** The last change of one object. Its next change replaces this one. */
export interface Change {
  readonly key: string;
  /** False once the object changed again, or once its removal is forgotten. */
  readonly isNewest: boolean;
  /** The version of the store that this change made. Every change makes another one. */
  readonly version: number;
  /**
   * The resourceVersion of the object's own newest change. A change of its added annotations does not count, because it
   * is a change of another object.
   */
  readonly changedAt: string;
  /** How far we had followed the cluster by then. The object has not changed since. */
  readonly seen: ListState;
  /** When the object with this uid was added. It has existed ever since. */
  readonly addedAt: Mark;
  /** The version of the store at which the object got the shape that filters see now. */
  readonly shapedAt: number;
  /** What filters saw under this key before, for all uids, the oldest first. */
  readonly past: readonly PastShape[];
  /** Past shapes that ended at this mark or before may have been forgotten. */
  readonly pastForgottenAt: Mark;
  /** The uid of the object if it is gone. The newest state of any other object is in the store. */
  readonly removed?: string;
}

/**
 * Filters are applied to past shapes of an object to find out whether a watcher may have it. A watcher that keeps up
 * needs one past shape; four are enough for one that was away for a minute while an annotation changed every 15 s. If
 * the shapes do not go back far enough, a watcher may get a DELETED of 200 bytes that it did not need.
 */
const MOST_PAST_SHAPES = 4;

type Past = Pick<Change, 'past' | 'pastForgottenAt'>;

/** The kind of an object, as far as its shapes depend on it. */
export type ShapedKind = Pick<ObjectKind, 'isSameOwn'>;

const WITHOUT_OWN: ShapedKind = {};

/** Adds to the past the shape that `entry` had since `last`. */
export function withPast(last: Change, entry: Entry, until: Mark, kind = WITHOUT_OWN): Past {
  const past = [...last.past, { shape: shapeOf(entry, kind), from: last.shapedAt, until }];
  if (past.length <= MOST_PAST_SHAPES) return { past, pastForgottenAt: last.pastForgottenAt };
  return { past: past.slice(1), pastForgottenAt: past[0]?.until ?? until };
}

/** Leaves out the encoded object, which takes most of an entry's memory. */
function shapeOf({ name, namespace, uid, labels, annotations, owners, status, own }: Entry, kind: ShapedKind): Shape {
  return { name, namespace, uid, labels, annotations, owners, status, own: kind.isSameOwn ? own : undefined };
}

/** Whether filters see the two alike. It compares texts and `own` by reference, so `b` must come from `sharingTexts(a, …)`. */
export const isSameShape = (a: Entry, b: Entry, kind = WITHOUT_OWN): boolean =>
  a.status === b.status &&
  a.labels === b.labels &&
  a.annotations === b.annotations &&
  (a.own === b.own || !kind.isSameOwn) &&
  sameOwners(a.owners, b.owners);

export const sameOwners = (a: Entry['owners'], b: Entry['owners']): boolean =>
  a === b || (a.length === b.length && a.every((owner, at) => owner.uid === b[at]?.uid && owner.kind === b[at]?.kind));

/** `next`, with the texts and the `own` of `previous` where the two are equal. So a past shape takes memory only for what changed. */
export const sharingTexts = (previous: Entry, next: Entry, kind = WITHOUT_OWN): Entry => ({
  ...next,
  labels: sharedTexts(previous.labels, next.labels),
  annotations: sharedTexts(previous.annotations, next.annotations),
  own: kind.isSameOwn?.(previous.own, next.own) ? previous.own : next.own,
});

/** `next`, or `previous` if the two are equal, or `next` with the texts of `previous` where they are. */
export function sharedTexts(previous: Entry['labels'], next: Entry['labels']): Entry['labels'] {
  if (!previous || !next || previous === next) return next;
  const names = Object.keys(next);
  const isEqual = (name: string): boolean => Object.hasOwn(previous, name) && previous[name] === next[name];
  if (names.every(isEqual)) return names.length === Object.keys(previous).length ? previous : next;
  return Object.fromEntries(names.map((name) => [name, (isEqual(name) ? previous : next)[name] as string]));
}
