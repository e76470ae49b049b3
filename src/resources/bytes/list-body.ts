import { crc32 } from 'node:zlib';
import type { Steps } from '../../runtime/time-slices.ts';
import {
  COMMA_BLOCK_BYTES,
  combineCrc32,
  cutText,
  type DeflatedPiece,
  deflatePiece,
  storedBlocks,
} from './deflated-piece.ts';
import type { EncodedObject } from './encoded-object.ts';
import type { Encoded, Leaf } from './leaf.ts';
import type { Composer } from './representation.ts';

const OPENING = Buffer.from('{"items":[');
const COMMA = Buffer.from(',');

const closing = (total: number): Uint8Array => Buffer.from(`],"totalItems":${total}}`);

/** The length of a list of `count` items that have `itemBytes` together. */
function listLength(itemBytes: number, { count, total }: { count: number; total: number }): number {
  return OPENING.length + itemBytes + Math.max(0, count - 1) + closing(total).length;
}

/** Called after every gzip list. `partlyStored`: some of its leaves are in it uncompressed. */
type OnGzip = (outcome: { partlyStored: boolean }) => void;

/** All objects in the default order. */
interface FullList {
  readonly leaves: readonly Leaf[];
  readonly size: number;
}

/** The objects of one page in their order, and how many there are on all pages. */
export interface Selection<Entry extends Encoded = Encoded> {
  readonly entries: readonly Entry[];
  /** After filters, before paging. */
  readonly total: number;
}

/** The whole list in the default order: the leaves as they are, one after the other. */
export function fullListComposer({ leaves, size }: FullList, onGzip: OnGzip): Composer {
  const itemBytes = leaves.reduce((sum, leaf) => sum + leaf.length, 0) - size;
  const length = listLength(itemBytes, { count: size, total: size });
  return {
    *identity() {
      const joined: Uint8Array[] = [];
      for (const [at, leaf] of leaves.entries()) {
        joined.push(at === 0 ? leaf.joined().subarray(1) : leaf.joined());
        yield;
      }
      return [OPENING, ...joined, closing(size)];
    },
    identityLength: () => length,
    *gzip() {
      const body = new GzipBody();
      body.addPlain(OPENING);
      for (const [at, leaf] of leaves.entries()) {
        body.addLeaf(leaf, { isFirst: at === 0 });
        yield;
      }
      body.addPlain(closing(size));
      onGzip(body);
      return body.end();
    },
  };
}

/** The selected items in their order. */
export function selectionComposer({ entries, total }: Selection): Composer {
  function* pieces(): Steps<readonly Uint8Array[]> {
    const items: Uint8Array[] = [OPENING];
    for (const [at, { encoded }] of entries.entries()) {
      if (at > 0) items.push(COMMA);
      items.push(encoded.bytes());
      yield;
    }
    items.push(closing(total));
    return items;
  }
  const itemBytes = entries.reduce((sum, { encoded }) => sum + encoded.length, 0);
  const length = listLength(itemBytes, { count: entries.length, total });
  return {
    identity: pieces,
    identityLength: () => length,
    *gzip() {
      return yield* gzipText(yield* pieces());
    },
  };
}

function* gzipText(text: readonly Uint8Array[]): Steps<readonly Uint8Array[]> {
  const body = new GzipBody();
  yield* body.addText(text);
  return body.end();
}

/** A text that is there in pieces. */
export function piecesComposer(pieces: readonly Uint8Array[]): Composer {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  return {
    // biome-ignore lint/correctness/useYield: nothing is left to do
    *identity() {
      return pieces;
    },
    identityLength: () => length,
    gzip: () => gzipText(pieces),
  };
}

/**
 * One object as a get answers it: its list item with `kind` and `apiVersion` in front. Every item has members, so
 * `typeMembers` ends in a comma.
 */
