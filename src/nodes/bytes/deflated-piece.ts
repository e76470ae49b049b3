import { constants, crc32, deflateRawSync } from 'node:zlib';
import { crcShift } from './crc32-combine.ts';
import { cutText } from './cut-text.ts';

/** A stretch of a deflate stream that ends on a byte boundary, so that any such pieces in a row are one stream. */
export interface DeflatedPiece {
  readonly bytes: Uint8Array;
  /** CRC-32 of the plain text. */
  readonly crc: number;
  /** Bytes of the plain text. */
  readonly length: number;
  /** `crcShift(length)`. */
  readonly shift: number;
}

/**
 * Level 5: on lists of 12 kB nodes that share their images it makes less than half the bytes of level 3 (32 : 1 against 14 : 1)
 * for a seventh more time, and where nothing is shared 9 % less for a third more. Sending is most of what a list costs, so fewer
 * bytes are more lists. The table: docs/decisions/0012-leaf-size-and-compression.md.
 */
const LEVEL = 5;
/** A stored block has a 16-bit length (RFC 1951 3.2.4). */
const LONGEST_STORED = 65_535;

/** Raw deflate, ended by a sync flush instead of a final block. */
export const deflatePiece = (plain: Uint8Array): Uint8Array =>
  deflateRawSync(plain, { level: LEVEL, finishFlush: constants.Z_SYNC_FLUSH });

/** A piece that reads as its plain text wherever it stands. */
export const deflateShared = (plain: Uint8Array): DeflatedPiece => pieceOf(plain, deflatePiece(plain));

/** Deflates a leaf. Its first comma is a block of its own, so that the first leaf of a list can do without it. */
export const deflateLeaf = (joined: Uint8Array): DeflatedPiece =>
  pieceOf(joined, Buffer.concat([...storedBlocks([joined.subarray(0, 1)]), deflatePiece(joined.subarray(1))]));

function pieceOf(plain: Uint8Array, bytes: Uint8Array): DeflatedPiece {
  return { bytes, crc: crc32(plain), length: plain.length, shift: crcShift(plain.length) };
}

/** Bytes of the stored block that holds a leaf's first comma: header and comma. */
export const COMMA_BLOCK_BYTES = 6;

/** The text as it is, in stored blocks (RFC 1951 3.2.4): a valid piece that costs no compression. Views, no copies. */
export function storedBlocks(plain: readonly Uint8Array[]): readonly Uint8Array[] {
  const blocks: Uint8Array[] = [];
  for (const { parts, length } of cutText(plain, LONGEST_STORED)) {
    const header = Buffer.alloc(5);
    header.writeUInt16LE(length, 1);
    header.writeUInt16LE(length ^ 0xffff, 3);
    blocks.push(header, ...parts);
  }
  return blocks;
}
