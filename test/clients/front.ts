import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { atEnd } from '../support/at-end.ts';

/**
 * Leads to the port while it is open, as a Service leads to a pod while that is ready: a program that has just begun to listen answers 503, which
 * closes an EventSource for good. Closing it leaves its connections alone.
 */
export async function startFront(port: number) {
  const state = { isOpen: false };
  const clients = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (client) => {
    clients.add(client);
    client.on('error', () => {}).once('close', () => clients.delete(client));
    if (!state.isOpen) return void client.destroy();
    const inner = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    inner.on('error', () => client.destroy());
    client.once('close', () => inner.destroy());
    client.pipe(inner).pipe(client);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  atEnd(() => {
    server.close();
    for (const client of clients) client.destroy();
  });
  return {
    port: (server.address() as AddressInfo).port,
    open: () => {
      state.isOpen = true;
    },
    close: () => {
      state.isOpen = false;
    },
  };
}
