import { type DeflatedPiece, deflateLeaf } from './deflated-piece.ts';
import type { EncodedObject } from './encoded-object.ts';

const COMMA = 0x2c;

/** What has its JSON ready. */
export interface Encoded {
  readonly encoded: EncodedObject;
}

/**
 * Some tens of neighbours in an order, never changed: a changed object makes a new leaf. The bytes are made on first use and
 * kept, so that a list is the leaves one after the other, and one changed object costs one leaf.
 */
export class Leaf<Entry extends Encoded = Encoded> {
  readonly entries: readonly Entry[];
  /** Bytes of `joined()`. */
  readonly length: number;
  #joined: Uint8Array | undefined;
  #deflated: DeflatedPiece | undefined;

  constructor(entries: readonly Entry[]) {
    this.entries = entries;
    this.length = entries.reduce((sum, { encoded }) => sum + 1 + encoded.length, 0);
  }

  /** The items, each behind a comma: the first leaf of a list is sent without its first byte. */
  joined(): Uint8Array {
    this.#joined ??= this.#join();
    return this.#joined;
  }

  /** `joined()` as a piece of a deflate stream. */
  deflated(): DeflatedPiece {
    this.#deflated ??= deflateLeaf(this.joined());
    return this.#deflated;
  }

  get isDeflated(): boolean {
    return this.#deflated !== undefined;
  }

  /** Bytes held: the items, wherever they lie, and the deflated form. */
  get heldBytes(): number {
    return this.length + (this.#deflated?.bytes.length ?? 0);
  }

  #join(): Uint8Array {
    const joined = Buffer.allocUnsafeSlow(this.length);
    let at = 0;
    for (const { encoded } of this.entries) {
      joined[at] = COMMA;
      encoded.moveTo(joined, at + 1);
      at += 1 + encoded.length;
    }
    return joined;
  }
}
