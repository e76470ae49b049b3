import type { StoredEntry } from './store.ts';

type Keyed = Pick<StoredEntry, 'key'>;

/** A power of two. 450,000 entries make 1,800 in each shard. */
const SHARDS = 256;

/**
 * A map of entries by their own keys, made for hundreds of thousands of them.
 *
 * V8 enters every text that is a key of a `Map`, or is looked up in one, into its table of unique strings. Each garbage
 * collection of the old part of the heap stops the thread to go through that table: 20 to 70 ms with 450,000 pods. The
 * keys here are therefore numbers, the hashes of the texts. Also, V8 rebuilds a `Map` that outgrows its space in one step,
 * which takes 30 to 80 ms for 450,000 entries. So the table consists of many small maps.
 */
export class KeyTable<Entry extends Keyed> {
  /** Shards by the low bits of the hash. Each maps the whole hash to the first entry that has it. */
  readonly #shards = Array.from({ length: SHARDS }, () => new Map<number, Entry>());
  /**
   * The other entries with the same hash, by their texts: about 20 of 450,000. They are in a `Map` and not in a list,
   * because FNV is public: a tenant can choose many pod names with one hash.
   */
  readonly #others = new Map<number, Map<string, Entry>>();
  readonly #hash: (key: string) => number;
  #size = 0;

  /** `hash` returns a signed 32-bit integer. A `Map` holds such numbers without a heap object for each. */
  constructor(hash: (key: string) => number = textHash) {
    this.#hash = hash;
  }

  get size(): number {
    return this.#size;
  }

  get(key: string): Entry | undefined {
    const hash = this.#hash(key);
    const first = this.#shard(hash).get(hash);
    return first?.key === key ? first : this.#others.get(hash)?.get(key);
  }

  /** Adds an entry, or replaces the one with the same key. */
  set(entry: Entry): void {
    const { key } = entry;
    const hash = this.#hash(key);
    const shard = this.#shard(hash);
    const first = shard.get(hash);
    const others = this.#others.get(hash);
    const isOther = others?.has(key) === true;
    const isFirst = first?.key === key;
    if (!isFirst && !isOther) this.#size++;
    if (isFirst || (first === undefined && !isOther)) shard.set(hash, entry);
    else if (others) others.set(key, entry);
    else this.#others.set(hash, new Map([[key, entry]]));
  }

  delete(key: string): void {
    const hash = this.#hash(key);
    const shard = this.#shard(hash);
    const others = this.#others.get(hash);
    if (shard.get(hash)?.key === key) shard.delete(hash);
    else if (!others?.delete(key)) return;
    this.#size--;
    if (others?.size === 0) this.#others.delete(hash);
  }

  /** All current entries, in any order. */
  values(): Entry[] {
    // The array has its full length at once. If it grew to 450,000 entries, it would be copied 30 times.
    const entries = new Array<Entry>(this.#size);
    let at = 0;
    for (const part of this.parts()) for (const entry of part) entries[at++] = entry;
    return entries;
  }

  /** All entries, part by part and without a copy. Use it for work in steps, during which the table does not change. */
  parts(): Iterable<Entry>[] {
    return [...this.#shards, ...this.#others.values()].map((part) => part.values());
  }

  #shard(hash: number): Map<number, Entry> {
    return this.#shards[hash & (SHARDS - 1)] as Map<number, Entry>;
  }
}

/** FNV-1a, 32 bit: offset basis and prime. */
const BASIS = 0x811c9dc5;
const PRIME = 0x01000193;

/** FNV-1a of the UTF-16 units of a text, as a signed 32-bit integer. `seed` is the hash of the text before it. */
export function textHash(text: string, seed = BASIS): number {
  let value = seed | 0;
  for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), PRIME);
  return value;
}
