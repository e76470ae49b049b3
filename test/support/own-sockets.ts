import type { Socket } from 'node:net';

/** The open sockets of this process: those that the server under test has accepted, and those that the server or a test has opened. */
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

/** The bytes of this socket that the kernel has accepted. Their number depends on the kernel's settings, so tests subtract it. */
export const handedOver = ({ bytesWritten, writableLength }: Socket): number => bytesWritten - writableLength;
