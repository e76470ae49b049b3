import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { createServer, type SecureContextOptions } from 'node:tls';

export interface TlsFront {
  readonly port: number;
  /** `https://127.0.0.1:<port>` */
  readonly url: string;
  /** Uses this certificate for new handshakes. Open connections stay. */
  use(context: SecureContextOptions): void;
  /** Resets every open connection. */
  reset(): void;
  stop(): Promise<void>;
}

/** Adds TLS to a port on 127.0.0.1 that has none, with a certificate that can be changed. */
export async function startTlsFront(target: number, context: SecureContextOptions): Promise<TlsFront> {
  const sockets = new Set<Socket>();
  // With Nagle's algorithm, an answer in two writes waits 40 ms for the acknowledgement of the first.
  const server = createServer({ ...context, noDelay: true }, (client) => {
    const inner = connect({ port: target, host: '127.0.0.1', noDelay: true });
    client.on('error', () => inner.destroy()).pipe(inner);
    inner.on('error', () => client.destroy()).pipe(client);
    client.once('close', () => inner.destroy());
    inner.once('close', () => client.destroy());
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('tlsClientError', () => {}); // a client that does not trust us leaves
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const reset = (): void => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    port,
    url: `https://127.0.0.1:${port}`,
    use: (next) => server.setSecureContext(next),
    reset,
    stop: async () => {
      const closed = once(server.close(), 'close');
      reset();
      await closed;
    },
  };
}
