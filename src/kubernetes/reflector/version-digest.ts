import type { StoredEntry } from './store.ts';
import { textHash } from './text-hash.ts';

/**
 * A digest over (key, uid, resourceVersion) in any order: their number, and the sum of their hashes modulo 2^32. Two
 * different sets of the same size pass for equal once in 4,000 million times, and are compared again five minutes later.
 */
export class VersionDigest {
  #sum = 0;
  #count = 0;

  /** With the uid, because a restored cluster may make another object of the same name at the same version. */
  add({ key, uid, resourceVersion }: StoredEntry): void {
    this.#sum = (this.#sum + mixed(textHash(`/${uid}/${resourceVersion}`, textHash(key)))) >>> 0;
    this.#count++;
  }

  equals(other: VersionDigest): boolean {
    return this.#sum === other.#sum && this.#count === other.#count;
  }
}

/**
 * Spreads each bit over all others (the finaliser of MurmurHash3). FNV alone does not with its last bytes: versions that differ
 * in their last digit would have sums that cancel each other out.
 */
function mixed(value: number): number {
  const once = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35);
  return (twice ^ (twice >>> 16)) >>> 0;
}
