import { Frames } from './frames.ts';

/** A header has 2 bytes and up to 8 further bytes of length (RFC 6455 5.2). The masking key is counted as payload. */
const LONGEST_HEADER = 10;
const KEY_BYTES = 4;

/** Finds the frames of one direction of a WebSocket. */
export const websocketFrames = (): Frames => new Frames(LONGEST_HEADER, readHeader);

function readHeader(header: Buffer, bytes: number): number | undefined {
  const second = header[1] as number;
  const short = second & 0x7f;
  const needed = short === 127 ? 10 : short === 126 ? 4 : 2;
  // Until the second byte has come, `header[1]` is that of the previous frame, so `bytes` is checked first.
  if (bytes < 2 || bytes < needed) return undefined;
  const length = short === 127 ? Number(header.readBigUInt64BE(2)) : short === 126 ? header.readUInt16BE(2) : short;
  const isMasked = (second & 0x80) !== 0;
  return length + (isMasked ? KEY_BYTES : 0);
}

/** A whole frame, as a server sends it: without a mask (RFC 6455 5.2). */
export function frameOf(opcode: number, payload: Uint8Array): Buffer {
  const { length } = payload;
  const header = Buffer.alloc(length < 126 ? 2 : length < 2 ** 16 ? 4 : 10);
  header[0] = 0x80 | opcode;
  header[1] = length < 126 ? length : length < 2 ** 16 ? 126 : 127;
  if (header.length === 4) header.writeUInt16BE(length, 2);
  if (header.length === 10) header.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([header, payload]);
}

/** A close frame (RFC 6455 5.5.1). */
export function closeFrame(code: number, reason: string): Buffer {
  const payload = Buffer.concat([Buffer.alloc(2), Buffer.from(reason, 'ascii')]);
  payload.writeUInt16BE(code);
  return frameOf(0x8, payload);
}
