/**
 * Reads a frame's header, of which `bytes` bytes have come, and returns how many bytes of the frame follow it; `undefined` while
 * the header is not complete.
 */
type ReadHeader = (header: Buffer, bytes: number) => number | undefined;

/** Follows the frames of one direction of a connection by their headers alone. */
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

  /** Whether the next byte is the first one of a frame: only here may we insert a frame of ours. */
  get isBetween(): boolean {
    return this.#left === 0 && this.#headerBytes === 0;
  }

  /** Reads a piece and returns where the first frame ends in it; `undefined` when no frame ends there. */
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

  /** Begins the content when the header is complete. */
  #begin(): void {
    const left = this.#read(this.#header, this.#headerBytes);
    if (left === undefined) return;
    this.#headerBytes = 0;
    this.#left = left;
  }
}
