/** The opcodes of frames (RFC 6455 5.2). */
export const OPCODES = { text: 0x1, close: 0x8, ping: 0x9, pong: 0xa } as const;
const FIRST_CONTROL = 0x8;
const LONGEST_CONTROL = 125;
const KEY_BYTES = 4;
/** Two bytes, eight of length, four of the masking key. */
const LONGEST_HEADER = 14;

interface ClientFramesParts {
  /** A whole control frame, without its mask. */
  onControl(opcode: number, payload: Buffer): void;
  /** The client does not follow the protocol. Nothing is read after it. */
  onFault(): void;
}

/** Reads the frames that a client of a WebSocket sends (RFC 6455 5.2). It hands on control frames, and drops the content of all others. */
export class ClientFrames {
  readonly #parts: ClientFramesParts;
  readonly #header = Buffer.alloc(LONGEST_HEADER);
  #headerBytes = 0;
  /** The payload of the control frame that is arriving; `undefined` in a frame whose content is dropped. */
  #payload: Buffer | undefined;
  #opcode = 0;
  #key = Buffer.alloc(KEY_BYTES);
  /** The bytes of the payload that are still to come. */
  #left = 0;
  #isBroken = false;

  constructor(parts: ClientFramesParts) {
    this.#parts = parts;
  }

  take(piece: Buffer): void {
    for (let at = 0; at < piece.length && !this.#isBroken; ) {
      if (this.#left === 0) {
        this.#header[this.#headerBytes++] = piece[at++] as number;
        this.#begin();
        continue;
      }
      const part = piece.subarray(at, at + this.#left);
      this.#payload?.set(part, this.#payload.length - this.#left);
      this.#left -= part.length;
      at += part.length;
      if (this.#left === 0) this.#end();
    }
  }

  /** Goes on to the payload when the header is complete. */
  #begin(): void {
    const header = this.#header;
    if (this.#headerBytes < 2) return;
    const short = (header[1] as number) & 0x7f;
    const isMasked = ((header[1] as number) & 0x80) !== 0;
    this.#opcode = (header[0] as number) & 0x0f;
    const isControl = this.#opcode >= FIRST_CONTROL;
    if (!isMasked || (isControl && short > LONGEST_CONTROL)) {
      this.#break();
      return;
    }
    const needed = 2 + (short === 127 ? 8 : short === 126 ? 2 : 0);
    if (this.#headerBytes < needed + KEY_BYTES) return;
    this.#left = short === 127 ? Number(header.readBigUInt64BE(2)) : short === 126 ? header.readUInt16BE(2) : short;
    this.#key = Buffer.from(header.subarray(needed, needed + KEY_BYTES));
    this.#payload = isControl ? Buffer.alloc(this.#left) : undefined;
    this.#headerBytes = 0;
    if (this.#left === 0) this.#end();
  }

  #end(): void {
    const payload = this.#payload;
    this.#payload = undefined;
    if (!payload) return;
    for (const [at, byte] of payload.entries()) payload[at] = byte ^ (this.#key[at % KEY_BYTES] as number);
    this.#parts.onControl(this.#opcode, payload);
  }

  #break(): void {
    this.#isBroken = true;
    this.#parts.onFault();
  }
}
