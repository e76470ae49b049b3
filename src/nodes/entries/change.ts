import type { ListState } from '../watch/watch-version.ts';
import type { NodeEntry } from './entry.ts';

/** All that a filter reads of a node. */
export type NodeShape = Pick<NodeEntry, 'key' | 'uid' | 'labels' | 'annotations' | 'owners' | 'status'>;

/** A point in time: as the store counts its changes, and as the cluster counts those of nodes. */
export interface Mark {
  readonly version: number;
  readonly changedAt: string;
}

/** A shape that a node has no more. */
interface PastShape {
  readonly shape: NodeShape;
  /** The version of the store that it came with. */
  readonly from: number;
  readonly until: Mark;
}

/** What became of one node last; its next change takes the place of this one. */
export interface NodeChange {
  readonly name: string;
  /** False once the node changed again, or what became of it is forgotten. */
  readonly isNewest: boolean;
  /** The version of the store that it made: no two changes have the same. */
  readonly version: number;
  /** The node's own newest change: that of its usage is one of its pods. */
  readonly changedAt: string;
  /** What the cluster had told us by then: the node has stood so since, and stands otherwise when it says otherwise. */
  readonly seen: ListState;
  /** Since when a node of this name and uid is there without a gap. */
  readonly addedAt: Mark;
  /** Since when filters see of it what they see now. */
  readonly shapedAt: number;
  /** What they saw of this name before, the oldest first, whatever its uid. */
  readonly past: readonly PastShape[];
  /** Past shapes that ended then or before may be forgotten. */
  readonly pastForgottenAt: Mark;
  /** Set when the node went: its uid. The newest state of any other is in the store. */
  readonly removed?: string;
}

/**
 * A filter is asked about the past of a node to find out whether its watchers may have the node. A watcher that keeps up needs one
 * past shape; four cover who was away for a minute while an annotation changed each 15 s. Whose memory is too short for the
 * answer is told of a removal of 200 bytes too many.
 */
const MOST_PAST_SHAPES = 4;

type Past = Pick<NodeChange, 'past' | 'pastForgottenAt'>;

/** `entry` stands no more as it did since `last`. */
export function withPast(last: NodeChange, entry: NodeEntry, until: Mark): Past {
  const past = [...last.past, { shape: shapeOf(entry), from: last.shapedAt, until }];
  if (past.length <= MOST_PAST_SHAPES) return { past, pastForgottenAt: last.pastForgottenAt };
  return { past: past.slice(1), pastForgottenAt: past[0]?.until ?? until };
}

/** Without the encoded node, which is the most of an entry. */
const shapeOf = ({ key, uid, labels, annotations, owners, status }: NodeEntry): NodeShape => ({
  ...{ key, uid, labels, annotations, owners, status },
});

/** Whether no filter can tell the two apart; of entries that share equal texts. */
export const isSameShape = (a: NodeEntry, b: NodeEntry): boolean =>
  a.status === b.status &&
  a.labels === b.labels &&
  a.annotations === b.annotations &&
  a.owners.length === b.owners.length &&
  a.owners.every((owner, at) => owner.uid === b.owners[at]?.uid && owner.kind === b.owners[at]?.kind);

/** `next` with the texts of `previous` where they are equal: a past shape costs what changed since. */
export const sharingTexts = (previous: NodeEntry, next: NodeEntry): NodeEntry => ({
  ...next,
  labels: shared(previous.labels, next.labels),
  annotations: shared(previous.annotations, next.annotations),
});

function shared(previous: NodeEntry['labels'], next: NodeEntry['labels']): NodeEntry['labels'] {
  if (!previous || !next || previous === next) return next;
  const names = Object.keys(next);
  const isEqual = (name: string): boolean => Object.hasOwn(previous, name) && previous[name] === next[name];
  if (names.every(isEqual)) return names.length === Object.keys(previous).length ? previous : next;
  return Object.fromEntries(names.map((name) => [name, (isEqual(name) ? previous : next)[name] as string]));
}
