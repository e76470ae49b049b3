/**
 * The iterator is dropped after this many calls of `set`. An iterator that is not advanced keeps alive every hash table that the
 * map replaces: 150 bytes a call in a map of one entry. A new iterator must skip the deleted entries again, which costs next to
 * nothing at this rate.
 */
const SETS_WITH_ONE_ITERATOR = 256;

/**
 * A map with at most `most` entries: a new entry pushes out the one that was set longest ago. Reading moves nothing, so
 * it costs the same as in a `Map`.
 */
export class BoundedMap<Value> {
  readonly #most: number;
  /** In the order in which they were set: a `Map` keeps the order of insertion. */
  readonly #values = new Map<string, Value>();
  /** Points before the oldest entry. A new iterator must skip all entries that were deleted since the map last grew. */
  #oldest: Iterator<string> | undefined;
  #sets = 0;

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
    if (++this.#sets % SETS_WITH_ONE_ITERATOR === 0) this.#oldest = undefined;
    if (this.#values.size >= this.#most) this.#deleteOldest();
    this.#values.set(key, value);
  }

  delete(key: string): void {
    this.#values.delete(key);
  }

  /** The entries in the order in which they were set. Call it rarely: each walk also skips what was deleted since the map last grew. */
  entries(): IterableIterator<[string, Value]> {
    return this.#values.entries();
  }

  #deleteOldest(): void {
    this.#oldest ??= this.#values.keys();
    this.#values.delete(this.#oldest.next().value as string);
  }
}
