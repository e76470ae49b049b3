import type { Socket } from 'node:net';

/** The open connections of this process: those of the server under test, and those that it or a test has made. */
export function ownSockets(): readonly Socket[] {
  const { _getActiveHandles } = process as unknown as { _getActiveHandles(): unknown[] };
  return _getActiveHandles
    .call(process)
    .filter((handle): handle is Socket => (handle as Socket).localPort !== undefined);
}

/** The other end of this connection, which is in this process as well. */
export function otherEnd({ localPort, remotePort }: Socket): Socket {
  const found = ownSockets().find((socket) => socket.localPort === remotePort && socket.remotePort === localPort);
  if (!found) throw new Error(`nobody here is at the other end of the connection from ${localPort} to ${remotePort}`);
  return found;
}

/** Bytes of this socket that the kernel has taken from us. How many it takes depends on its settings, so tests subtract them. */
export const handedOver = ({ bytesWritten, writableLength }: Socket): number => bytesWritten - writableLength;
