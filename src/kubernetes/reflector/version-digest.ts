import type { StoredEntry } from './store.ts';
import { textHash } from './text-hash.ts';

/**
 * A digest over (key, uid, resourceVersion) in any order: the number of entries, and the sum of their hashes modulo
 * 2^32. Two different sets of the same size look equal once in 4,000 million times; the next check, five minutes later,
 * compares them again.
 */
export class VersionDigest {
  #sum = 0;
  #count = 0;

  /** Includes the uid, because a restored cluster may make another object of the same name at the same version. */
  add({ key, uid, resourceVersion }: StoredEntry): void {
    this.#sum = (this.#sum + mixed(textHash(`/${uid}/${resourceVersion}`, textHash(key)))) >>> 0;
    this.#count++;
  }

  equals(other: VersionDigest): boolean {
    return this.#sum === other.#sum && this.#count === other.#count;
  }
}

/**
 * Spreads each bit over all others (the finaliser of MurmurHash3). FNV alone does not do that for its last bytes, so
 * sums of versions that differ in the last digit would cancel each other out.
 */
function mixed(value: number): number {
  const once = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35);
  return (twice ^ (twice >>> 16)) >>> 0;
}
