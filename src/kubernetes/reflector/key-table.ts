import type { StoredEntry } from './store.ts';
import { textHash } from './text-hash.ts';

type Keyed = Pick<StoredEntry, 'key'>;

/** 450,000 entries are 1,800 in each. A power of two. */
const SHARDS = 256;

/**
 * A map of entries by their own keys, for hundreds of thousands of them.
 *
 * V8 enters every text that is a key of a `Map`, or is looked up in one, into its table of unique strings, and each collection of the old part of the heap
 * stops the thread to go through that table: of 450,000 pods for 20 to 70 ms. The keys here are numbers, the hashes of the texts. And a
 * `Map` that has grown too large is made anew in one go, of 450,000 entries in 30 to 80 ms: here are many small ones.
 */
export class KeyTable<Entry extends Keyed> {
  /** By the low bits of the hash, the first entry of each hash by the whole of it. */
  readonly #shards = Array.from({ length: SHARDS }, () => new Map<number, Entry>());
  /** The other entries of a hash: some 20 of 450,000. Apart, so that going through all entries touches none of them. */
  readonly #others = new Map<number, readonly Entry[]>();
  readonly #hash: (key: string) => number;
  #size = 0;

  /** `hash`: a whole number of 32 bits with a sign, which a `Map` holds without an object for each. */
  constructor(hash: (key: string) => number = textHash) {
    this.#hash = hash;
  }

  get size(): number {
    return this.#size;
  }

  get(key: string): Entry | undefined {
    const hash = this.#hash(key);
    const first = this.#shard(hash).get(hash);
    if (first === undefined || first.key === key) return first;
    return this.#others.get(hash)?.find((entry) => entry.key === key);
  }

  /** Takes the place of the entry with the same key. */
  set(entry: Entry): void {
    const hash = this.#hash(entry.key);
    const shard = this.#shard(hash);
    const first = shard.get(hash);
    if (first === undefined) this.#size++;
    if (first === undefined || first.key === entry.key) shard.set(hash, entry);
    else this.#keep(hash, [...this.#othersWithout(hash, entry.key), entry]);
  }

  delete(key: string): void {
    const hash = this.#hash(key);
    const shard = this.#shard(hash);
    const first = shard.get(hash);
    const others = this.#othersWithout(hash, key);
    if (first?.key !== key) this.#keep(hash, others);
    else if (others[0] === undefined) {
      shard.delete(hash);
      this.#size--;
    } else {
      shard.set(hash, others[0]);
      this.#keep(hash, others.slice(1));
    }
  }

  /** All entries of now, in any order: of 450,000 in some 5 ms. */
  values(): Entry[] {
    const entries: Entry[] = [];
    for (const shard of this.#shards) for (const entry of shard.values()) entries.push(entry);
    for (const others of this.#others.values()) entries.push(...others);
    return entries;
  }

  #shard(hash: number): Map<number, Entry> {
    return this.#shards[hash & (SHARDS - 1)] as Map<number, Entry>;
  }

  #othersWithout(hash: number, key: string): readonly Entry[] {
    return this.#others.get(hash)?.filter((entry) => entry.key !== key) ?? [];
  }

  #keep(hash: number, others: readonly Entry[]): void {
    this.#size += others.length - (this.#others.get(hash)?.length ?? 0);
    if (others.length > 0) this.#others.set(hash, others);
    else this.#others.delete(hash);
  }
}
