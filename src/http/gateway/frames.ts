/** What a piece of a connection holds. */
export interface FramesSeen {
  /** The longest content whose header is in it, in bytes. */
  readonly longest: number;
  /** Where in the piece the first frame ends; `undefined` when none does. */
  readonly firstEnd: number | undefined;
}

/** What a header says. */
export interface FrameHeader {
  /** The length of the content, in bytes. */
  readonly length: number;
  /** The bytes of the frame that come after this header. */
  readonly left: number;
}

/** Reads the header of which so many bytes are there; `undefined` while it is not complete. */
type ReadHeader = (header: Buffer, bytes: number) => FrameHeader | undefined;

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

  /** Begins the content when the header is complete; its length, or 0 before that. */
  #begin(): number {
    const header = this.#read(this.#header, this.#headerBytes);
    if (!header) return 0;
    this.#headerBytes = 0;
    this.#left = header.left;
    return header.length;
  }
}
