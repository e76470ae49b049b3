import { combineCrc32, type DeflatedPiece, deflateShared } from '../../resources/bytes/deflated-piece.ts';
import { GZIP_HEADER, gzipEnd } from '../../resources/bytes/list-body.ts';

/** The compressed pieces; each is kept for as long as the bytes that it was made from. */
const pieces = new WeakMap<Uint8Array, DeflatedPiece>();

/** Returns the same piece for the same bytes, so that bytes that many streams send are compressed once. */
function sharedPiece(plain: Uint8Array): DeflatedPiece {
  const piece = pieces.get(plain) ?? deflateShared(plain);
  pieces.set(plain, piece);
  return piece;
}

/**
 * A streamed body that is one gzip member (RFC 1952). Each piece is deflated independently of earlier pieces, and ends at a byte
 * boundary because of a sync flush. So a piece is the same for all streams, a stream needs no compression window, and a client can
 * decompress everything that it has received. One member for each piece would be simpler, but browsers stop after the first member.
 */
export class GzipStream {
  readonly head = GZIP_HEADER;
  #crc = 0;
  #length = 0;

  /** Returns what to send for these bytes. */
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
