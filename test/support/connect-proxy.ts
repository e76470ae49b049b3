import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

/** A forward proxy on 127.0.0.1 that opens a tunnel (RFC 9110 9.3.6) to any address. */
export interface ConnectProxy {
  readonly url: string;
  /** The requests so far, with their targets and the credentials of the client. */
  readonly asked: readonly { readonly target: string; readonly authorization: string | undefined }[];
  /** Sets the status of all further answers; 0: the proxy does not answer. */
  answerWith(status: number): void;
  stop(): Promise<void>;
}

export async function startConnectProxy(): Promise<ConnectProxy> {
  const asked: { target: string; authorization: string | undefined }[] = [];
  const sockets = new Set<Socket>();
  let status = 200;
  const server = createServer((_request, response) => response.writeHead(405).end());
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('connect', ({ url = '', headers }, client: Socket) => {
    asked.push({ target: url, authorization: headers['proxy-authorization'] });
    client.on('error', () => client.destroy());
    if (status === 0) return;
    if (status !== 200) return void client.end(`HTTP/1.1 ${status} no\r\n\r\n`);
    const { hostname, port } = new URL(`tcp://${url}`);
    const far = connect(Number(port), hostname, () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      client.pipe(far).pipe(client);
    });
    far.on('error', () => client.destroy());
    far.once('close', () => client.destroy());
    client.once('close', () => far.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    answerWith: (code) => {
      status = code;
    },
    stop: async () => {
      const closed = once(server.close(), 'close');
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
