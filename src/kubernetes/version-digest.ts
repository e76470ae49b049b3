/** FNV-1a, 32 bit: offset basis and prime. */
const BASIS = 0x811c9dc5;
const PRIME = 0x01000193;

/**
 * A digest over (key, resourceVersion) pairs in any order: their number, and the sum of their hashes modulo 2^32. Two
 * different sets of the same size pass for equal once in 4,000 million times, and are compared again five minutes later.
 */
export class VersionDigest {
  #sum = 0;
  #count = 0;

  add(key: string, resourceVersion: string): void {
    this.#sum = (this.#sum + hash(resourceVersion, hash('/', hash(key, BASIS)))) >>> 0;
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
