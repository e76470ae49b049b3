import { Frames } from './frames.ts';

/** Every frame of SPDY/3.1 has 4 bytes of kind or stream, one of flags and three of length, and then so much of content. */
const HEADER_BYTES = 8;

/** Follows the frames of one direction of a SPDY connection. */
export const spdyFrames = (): Frames => new Frames(HEADER_BYTES, readHeader);

function readHeader(header: Buffer, bytes: number): number | undefined {
  if (bytes < HEADER_BYTES) return undefined;
  return header.readUIntBE(5, 3);
}

/**
 * The stream of errors of `exec` and `attach`: clients of Kubernetes open it first, and the first stream of a client has the id 1.
 * https://github.com/kubernetes/kubernetes/blob/v1.34.0/staging/src/k8s.io/client-go/tools/remotecommand/v2.go
 */
const ERROR_STREAM = 1;
/** The last frame of its stream. */
const FIN = 0x01;

/** From this version on the error stream carries a Status. */
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
