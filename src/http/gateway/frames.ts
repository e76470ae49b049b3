/**
 * Reads the header of a frame, whose first `bytes` bytes have come. Returns the number of bytes of the frame that follow the header;
 * `undefined` while the header is incomplete.
 */
type ReadHeader = (header: Buffer, bytes: number) => number | undefined;

/** Finds where frames begin and end in one direction of a connection, from their headers alone. */
export class Frames {
  readonly #read: ReadHeader;
  readonly #header: Buffer;
  #headerBytes = 0;
  /** The bytes of the current frame that are still to come. */
  #left = 0;

  /** `longestHeader` is in bytes. */
  constructor(longestHeader: number, read: ReadHeader) {
    this.#header = Buffer.alloc(longestHeader);
    this.#read = read;
  }

  /** Whether the next byte is the first byte of a frame: only here may we insert a frame of our own. */
  get isBetween(): boolean {
    return this.#left === 0 && this.#headerBytes === 0;
  }

  /** Reads a piece. Returns the offset in it at which the first frame ends; `undefined` when none ends in it. */
  take(piece: Buffer): number | undefined {
    let firstEnd: number | undefined;
    let at = 0;
    while (at < piece.length) {
      if (this.#left > 0) {
        const taken = Math.min(this.#left, piece.length - at);
        this.#left -= taken;
        at += taken;
      } else {
        this.#header[this.#headerBytes++] = piece[at++] as number;
        this.#begin();
      }
      if (this.isBetween) firstEnd ??= at;
    }
    return firstEnd;
  }

  /** Goes on to the payload when the header is complete. */
  #begin(): void {
    const left = this.#read(this.#header, this.#headerBytes);
    if (left === undefined) return;
    this.#headerBytes = 0;
    this.#left = left;
  }
}
