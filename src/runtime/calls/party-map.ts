/** A key, and the party in whose share it counts. A key belongs to one party for ever. */
export interface PartyKey {
  readonly key: string;
  readonly party: string;
}

export interface PartyLimits {
  readonly maxEntries: number;
  /** Entries of one party; at most `maxEntries`. */
  readonly maxEntriesOfOne: number;
}

/**
 * Values by key, within two bounds. When a party is full, its oldest entry is dropped. When the whole map is full, the
 * oldest entry of all is dropped, unless the party of the new entry has more than the party of that one; then it loses
 * its own oldest. Reading moves nothing; an entry is young again when it is set again. It is no `BoundedMap`, because
 * that has no bound for each party.
 */
export class PartyMap<Value> {
  /** In the order in which they were set: a Map and a Set keep the order of insertion. */
  readonly #entries = new Map<string, { readonly party: string; readonly value: Value }>();
  readonly #keysOf = new Map<string, Set<string>>();
  readonly #limits: PartyLimits;

  constructor(limits: PartyLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): Value | undefined {
    return this.#entries.get(key)?.value;
  }

  /** In the order in which they were set. */
  *values(): Iterable<Value> {
    for (const { value } of this.#entries.values()) yield value;
  }

  set({ key, party }: PartyKey, value: Value): void {
    this.delete(key);
    const keys = this.#keysOf.get(party) ?? new Set();
    this.#keysOf.set(party, keys.add(key));
    this.#entries.set(key, { party, value });
    if (keys.size > this.#limits.maxEntriesOfOne) this.#deleteFirst(keys);
    if (this.#entries.size > this.#limits.maxEntries) this.#deleteOfTwo(keys);
  }

  /** Replaces the value of a key, which keeps its age. Does nothing for a key that is not there. */
  replace(key: string, value: Value): void {
    const entry = this.#entries.get(key);
    if (entry) this.#entries.set(key, { ...entry, value });
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    this.#entries.delete(key);
    const keys = this.#keysOf.get(entry.party);
    keys?.delete(key);
    if (keys?.size === 0) this.#keysOf.delete(entry.party);
  }

  /** Drops every entry of the parties for which this holds. */
  deleteParties(isMeant: (party: string) => boolean): void {
    for (const [party, keys] of this.#keysOf) {
      if (isMeant(party)) for (const key of [...keys]) this.delete(key);
    }
  }

  /**
   * Drops the oldest entry of all or the oldest of this party: of the two parties, the one with more entries loses one. So the
   * party that fills the map makes the room.
   */
  #deleteOfTwo(own: ReadonlySet<string>): void {
    const [oldest] = this.#entries.values();
    const others = this.#keysOf.get(oldest?.party ?? '')?.size ?? 0;
    this.#deleteFirst(own.size > others ? own : this.#entries);
  }

  #deleteFirst(keys: { keys(): Iterable<string> }): void {
    for (const key of keys.keys()) {
      this.delete(key);
      return;
    }
  }
}
