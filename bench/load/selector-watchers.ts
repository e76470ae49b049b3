import { connect, type Socket } from 'node:net';
import type { Gatehouse } from '../peers/gatehouse.ts';
import { requestBytes } from './connection.ts';

const BOOKMARK = '"BOOKMARK"';

/**
 * A watch of each of these nodes, by a selector of its own: all connections are open before the first request goes. Resolves when
 * each has had its first state; they stay open until the server ends.
 */
export async function openSelectorWatchers({ target, listPath }: Gatehouse, names: readonly string[]): Promise<void> {
  const sockets = await Promise.all(names.map(() => connected(target.port)));
  await Promise.all(
    sockets.map((socket, at) => {
      const selector = encodeURIComponent(`kubernetes.io/hostname=${names[at]}`);
      return begun(socket, requestBytes(target, { path: `${listPath}?watch=1&labelSelector=${selector}` }));
    }),
  );
}

function connected(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => resolve(socket));
    socket.on('error', reject);
  });
}

function begun(socket: Socket, request: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = '';
    socket.on('data', (piece) => {
      text = (text + piece.toString('latin1')).slice(-64 * 1024);
      if (text.includes(BOOKMARK)) resolve();
    });
    socket.on('close', () => reject(new Error(`a watcher was closed: ${text}`)));
    socket.write(request);
  });
}
