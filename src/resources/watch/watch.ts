import type { Within } from '../query/within.ts';
import type { WatchForm } from './watch-event.ts';
import type { WatchQuery } from './watch-query.ts';

/**
 * One client's watch of a list. The HTTP stream asks it for events when it can send some. A slow client gets only the
 * newest state of each object, once, and nothing is kept for it meanwhile. A client that applies the events in order
 * (ADDED and MODIFIED put the object of that name, DELETED takes it out) has the list of the version that the next
 * bookmark names.
 */
export interface Watch {
  /** Whether events are ready, or the bookmark that ends the initial events. */
  readonly isBehind: boolean;
  /** Whether the initial events are not complete. A client cannot resume in the middle of them. */
  readonly isBeginning: boolean;
  /**
   * The next events, all of them whole: at most 64 KiB and one object more. Do not change the bytes, which other watchers
   * share. `undefined`: the client is up to date or, if `isBehind`, the next call looks further. If the log forgot removals
   * that this client must learn of, server-sent events begin again with `reset`, and a watch of JSON lines throws a 410
   * `StatusError`.
   */
  next(): Uint8Array | undefined;
  /**
   * A bookmark to resume from. It names the version that the client has, or a place between two versions. `undefined`
   * during the initial events, while a resumed client catches up, and if the client wants no bookmarks.
   */
  bookmark(): Uint8Array | undefined;
  /**
   * The bytes that keep an idle stream alive: a bookmark, or a comment. `undefined` if neither is wanted or possible.
   */
  keepAlive(): Uint8Array | undefined;
  /**
   * From now on the caller may see another part of the list. Objects that the client may no longer see are told as DELETED, those that it
   * may see now as ADDED. Only for a watch that was opened with such a part.
   */
  rescope?(within: Within): void;
}

/** What the routes need of the cache to serve watches. Reads memory, awaits nothing. */
export interface WatchSource {
  /**
   * Brings the list and its added annotations up to date, and returns its version. Throws a 503 before the first sync and
   * when the data is too old.
   */
  refresh(): number;
  /**
   * Throws a 503 as `refresh` does. Throws a 410 `Expired` for a version that we cannot resume from, because it is too
   * old or local to another process. Server-sent events begin with `reset` and all objects instead.
   */
  watch(query: WatchQuery, form: WatchForm): Watch;
}
