/** A key, and the flow in whose share it counts. A key belongs to one flow for ever. */
export interface FlowKey {
  readonly key: string;
  readonly flow: string;
}

export interface FairMapLimits {
  readonly maxEntries: number;
  /** Entries of one flow; at most `maxEntries`. */
  readonly maxEntriesOfOne: number;
}

/**
 * Values by key, within two bounds. When a flow is full, its oldest entry is dropped. When the whole map is full, the
 * oldest entry of all is dropped, unless the flow of the new entry has more than the flow of that one; then it loses
 * its own oldest. Reading moves nothing; an entry is young again when it is set again. It is no `BoundedMap`, because
 * that has no bound for each flow.
 */
export class FairMap<Value> {
  /** In the order in which they were set: a Map and a Set keep the order of insertion. */
  readonly #entries = new Map<string, { readonly flow: string; readonly value: Value }>();
  readonly #keysOf = new Map<string, Set<string>>();
  readonly #limits: FairMapLimits;

  constructor(limits: FairMapLimits) {
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

  set({ key, flow }: FlowKey, value: Value): void {
    this.delete(key);
    const keys = this.#keysOf.get(flow) ?? new Set();
    this.#keysOf.set(flow, keys.add(key));
    this.#entries.set(key, { flow, value });
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
    const keys = this.#keysOf.get(entry.flow);
    keys?.delete(key);
    if (keys?.size === 0) this.#keysOf.delete(entry.flow);
  }

  /** Drops every entry of the flows for which this holds. */
  deleteFlows(isMeant: (flow: string) => boolean): void {
    for (const [flow, keys] of this.#keysOf) {
      if (isMeant(flow)) for (const key of [...keys]) this.delete(key);
    }
  }

  /**
   * Drops the oldest entry of all or the oldest of this flow: of the two flows, the one with more entries loses one. So the
   * flow that fills the map makes the room.
   */
  #deleteOfTwo(own: ReadonlySet<string>): void {
    const [oldest] = this.#entries.values();
    const others = this.#keysOf.get(oldest?.flow ?? '')?.size ?? 0;
    this.#deleteFirst(own.size > others ? own : this.#entries);
  }

  #deleteFirst(keys: { keys(): Iterable<string> }): void {
    for (const key of keys.keys()) {
      this.delete(key);
      return;
    }
  }
}
