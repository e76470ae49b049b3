import type { Failure } from '../../src/kubernetes/reflector/failure.ts';
import type { ListRequest, WatchRequest } from '../../src/kubernetes/reflector/lister-watcher.ts';
import type { Served } from './cache-oracle.ts';
import type { Change } from './history.ts';
import type { ModelWatch } from './model-watch.ts';

/** Is told what the server is asked for, and sends through it: what the invariants are checked on. */
export interface Witness {
  listStarts(request: ListRequest | WatchRequest): void;
  watchStarts(request: WatchRequest): void;
  watchEnded(watch: ModelWatch, failure: Failure): void;
  /** A byte, or a page asked for. */
  active(): void;
  /** The server says that the version asked for cannot be had. */
  outOfReach(why: string): void;
  /** The cache is at a version that the server has not seen, or its like. */
  accepted(watch: ModelWatch): void;
  served(list: Served): void;
  delivering(change: Change, send: () => void): void;
  /** Before a bookmark of this version is sent. */
  bookmarked(version: number): void;
}
