import type { NodeListQuery } from './query/list-query.ts';

export type ContentCoding = 'identity' | 'gzip';

/** One answer of the cache in both codings. Bodies are made on first use and kept while the version lasts. */
export interface Representation {
  /** Strong, quotes included, one per coding (RFC 9110 8.8.3). */
  etag(coding: ContentCoding): string;
  /** Makes the body in slices of time where it takes long; `undefined`: it is there. */
  compose(coding: ContentCoding): Promise<void> | undefined;
  /** The body in pieces, to be written in this order; never changed afterwards. Made at once where it was not composed. */
  body(coding: ContentCoding): readonly Uint8Array[];
  /** Bytes of `body(coding)`. */
  length(coding: ContentCoding): number;
}

/** What the node routes need of the cache: reads memory. */
export interface NodeLister {
  /** Throws a 503 `StatusError` before the first sync and when the data is too old. */
  list(query: NodeListQuery): Representation;
  /** `undefined`: no such node. Throws as `list`. */
  get(name: string): Representation | undefined;
}

/** What the node routes tell of the age of an answer. */
export interface NodeAge {
  /** Whole seconds since the oldest data that answers rest on was proven current; `undefined` up to a minute. */
  staleSeconds(): number | undefined;
}
