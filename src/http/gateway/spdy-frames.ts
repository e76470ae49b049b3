import { Frames } from './frames.ts';

/** A frame of SPDY/3.1 has 4 bytes for its type or stream id, one byte of flags and three bytes of length, and then the payload. */
const HEADER_BYTES = 8;

/** Finds the frames of one direction of a SPDY connection. */
export const spdyFrames = (): Frames => new Frames(HEADER_BYTES, readHeader);

function readHeader(header: Buffer, bytes: number): number | undefined {
  if (bytes < HEADER_BYTES) return undefined;
  return header.readUIntBE(5, 3);
}

/**
 * The error stream of `exec` and `attach`. Clients of Kubernetes open it first, and a client's first stream has the id 1.
 * https://github.com/kubernetes/kubernetes/blob/v1.34.0/staging/src/k8s.io/client-go/tools/remotecommand/v2.go
 */
const ERROR_STREAM = 1;
/** The flag of the last frame of a stream. */
const FIN = 0x01;

/** The versions of the protocol in which the error stream carries a Status. */
const STATUS_VERSIONS: ReadonlySet<string> = new Set(['v4.channel.k8s.io', 'v5.channel.k8s.io']);

/** Whether the other end understands `failureFrame`. */
export const readsFailures = (version: string | undefined): boolean =>
  version !== undefined && STATUS_VERSIONS.has(version);

/** A frame that reports to the client of an `exec` or `attach` that the command did not finish. */
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
