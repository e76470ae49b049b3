import type { FramesSeen } from './websocket-frames.ts';

/** Every frame of SPDY/3.1 has 4 bytes of kind or stream, one of flags and three of length, and then so much of content. */
const HEADER_BYTES = 8;

/** Follows the frames of one direction of a SPDY connection by their headers alone. */
export class SpdyFrames {
  readonly #header = Buffer.alloc(HEADER_BYTES);
  #headerBytes = 0;
  /** What is still to come of the current content. */
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
        if (this.#headerBytes < HEADER_BYTES) continue;
        this.#headerBytes = 0;
        this.#left = this.#header.readUIntBE(5, 3);
        longest = Math.max(longest, this.#left);
      }
      if (this.isBetween) firstEnd ??= at;
    }
    return { longest, firstEnd };
  }
}

/**
 * The stream of errors of `exec` and `attach`: clients of Kubernetes open it first, and the first stream of a client has the id 1.
 * https://github.com/kubernetes/kubernetes/blob/v1.34.0/staging/src/k8s.io/client-go/tools/remotecommand/v2.go
 */
const ERROR_STREAM = 1;
/** The last frame of its stream. */
const FIN = 0x01;

/** From this version on what comes on the stream of errors is a Status. */
const TELLS_STATUS: ReadonlySet<string> = new Set(['v4.channel.k8s.io', 'v5.channel.k8s.io']);

/** Whether the other end understands `failureFrame`. */
export const readsFailures = (version: string | undefined): boolean =>
  version !== undefined && TELLS_STATUS.has(version);

/** A frame that tells the client of an `exec` or `attach` that the command has not come to its end. */
export function failureFrame(message: string): Buffer {
  const status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason: 'InternalError',
    code: 500,
  };
  const content = Buffer.from(JSON.stringify(status));
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32BE(ERROR_STREAM, 0);
  header[4] = FIN;
  header.writeUIntBE(content.length, 5, 3);
  return Buffer.concat([header, content]);
}
