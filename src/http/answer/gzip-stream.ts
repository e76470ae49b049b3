import { combineCrc32 } from '../../nodes/crc32-combine.ts';
import { type DeflatedPiece, deflateShared } from '../../nodes/deflated-piece.ts';
import { GZIP_HEADER, gzipEnd } from '../../nodes/gzip-body.ts';

/** Each lives as long as the bytes that it was made of. */
const pieces = new WeakMap<Uint8Array, DeflatedPiece>();

/** The same memory for the same bytes: what many streams send is compressed once. */
function sharedPiece(plain: Uint8Array): DeflatedPiece {
  const piece = pieces.get(plain) ?? deflateShared(plain);
  pieces.set(plain, piece);
  return piece;
}

/**
 * A body that is one gzip member (RFC 1952) and is sent as it comes to be. Each piece is deflated without a look at what came before it and ends
 * at a byte boundary, by a sync flush: so it is the same for all streams, costs none of them a window, and gives its reader
 * all that it holds. A member for each piece would be simpler, and is not what browsers read: they stop after the first.
 */
export class GzipStream {
  readonly head = GZIP_HEADER;
  #crc = 0;
  #length = 0;

  /** What is sent of these bytes. */
  add(plain: Uint8Array): Uint8Array {
    const { bytes, crc, length, shift } = sharedPiece(plain);
    this.#crc = combineCrc32(this.#crc, crc, shift);
    this.#length += length;
    return bytes;
  }

  end(): Uint8Array {
    return Buffer.concat(gzipEnd(this.#crc, this.#length));
  }
}
