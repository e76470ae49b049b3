import type { LastProof } from '../../data-age.ts';
import type { Steps } from '../../runtime/time-slices.ts';
import type { KubernetesObject } from '../object.ts';

/** The least that a store keeps of an object, so that the reflector can order events. */
export interface StoredEntry {
  /** `namespace/name`, or `name` for cluster-scoped kinds. */
  readonly key: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

export interface Replacement {
  /**
   * Whether the list continues the history that the store has: equal uid and version mean equal content. False for the
   * first list, after a restore of the cluster (which uses versions again), and if the cache may be wrong.
   */
  readonly sameHistory: boolean;
  /** The version of the list. The list may lack only objects that are newer. */
  readonly resourceVersion: string;
}

/**
 * What a reflector writes to. The reflector is the only writer; every change is synchronous, so no reader sees half of
 * one. It orders events by (uid, resourceVersion) before it calls `put` and `remove`, so a store need not check again.
 */
export interface ReflectedStore<Entry extends StoredEntry> {
  /**
   * Reduces an object to the entry that the store keeps. Throws an `Error` if it cannot read the object. The reflector skips,
   * counts and once logs such an object.
   */
  toEntry(object: KubernetesObject): Entry;
  get(key: string): Entry | undefined;
  put(entry: Entry): void;
  /** `resourceVersion` is that of the removal. */
  remove(key: string, resourceVersion: string): void;
  /**
   * Prepares to replace the whole content, in steps during which readers still see the old content. The returned
   * function shows the new content, whole and at once. The reflector calls it in the turn of the last step, or never.
   * Neither `put` nor `remove` is called before that.
   */
  prepare(entries: readonly Entry[], replacement: Replacement): Steps<() => void>;
  /** All current entries, in any order: for the self-check's hash over (key, uid, resourceVersion). */
  entries(): readonly Entry[];
  /** Called once, when readers may see the content for the first time. */
  readable?(): void;
  /** How many bytes an entry takes. */
  bytesOf?(entry: Entry): number;
  /** Number of entries, for `gatehouse_cache_objects`. */
  readonly size: number;
}

/** What a reflector reports about itself, for readiness, liveness and the age of an answer. */
export interface Freshness {
  /** Whether the first complete list is in the store. Once true, it stays true. */
  hasSynced(): boolean;
  /**
   * The last proof that the cache is current: an event, a bookmark, a complete list, or a watch accepted at the last
   * resourceVersion. None before the first sync.
   */
  readonly proof: LastProof;
  /** Milliseconds since that proof. */
  stalenessMs(): number;
  /** Milliseconds since the last attempt or byte of any kind (I8). */
  idleMs(): number;
}
