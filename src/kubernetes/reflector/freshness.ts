/** What a reflector tells of itself, for readiness, liveness and the age of an answer. */
export interface Freshness {
  /** The first complete list is in the store. Never false again. */
  hasSynced(): boolean;
  /**
   * Milliseconds since the last proof that the cache is current: an event, a bookmark, a complete list, or a watch
   * accepted at the last resourceVersion. Infinity before the first sync.
   */
  stalenessMs(): number;
  /** Milliseconds since the last attempt or byte of any kind (I8). */
  idleMs(): number;
}
