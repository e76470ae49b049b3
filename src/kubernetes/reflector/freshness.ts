/** What a reflector reports about itself, for readiness, liveness and the age of an answer. */
export interface Freshness {
  /** Whether the first complete list is in the store. Once true, it stays true. */
  hasSynced(): boolean;
  /**
   * Milliseconds since the last proof that the cache is current: an event, a bookmark, a complete list, or a watch
   * accepted at the last resourceVersion. Infinity before the first sync.
   */
  stalenessMs(): number;
  /** Milliseconds since the last attempt or byte of any kind (I8). */
  idleMs(): number;
}
