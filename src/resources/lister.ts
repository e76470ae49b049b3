import type { Representation } from './bytes/representation.ts';
import type { ListQuery } from './query/list-query.ts';

/** What the routes of a kind need of its cache. Reads memory only. */
export interface Lister {
  /** Throws a 503 `StatusError` before the first sync and when the data is too old. */
  list(query: ListQuery): Representation;
  /** `undefined`: no such object. Throws as `list`. */
  get(key: string): Representation | undefined;
}

/** What the routes need to know of the age of an answer. */
export interface Age {
  /** Whole seconds since the oldest data behind the answers was proved current. `undefined` up to a minute. */
  staleSeconds(): number | undefined;
}
