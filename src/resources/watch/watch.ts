import type { WatchForm } from './watch-event.ts';
import type { WatchQuery } from './watch-query.ts';

/**
 * One watcher's way along the versions of a list. It asks for events when it can take some: who lags is told of each
 * object's newest state, once, and nothing is kept for it meanwhile. Whoever applies the events in their order (ADDED and
 * MODIFIED put the object of that name, DELETED takes it out) has the list of the version that the next bookmark names.
 */
export interface Watch {
  /** There are events to be had, or a bookmark that ends a first state. */
  readonly isBehind: boolean;
  /** In its first state, which cannot be gone on with on another connection. */
  readonly isBeginning: boolean;
  /**
   * The next whole events, 64 KiB and one object at most; never changed, shared with other watchers. `undefined`: up to date.
   * When removals that it was not told of are forgotten, server-sent events say `reset` and begin anew; else it throws a 410 `StatusError`.
   */
  next(): Uint8Array | undefined;
  /**
   * Where its reader is, to go on from: the version that it was brought to, or a place in the middle of what followed. `undefined` in a
   * first state, and in what a resume begins with, and where no bookmarks are wanted. Up to date or not, it may be asked for at any time.
   */
  bookmark(): Uint8Array | undefined;
  /** What an idle stream is kept alive with: a bookmark, a comment, or nothing where neither is wanted or possible. */
  keepAlive(): Uint8Array | undefined;
}

/** What the routes need of the cache to serve watches. Reads memory, awaits nothing. */
export interface WatchSource {
  /**
   * Brings the list, and all that is behind it, up to the moment; answers its version then. Throws the 503 of a cache that must
   * not be read.
   */
  refresh(): number;
  /**
   * Throws the same 503. A version of another process, or one that is too old to go on from, is a 410 `Expired`, and for server-sent events
   * a first state after a `reset`.
   */
  watch(query: WatchQuery, form: WatchForm): Watch;
}
