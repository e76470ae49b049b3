import type { Socket } from 'node:net';

/** The open connections of this process: those of the server under test, and those that it or a test has made. */
export function ownSockets(): readonly Socket[] {
  const { _getActiveHandles } = process as unknown as { _getActiveHandles(): unknown[] };
  return _getActiveHandles
    .call(process)
    .filter((handle): handle is Socket => (handle as Socket).localPort !== undefined);
}

/** The one end of a connection that was accepted on this port, from that port where there are several. */
export const acceptedOn = (port: number, from?: number): Socket =>
  only(
    ownSockets().filter(
      ({ localPort, remotePort }) => localPort === port && (from === undefined || remotePort === from),
    ),
  );

/** The one end of a connection that was opened to this port. */
export const openedTo = (port: number): Socket => only(ownSockets().filter(({ remotePort }) => remotePort === port));

function only([socket, ...others]: readonly Socket[]): Socket {
  if (!socket || others.length > 0) throw new Error(`there are ${others.length + (socket ? 1 : 0)} such connections`);
  return socket;
}

/** Bytes that the kernel has taken. What it takes beyond them is up to its settings: they are no measure of a program. */
export const handedOver = ({ bytesWritten, writableLength }: Socket): number => bytesWritten - writableLength;
