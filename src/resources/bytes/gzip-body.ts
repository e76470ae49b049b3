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
import type { Leaf } from './leaf.ts';

/** RFC 1952 2.3: deflate, no flags, no time, unknown system. */
export const GZIP_HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff);
/** A final block of fixed codes with nothing but its end (RFC 1951 3.2.6). */
const FINAL_BLOCK = Uint8Array.of(3, 0);

/** What ends a member whose deflated pieces ended at a byte boundary: checksum and length of the plain text. */
export function gzipEnd(crc: number, length: number): readonly Uint8Array[] {
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc, 0);
  trailer.writeUInt32LE(length % 2 ** 32, 4);
  return [FINAL_BLOCK, trailer];
}

/**
 * What one answer may newly compress: about 18 ms at 118 MB/s, the slowest that was measured. The rest goes out in stored blocks: the same text, larger. The
 * loop is never held up longer, whatever was changed and whoever asks.
 */
const DEFLATE_BUDGET_BYTES = 2 ** 21;

/** 256 KiB, eight times the window of deflate: few calls, little lost where two stretches meet. */
const STRETCH_BYTES = 2 ** 18;

/** Composes one gzip member of pieces that are already deflated and texts that are not. */
export class GzipBody {
  readonly #pieces: Uint8Array[] = [GZIP_HEADER];
  #crc = 0;
  #length = 0;
  #budget = DEFLATE_BUDGET_BYTES;
  /** Something that was worth compressing went out as it is. */
  partlyStored = false;

  /** Text that goes out uncompressed, in parts. */
  addPlain(...plain: readonly Uint8Array[]): void {
    this.#pieces.push(...storedBlocks(plain));
    for (const part of plain) this.#count(part);
  }

  /** Text in parts that is compressed now, within the budget. */
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

  /** The leaf's deflated bytes, made now within the budget. The first leaf of a list goes without its leading comma. */
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

  /** Nothing may be added afterwards. */
  end(): readonly Uint8Array[] {
    this.#pieces.push(...gzipEnd(this.#crc, this.#length));
    return this.#pieces;
  }

  #count(plain: Uint8Array): void {
    this.#crc = crc32(plain, this.#crc);
    this.#length += plain.length;
  }

  #affords(bytes: number): boolean {
    // A single leaf or piece beyond the whole budget is compressed when it comes first: it will not get smaller.
    const affordable = bytes <= this.#budget || this.#budget === DEFLATE_BUDGET_BYTES;
    if (affordable) this.#budget -= bytes;
    else this.partlyStored = true;
    return affordable;
  }
}
