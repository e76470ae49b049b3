/**
 * Reads the header of which so many bytes are there: how many bytes of the frame come after it. `undefined` while it is not
 * complete.
 */
type ReadHeader = (header: Buffer, bytes: number) => number | undefined;

/** Follows the frames of one direction of a connection by their headers alone. */
export class Frames {
  readonly #read: ReadHeader;
  readonly #header: Buffer;
  #headerBytes = 0;
  /** What is still to come of the current frame. */
  #left = 0;

  /** `longestHeader` is in bytes. */
  constructor(longestHeader: number, read: ReadHeader) {
    this.#header = Buffer.alloc(longestHeader);
    this.#read = read;
  }

  /** Whether the next byte is the first one of a frame: only here may a frame of ours be put in. */
  get isBetween(): boolean {
    return this.#left === 0 && this.#headerBytes === 0;
  }

  /** Reads a piece: where in it the first frame ends; `undefined` when none does. */
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
