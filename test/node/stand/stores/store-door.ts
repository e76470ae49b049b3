import { once } from 'node:events';
import { request as ask, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { pipeline } from 'node:stream';

export interface StoreDoor {
  /** Ends every connection, so that nobody is answered any more. */
  close(): Promise<void>;
}

interface DoorParts {
  /** Where the store listens, without TLS and without users. */
  readonly store: string;
  readonly address: string;
  readonly port: number;
  readonly certificate: { readonly cert: string; readonly key: string };
  /** The passwords by name. */
  readonly users: Readonly<Record<string, string>>;
}

/** A store as it should be run: the embedded one has neither TLS nor users, so both stand in front of it. */
export async function openStoreDoor({ store, address, port, certificate, users }: DoorParts): Promise<StoreDoor> {
  const known = new Set(Object.entries(users).map(([name, password]) => `Basic ${btoa(`${name}:${password}`)}`));
  const server = createServer(certificate, (request, response) => {
    if (known.has(request.headers.authorization ?? '')) passOn(store, request, response);
    else response.writeHead(401).end();
  });
  server.on('tlsClientError', () => undefined); // a client that does not trust us leaves
  await once(server.listen(port, address), 'listening');
  return {
    async close() {
      const closed = once(server.close(), 'close');
      server.closeAllConnections();
      await closed;
    },
  };
}

function passOn(store: string, request: IncomingMessage, response: ServerResponse): void {
  const { method = 'GET', headers } = request;
  const { authorization: _, expect: __, ...others } = headers; // both were meant for the door
  const inner = ask(`${store}${request.url}`, { method, headers: others }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    pipeline(answer, response, () => undefined);
  });
  inner.on('error', () => response.destroy());
  response.once('close', () => inner.destroy()); // whoever hangs up, ends the search
  pipeline(request, inner, () => undefined);
}
