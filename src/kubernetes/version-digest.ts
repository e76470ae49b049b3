import type { StoredEntry } from './store.ts';

/** FNV-1a, 32 bit: offset basis and prime. */
const BASIS = 0x811c9dc5;
const PRIME = 0x01000193;

/**
 * A digest over (key, uid, resourceVersion) in any order: their number, and the sum of their hashes modulo 2^32. Two
 * different sets of the same size pass for equal once in 4,000 million times, and are compared again five minutes later.
 */
export class VersionDigest {
  #sum = 0;
  #count = 0;

  /** With the uid, because a restored cluster may make another object of the same name at the same version. */
  add({ key, uid, resourceVersion }: StoredEntry): void {
    this.#sum = (this.#sum + mixed(hash(`/${uid}/${resourceVersion}`, hash(key, BASIS)))) >>> 0;
    this.#count++;
  }

  equals(other: VersionDigest): boolean {
    return this.#sum === other.#sum && this.#count === other.#count;
  }
}

function hash(text: string, seed: number): number {
  let value = seed;
  for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), PRIME);
  return value >>> 0;
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
