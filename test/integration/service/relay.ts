import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { atEnd } from '../../support/at-end.ts';

/** Passes connections on to the port, until it is cut. */
export async function startRelay(port: number) {
  const sockets = new Set<Socket>();
  const state = { isCut: false };
  const keep = (socket: Socket, other: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => {}).once('close', () => sockets.delete(socket) && other.destroy());
  };
  const server = createServer((socket) => {
    if (state.isCut) return void socket.destroy();
    const onward = connect(port, '127.0.0.1');
    keep(socket, onward);
    keep(onward, socket);
    socket.pipe(onward).pipe(socket);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const dropAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  atEnd(async () => {
    server.close();
    dropAll();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut: () => {
      state.isCut = true;
      dropAll();
    },
    heal: () => {
      state.isCut = false;
    },
  };
}
