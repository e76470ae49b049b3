/**
 * At most so many entries: one more pushes out the one that was set longest ago. Reading moves nothing, so a read costs what
 * a read of a `Map` does.
 */
export class BoundedMap<Value> {
  readonly #most: number;
  /** In the order in which they were set: a `Map` keeps the order of insertion. */
  readonly #values = new Map<string, Value>();
  /** Stands before the oldest entry. A new one each time would have to skip all that were deleted since the map grew last. */
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
