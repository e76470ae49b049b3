/** What a piece of a websocket connection holds. */
export interface FramesSeen {
  /** The longest payload whose header is in it, in bytes. */
  readonly longest: number;
  /** Where in the piece the first frame ends; `undefined` when none does. */
  readonly firstEnd: number | undefined;
}

/** A header has 2 bytes and up to 8 more of length (RFC 6455 5.2). The masking key is read as payload. */
const LONGEST_HEADER = 10;
const KEY_BYTES = 4;

/** Follows the frames of one direction of a websocket by their headers alone. */
export class WebsocketFrames {
  readonly #header = Buffer.alloc(LONGEST_HEADER);
  #headerBytes = 0;
  /** What is still to come of the current payload. */
  #left = 0;

  /** Whether the next byte is the first one of a frame: only here may a frame of ours be put in. */
  get isBetween(): boolean {
    return this.#left === 0 && this.#headerBytes === 0;
  }

  /** Reads a piece. */
  take(piece: Buffer): FramesSeen {
    let longest = 0;
    let firstEnd: number | undefined;
    let at = 0;
    while (at < piece.length) {
      if (this.#left > 0) {
        const taken = Math.min(this.#left, piece.length - at);
        this.#left -= taken;
        at += taken;
      } else {
        this.#header[this.#headerBytes++] = piece[at++] as number;
        longest = Math.max(longest, this.#begin());
      }
      if (this.isBetween) firstEnd ??= at;
    }
    return { longest, firstEnd };
  }

  /** Begins the payload when the header is complete; its length, or 0 before that. */
  #begin(): number {
    const short = (this.#header[1] as number) & 0x7f;
    const needed = short === 127 ? 10 : short === 126 ? 4 : 2;
    if (this.#headerBytes < 2 || this.#headerBytes < needed) return 0;
    const length =
      short === 127 ? Number(this.#header.readBigUInt64BE(2)) : short === 126 ? this.#header.readUInt16BE(2) : short;
    const isMasked = ((this.#header[1] as number) & 0x80) !== 0;
    this.#headerBytes = 0;
    this.#left = length + (isMasked ? KEY_BYTES : 0);
    return length;
  }
}

/** A frame that closes the connection (RFC 6455 5.5.1), as a server sends it: without a mask. */
export function closeFrame(code: number, reason: string): Buffer {
  const payload = Buffer.concat([Buffer.alloc(2), Buffer.from(reason, 'ascii')]);
  payload.writeUInt16BE(code);
  return Buffer.concat([Buffer.from([0x88, payload.length]), payload]);
}
