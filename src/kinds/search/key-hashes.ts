import type { Entry } from '../../resources/entries/entry.ts';
import type { SoughtLabel } from './sought.ts';

const NONE: readonly number[] = [];

/** A uid has no value. */
interface Key {
  readonly key: string;
  readonly value: string | undefined;
}

/**
 * The uids and labels of some entries as 32-bit hashes: 4 bytes for each. Texts with equal hashes are told apart by a look at the first
 * entry with the hash, or at all of them if two texts of these entries have it.
 */
export class KeyHashes {
  readonly #entries: readonly Entry[];
  /** For each entry the hash of its uid, and then those of its labels. */
  readonly #hashes: Uint32Array;
  /** Where the hashes of each entry end. */
  readonly #ends: Uint32Array;
  /** Whether equal hashes here mean equal texts. */
  readonly #isPerfect: boolean;

  constructor(entries: readonly Entry[]) {
    this.#entries = entries;
    this.#ends = new Uint32Array(entries.length);
    const hashes: number[] = [];
    const known = new Map<number, Key>();
    let isPerfect = true;
    const add = (hash: number, key: string, value: string | undefined): void => {
      hashes.push(hash);
      const first = known.get(hash);
      if (!first) known.set(hash, { key, value });
      else if (first.key !== key || first.value !== value) isPerfect = false;
    };
    for (const [at, { uid, labels = {} }] of entries.entries()) {
      add(hashOf(uid), uid, undefined);
      for (const key in labels) add(hashOfLabel(key, labels[key] ?? ''), key, labels[key]);
      this.#ends[at] = hashes.length;
    }
    this.#hashes = Uint32Array.from(hashes);
    this.#isPerfect = isPerfect;
  }

  /** The places of the entries with this uid, in order. */
  withUid(uid: string): readonly number[] {
    const first = this.#hashes.indexOf(hashOf(uid));
    return first < 0 ? NONE : this.#from(first, (entry) => entry.uid === uid);
  }

  /** The places of the entries with this label, in order. */
  withLabel({ key, value }: SoughtLabel): readonly number[] {
    const first = this.#hashes.indexOf(hashOfLabel(key, value));
    return first < 0 ? NONE : this.#from(first, ({ labels }) => labels?.[key] === value);
  }

  /** The places of the entries that have the hash at `first`, and of which `holds` is true. */
  #from(first: number, holds: (entry: Entry) => boolean): readonly number[] {
    const hashes = this.#hashes;
    const hash = hashes[first];
    const places: number[] = [];
    for (let next = first, at = 0; next < hashes.length; next++) {
      if (hashes[next] !== hash) continue;
      while ((this.#ends[at] as number) <= next) at++;
      const isSure = this.#isPerfect && places.length > 0;
      if (isSure || holds(this.#entries[at] as Entry)) {
        // The uid and a label of one entry may have the same hash.
        if (places.at(-1) !== at) places.push(at);
      } else if (this.#isPerfect) return NONE;
    }
    return places;
  }
}

/** FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv/), 32 bits, over the code units. */
const FNV_BASIS = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
const EQUALS = 0x3d;

const hashOf = (text: string): number => hashedOn(FNV_BASIS, text) >>> 0;

const hashOfLabel = (key: string, value: string): number =>
  hashedOn(Math.imul(hashedOn(FNV_BASIS, key) ^ EQUALS, FNV_PRIME), value) >>> 0;

function hashedOn(hash: number, text: string): number {
  let hashed = hash;
  for (let at = 0; at < text.length; at++) hashed = Math.imul(hashed ^ text.charCodeAt(at), FNV_PRIME);
  return hashed;
}
