import type { WatchForm } from './watch-event.ts';
import type { WatchQuery } from './watch-query.ts';

/**
 * One client's watch of a list. The stream asks it for events when it can send some. A slow watcher gets
 * only the newest state of each object, once, and nothing is kept for it meanwhile. A client that applies the events in
 * order (ADDED and MODIFIED put the object of that name, DELETED takes it out) has the list of the version that the
 * next bookmark names.
 */
export interface Watch {
  /** Whether events are ready, or a bookmark that ends a first state. */
  readonly isBehind: boolean;
  /** Whether it is in its first state, which cannot be resumed on another connection. */
  readonly isBeginning: boolean;
  /**
   * The next events, all of them whole: at most 64 KiB and one object. Other watchers share the bytes, so they must not
   * be changed. `undefined`: it is up to date, or there is more to look at, as `isBehind` says. If removals were
   * forgotten before this watcher was sent them, a watch of server-sent events sends `reset` and begins again, and one of
   * JSON lines throws a 410 `StatusError`.
   */
  next(): Uint8Array | undefined;
  /**
   * A bookmark to resume from: the version that the client has, or a place between two versions. May be asked for at
   * any time, up to date or not. `undefined` during a first state, during the events that a resume begins with, and
   * if the client wants no bookmarks.
   */
  bookmark(): Uint8Array | undefined;
  /**
   * The bytes that keep an idle stream alive: a bookmark, or a comment. `undefined` if neither is wanted or possible.
   */
  keepAlive(): Uint8Array | undefined;
}

/** What the routes need of the cache to serve watches. Reads memory, awaits nothing. */
export interface WatchSource {
  /**
   * Brings the list, and what is added to it, up to date, and returns its version. Throws a 503 before the first sync
   * and when the data is too old.
   */
  refresh(): number;
  /**
   * Throws the same 503. For a version of another process, or one that is too old to resume from, it throws a 410
   * `Expired`; server-sent events begin with a `reset` and a first state instead.
   */
  watch(query: WatchQuery, form: WatchForm): Watch;
}
