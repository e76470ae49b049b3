import { constants, crc32, deflateRawSync } from 'node:zlib';

/**
 * A part of a deflate stream that ends on a byte boundary and refers to nothing before it. Pieces in any order make one
 * stream.
 */
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
 * Level 5. On lists of 12 kB nodes that share their images it makes less than half the bytes of level 3 (32 : 1 against
 * 14 : 1) in a seventh more time. If the nodes share nothing, it makes 9 % fewer bytes in a third more time. Most of
 * the cost of a list is sending it, so fewer bytes mean more lists. The table is in
 * docs/decisions/0012-leaf-size-and-compression.md.
 */
const LEVEL = 5;
/** A stored block has a 16-bit length (RFC 1951 3.2.4). */
const LONGEST_STORED = 65_535;

/** Raw deflate, ended by a sync flush instead of a final block. */
export const deflatePiece = (plain: Uint8Array): Uint8Array =>
  deflateRawSync(plain, { level: LEVEL, finishFlush: constants.Z_SYNC_FLUSH });

/** Compresses a text into one piece. */
export const deflateShared = (plain: Uint8Array): DeflatedPiece => pieceOf(plain, deflatePiece(plain));

/** Compresses a leaf. Its first comma is a block of its own, because the first leaf of a list is sent without it. */
export const deflateLeaf = (joined: Uint8Array): DeflatedPiece =>
  pieceOf(joined, Buffer.concat([...storedBlocks([joined.subarray(0, 1)]), deflatePiece(joined.subarray(1))]));

function pieceOf(plain: Uint8Array, bytes: Uint8Array): DeflatedPiece {
  return { bytes, crc: crc32(plain), length: plain.length, shift: crcShift(plain.length) };
}

/** Bytes of the stored block that holds a leaf's first comma: header and comma. */
export const COMMA_BLOCK_BYTES = 6;

/**
 * Wraps the text in stored blocks (RFC 1951 3.2.4): a valid piece without compression. Returns views, not copies.
 */
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

/** The CRC-32 polynomial of RFC 1952 section 8, lowest power in the highest bit, as zlib has it. */
const POLYNOMIAL = 0xedb88320;

/** The product of two polynomials modulo the CRC-32 one. At most 32 steps. */
function multiply(a: number, b: number): number {
  let product = 0;
  let factor = b;
  for (let bit = 0x80000000; bit !== 0; bit >>>= 1) {
    if (a & bit) product ^= factor;
    factor = factor & 1 ? (factor >>> 1) ^ POLYNOMIAL : factor >>> 1;
  }
  return product >>> 0;
}

/** x^(2^n) for n = 0 to 31; x^1 is 0x40000000 in this bit order. */
const SQUARES: readonly number[] = (() => {
  const squares = [0x40000000];
  for (let n = 1; n < 32; n++) squares.push(multiply(squares[n - 1] ?? 0, squares[n - 1] ?? 0));
  return squares;
})();

/** x^(8 * length), by which a CRC is multiplied when `length` bytes follow. Each piece keeps its own. */
export function crcShift(length: number): number {
  let power = 0x80000000;
  // Powers of x repeat after 2^32 - 1, so x^(2^32) is x again and `SQUARES` repeats after 32 entries. A byte has 2^3 bits,
  // so `n` begins at 3.
  for (let rest = length, n = 3; rest > 0; rest = Math.floor(rest / 2), n++) {
    if (rest % 2 === 1) power = multiply(SQUARES[n % 32] ?? 0, power);
  }
  return power;
}

/** Combines the CRC-32 of two texts into that of their concatenation. `shift` is `crcShift` of the second text's length. */
export const combineCrc32 = (first: number, second: number, shift: number): number =>
  (multiply(shift, first) ^ second) >>> 0;

/** Consecutive parts of a text. */
export interface Stretch {
  readonly parts: readonly Uint8Array[];
  /** Bytes of all parts. */
  readonly length: number;
}

/** Cuts a text in parts into stretches of `size` bytes. The last one may be shorter. Returns views, not copies. */
export function* cutText(text: readonly Uint8Array[], size: number): Iterable<Stretch> {
  let parts: Uint8Array[] = [];
  let length = 0;
  for (const part of text) {
    for (let at = 0; at < part.length; ) {
      const view = part.subarray(at, at + size - length);
      parts.push(view);
      at += view.length;
      length += view.length;
      if (length < size) continue;
      yield { parts, length };
      parts = [];
      length = 0;
    }
  }
  if (length > 0) yield { parts, length };
}
