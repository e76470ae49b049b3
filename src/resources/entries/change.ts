import type { Shape } from '../query/filter.ts';
import type { ListState } from './collection-version.ts';
import type { Entry } from './entry.ts';

/** A point in time: as the store counts its changes, and as the cluster counts those of the objects. */
export interface Mark {
  readonly version: number;
  readonly changedAt: string;
}

/** A shape that an object has no more. */
interface PastShape {
  readonly shape: Shape;
  /** The version of the store that it came with. */
  readonly from: number;
  readonly until: Mark;
}

/** What became of one object last; its next change takes the place of this one. */
export interface Change {
  readonly key: string;
  /** False once the object changed again, or what became of it is forgotten. */
  readonly isNewest: boolean;
  /** The version of the store that it made: no two changes have the same. */
  readonly version: number;
  /** The object's own newest change: that of what is added to it is one of another object. */
  readonly changedAt: string;
  /** What the cluster had told us by then: the object has stood so since, and stands otherwise when it says otherwise. */
  readonly seen: ListState;
  /** Since when an object of this key and uid is there without a gap. */
  readonly addedAt: Mark;
  /** Since when filters see of it what they see now. */
  readonly shapedAt: number;
  /** What they saw of this key before, the oldest first, whatever its uid. */
  readonly past: readonly PastShape[];
  /** Past shapes that ended then or before may be forgotten. */
  readonly pastForgottenAt: Mark;
  /** Set when the object went: its uid. The newest state of any other is in the store. */
  readonly removed?: string;
}

/**
 * A filter is asked about the past of an object to find out whether its watchers may have the object. A watcher that keeps up needs one
 * past shape; four cover who was away for a minute while an annotation changed each 15 s. Whose memory is too short for the
 * answer is told of a removal of 200 bytes too many.
 */
const MOST_PAST_SHAPES = 4;

type Past = Pick<Change, 'past' | 'pastForgottenAt'>;

/** `entry` stands no more as it did since `last`. */
export function withPast(last: Change, entry: Entry, until: Mark): Past {
  const past = [...last.past, { shape: shapeOf(entry), from: last.shapedAt, until }];
  if (past.length <= MOST_PAST_SHAPES) return { past, pastForgottenAt: last.pastForgottenAt };
  return { past: past.slice(1), pastForgottenAt: past[0]?.until ?? until };
}

/** Without the encoded object, which is the most of an entry. */
const shapeOf = ({ name, namespace, uid, labels, annotations, owners, status }: Entry): Shape => ({
  ...{ name, namespace, uid, labels, annotations, owners, status },
});

/** Whether no filter can tell the two apart; of entries that share equal texts. */
export const isSameShape = (a: Entry, b: Entry): boolean =>
  a.status === b.status &&
  a.labels === b.labels &&
  a.annotations === b.annotations &&
  a.owners.length === b.owners.length &&
  a.owners.every((owner, at) => owner.uid === b.owners[at]?.uid && owner.kind === b.owners[at]?.kind);

/** `next` with the texts of `previous` where they are equal: a past shape costs what changed since. */
export const sharingTexts = (previous: Entry, next: Entry): Entry => ({
  ...next,
  labels: shared(previous.labels, next.labels),
  annotations: shared(previous.annotations, next.annotations),
});

function shared(previous: Entry['labels'], next: Entry['labels']): Entry['labels'] {
  if (!previous || !next || previous === next) return next;
  const names = Object.keys(next);
  const isEqual = (name: string): boolean => Object.hasOwn(previous, name) && previous[name] === next[name];
  if (names.every(isEqual)) return names.length === Object.keys(previous).length ? previous : next;
  return Object.fromEntries(names.map((name) => [name, (isEqual(name) ? previous : next)[name] as string]));
}
