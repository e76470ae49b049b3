import { constants, inflateRawSync } from 'node:zlib';

/**
 * So many of the wanted bytes are enough to recognise them, and fit into the end of a piece that a watcher keeps.
 */
const NEEDLE_BYTES = 100;
const CRLF = Buffer.from('\r\n');

/**
 * A text that is looked for in streams. In gzip the first watcher finds it by decompressing its chunk. The server
 * compresses a change once for all watchers, so the others look for the bytes of that chunk.
 */
export class Needle {
  readonly #text: Buffer;
  #bytes: Buffer | undefined;

  constructor(text: string, coding: 'identity' | 'gzip') {
    this.#text = Buffer.from(text);
    this.#bytes = coding === 'identity' ? this.#text : undefined;
  }

  /** `piece`: the new bytes, after the end of the bytes before them; `from`: where the new bytes begin. */
  isIn(piece: Buffer, from: number): boolean {
    this.#bytes ??= chunksOf(piece.subarray(from))
      .find((chunk) => inflated(chunk)?.includes(this.#text))
      ?.subarray(-NEEDLE_BYTES);
    return this.#bytes !== undefined && piece.includes(this.#bytes);
  }
}

/**
 * The whole chunks of a piece that begins with one, or with the head of the answer. They are copies, because the memory
 * of the piece is used again.
 */
function chunksOf(piece: Buffer): Buffer[] {
  const chunks: Buffer[] = [];
  const head = piece.indexOf('HTTP/1.1 ') === 0 ? piece.indexOf('\r\n\r\n') + 4 : 0;
  for (let at = head; at < piece.length; ) {
    const end = piece.indexOf(CRLF, at);
    const size = Number.parseInt(piece.toString('latin1', at, end), 16);
    if (end < 0 || !(size > 0) || piece.length < end + 2 + size) break;
    chunks.push(Buffer.from(piece.subarray(end + 2, end + 2 + size)));
    at = end + 2 + size + 2;
  }
  return chunks;
}

/** The decompressed chunk; `undefined` for a chunk that is not part of a deflate stream, such as the gzip header. */
function inflated(chunk: Buffer): Buffer | undefined {
  try {
    return inflateRawSync(chunk, { finishFlush: constants.Z_SYNC_FLUSH });
  } catch {
    return undefined;
  }
}

/** The text that all watchers wait for, and how many have seen it. */
export class Sight {
  wanted: Needle | undefined;
  seen = 0;
  firstAt = 0;
  lastAt = 0;
  lost = 0;
  /** The bytes that all watchers have received since they began. */
  bytes = 0;

  next(wanted: Needle): void {
    this.wanted = wanted;
    this.seen = 0;
  }

  found(): void {
    this.lastAt = performance.now();
    if (this.seen++ === 0) this.firstAt = this.lastAt;
  }
}
