import type { Failure } from './failure.ts';

/** Which state a list shows: `''` the newest, by a quorum read; `notOlderThan` that version or any newer one. */
export type ListVersion = '' | { readonly notOlderThan: string } | { readonly exact: string };

export interface ListRequest {
  readonly version: ListVersion;
  readonly limit: number;
  /** From the previous page. It already names the version, so `version` is not sent. */
  readonly continueToken?: string;
  /** Names and versions only, for the self-check. */
  readonly metadataOnly?: boolean;
}

export interface ListPage {
  readonly kind: 'page';
  readonly resourceVersion: string;
  /** `''` on the last page. */
  readonly continueToken: string;
  /** Unchecked objects. */
  readonly items: readonly unknown[];
  /** The size of the answer; absent when nothing was read from a connection. */
  readonly bytes?: number;
}

export interface WatchRequest {
  /** Where to resume; `''` with `initialEvents` reads the newest state first, by quorum. */
  readonly resourceVersion: string;
  readonly timeoutSeconds: number;
  /** WatchList: the state as ADDED events, then a bookmark annotated `k8s.io/initial-events-end`, then the changes. */
  readonly initialEvents?: boolean;
}

/** One line of a watch stream: `metav1.WatchEvent`. The object has not been checked yet. */
export interface WatchEvent {
  readonly type: string;
  readonly object: Readonly<Record<string, unknown>>;
}

/** Receives a watch as it runs, synchronously and in order. */
export interface WatchSink {
  /** The server accepted the request: a success status came. */
  accepted(): void;
  /** Bytes of any kind came. */
  bytes(): void;
  /** A returned failure ends the stream. */
  event(event: WatchEvent): Failure | undefined;
  /** If it returns a promise, a source that can pause sends nothing until that resolves. The sink still accepts what comes. */
  busy?(): Promise<void> | undefined;
}

/**
 * The source of one collection. Neither call rejects: every end is a value. Both end with `aborted` soon after the
 * signal aborts, and have no time limit of their own.
 */
export interface ListerWatcher {
  /** One page. `progress` is called whenever bytes come. */
  list(request: ListRequest, progress: () => void, signal: AbortSignal): Promise<ListPage | Failure>;
  /** Resolves when the stream has ended. */
  watch(request: WatchRequest, sink: WatchSink, signal: AbortSignal): Promise<Failure>;
}