export function objectComposer(encoded: EncodedObject, typeMembers: Uint8Array): Composer {
  const text = (): readonly Uint8Array[] => [Buffer.concat([typeMembers, encoded.bytes().subarray(1)])];
  return {
    // biome-ignore lint/correctness/useYield: one object is one step
    *identity() {
      return text();
    },
    identityLength: () => typeMembers.length + encoded.length - 1,
    gzip: () => gzipText(text()),
  };
}

/** RFC 1952 2.3: deflate, no flags, no time, unknown system. */
export const GZIP_HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff);
/** An empty final block with fixed codes (RFC 1951 3.2.6). */
const FINAL_BLOCK = Uint8Array.of(3, 0);

/**
 * Ends a gzip member whose pieces ended on a byte boundary: the final block, then checksum and length of the plain text
 * (RFC 1952 2.3.1).
 */
export function gzipEnd(crc: number, length: number): readonly Uint8Array[] {
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc, 0);
  trailer.writeUInt32LE(length % 2 ** 32, 4);
  return [FINAL_BLOCK, trailer];
}

/**
 * How many bytes one answer compresses while it is composed: about 18 ms at 118 MB/s, the slowest measured speed. The rest
 * goes into stored blocks, uncompressed. So the time has a limit, however much has changed.
 */
const DEFLATE_BUDGET_BYTES = 2 ** 21;

/** 256 KiB, eight times the window of deflate: few calls, and little compression is lost between two stretches. */
const STRETCH_BYTES = 2 ** 18;

/** Composes one gzip member from pieces that are already compressed and texts that are not. */
export class GzipBody {
  readonly #pieces: Uint8Array[] = [GZIP_HEADER];
  #crc = 0;
  #length = 0;
  #budget = DEFLATE_BUDGET_BYTES;
  /** Whether the budget ran out, so that some text is uncompressed. */
  partlyStored = false;

  /** Adds text, given in parts, uncompressed. */
  addPlain(...plain: readonly Uint8Array[]): void {
    this.#pieces.push(...storedBlocks(plain));
    for (const part of plain) this.#count(part);
  }

  /** Adds text, given in parts, and compresses it now, within the budget. */
  *addText(text: readonly Uint8Array[]): Steps<void> {
    for (const { parts, length } of cutText(text, STRETCH_BYTES)) {
      if (this.#affords(length)) {
        const plain = Buffer.concat(parts);
        this.#pieces.push(deflatePiece(plain));
        this.#count(plain);
      } else this.addPlain(...parts);
      yield;
    }
  }

  /**
   * Adds a leaf in its compressed form, which it makes now if the budget allows, and uncompressed otherwise. The first leaf
   * of a list loses its leading comma.
   */
  addLeaf(leaf: Leaf, { isFirst }: { isFirst: boolean }): void {
    const plain = isFirst ? leaf.joined().subarray(1) : leaf.joined();
    if (!leaf.isDeflated && !this.#affords(plain.length)) this.addPlain(plain);
    else if (isFirst) {
      this.#pieces.push(leaf.deflated().bytes.subarray(COMMA_BLOCK_BYTES));
      this.#count(plain);
    } else this.#addDeflated(leaf.deflated());
  }

  #addDeflated({ bytes, crc, length, shift }: DeflatedPiece): void {
    this.#pieces.push(bytes);
    this.#crc = combineCrc32(this.#crc, crc, shift);
    this.#length += length;
  }

  /** Ends the body. Nothing may be added afterwards. */
  end(): readonly Uint8Array[] {
    this.#pieces.push(...gzipEnd(this.#crc, this.#length));
    return this.#pieces;
  }

  #count(plain: Uint8Array): void {
    this.#crc = crc32(plain, this.#crc);
    this.#length += plain.length;
  }

  #affords(bytes: number): boolean {
    // A leaf or text larger than the whole budget is compressed only if it comes first. Otherwise it never would be.
    const affordable = bytes <= this.#budget || this.#budget === DEFLATE_BUDGET_BYTES;
    if (affordable) this.#budget -= bytes;
    else this.partlyStored = true;
    return affordable;
  }
}
