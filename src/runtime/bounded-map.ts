/**
 * A map with at most `most` entries: a new entry pushes out the one that was set longest ago. Reading moves nothing, so
 * it costs the same as in a `Map`.
 */
export class BoundedMap<Value> {
  readonly #most: number;
  /** In the order in which they were set: a `Map` keeps the order of insertion. */
  readonly #values = new Map<string, Value>();
  /** Stands before the oldest entry. A new iterator would have to skip all entries deleted since the map last grew. */
  readonly #oldest = this.#values.keys();

  constructor(most: number) {
    this.#most = most;
  }

  get size(): number {
    return this.#values.size;
  }

  get(key: string): Value | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: Value): void {
    this.#values.delete(key);
    if (this.#values.size >= this.#most) this.#values.delete(this.#oldest.next().value as string);
    this.#values.set(key, value);
  }

  delete(key: string): void {
    this.#values.delete(key);
  }
}
