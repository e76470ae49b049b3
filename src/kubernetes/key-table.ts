import type { StoredEntry } from './store.ts';
import { textHash } from './text-hash.ts';

type Keyed = Pick<StoredEntry, 'key'>;

/** 450,000 entries are 1,800 in each. A power of two. */
const SHARDS = 256;

/**
 * A map of entries by their own keys, for hundreds of thousands of them.
 *
 * V8 enters every text that is a key of a `Map` into its table of unique strings, and each collection of the old part of the heap
 * stops the thread to go through that table: of 450,000 pods for 20 to 70 ms. The keys here are numbers, the hashes of the texts. And a
 * `Map` that has grown too large is made anew in one go, of 450,000 entries in 30 to 80 ms: here are many small ones.
 */
export class KeyTable<Entry extends Keyed> {
  /**
   * By the low bits of the hash, the entries by the whole of it; several of one hash are rare (some 20 of 450,000), and lie in an
   * array.
   */
  readonly #shards = Array.from({ length: SHARDS }, () => new Map<number, Entry | Entry[]>());
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
    const cell = this.#shard(hash).get(hash);
    if (Array.isArray(cell)) return cell.find((entry) => entry.key === key);
    return cell?.key === key ? cell : undefined;
  }

  /** Takes the place of the entry with the same key. */
  set(entry: Entry): void {
    const hash = this.#hash(entry.key);
    const shard = this.#shard(hash);
    const cell = shard.get(hash);
    const others = cell === undefined || isOnly(cell, entry.key) ? [] : without(cell, entry.key);
    shard.set(hash, others.length === 0 ? entry : [...others, entry]);
    if (cell === undefined || lengthOf(cell) === others.length) this.#size++;
  }

  delete(key: string): void {
    const hash = this.#hash(key);
    const shard = this.#shard(hash);
    const cell = shard.get(hash);
    if (cell === undefined) return;
    const others = without(cell, key);
    this.#size -= lengthOf(cell) - others.length;
    const [first] = others;
    if (first === undefined) shard.delete(hash);
    else shard.set(hash, others.length === 1 ? first : others);
  }

  /** All entries of now, in any order: of 450,000 in some 5 ms. */
  values(): Entry[] {
    const entries: Entry[] = [];
    for (const shard of this.#shards) {
      for (const cell of shard.values()) {
        if (Array.isArray(cell)) entries.push(...cell);
        else entries.push(cell);
      }
    }
    return entries;
  }

  #shard(hash: number): Map<number, Entry | Entry[]> {
    return this.#shards[hash & (SHARDS - 1)] as Map<number, Entry | Entry[]>;
  }
}

const lengthOf = (cell: Keyed | readonly Keyed[]): number => (Array.isArray(cell) ? cell.length : 1);

const isOnly = (cell: Keyed | readonly Keyed[], key: string): boolean => 'key' in cell && cell.key === key;

function without<Entry extends Keyed>(cell: Entry | Entry[], key: string): Entry[] {
  const entries = Array.isArray(cell) ? cell : [cell];
  return entries.filter((entry) => entry.key !== key);
}
