import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Opens the port. Rejects with one sentence for the operator when it cannot. */
export function listen(
  server: Server,
  { address, port }: { readonly address?: string; readonly port: number },
): Promise<{ port: number }> {
  return new Promise((resolve, reject) => {
    const place = address === undefined ? `port ${port}` : `port ${port} of ${address}`;
    server.once('error', (error: NodeJS.ErrnoException) => reject(new Error(sentence(place, error), { cause: error })));
    server.listen({ port, ...(address === undefined ? {} : { host: address }) }, () => {
      server.removeAllListeners('error');
      resolve({ port: (server.address() as AddressInfo).port });
    });
  });
}

function sentence(place: string, error: NodeJS.ErrnoException): string {
  switch (error.code) {
    case 'EADDRINUSE':
      return `cannot listen on ${place}: another program is using it`;
    case 'EACCES':
      return `cannot listen on ${place}: this user may not`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `cannot listen on ${place}: this machine has no such address`;
    default:
      return `cannot listen on ${place}: ${error.message}`;
  }
}
