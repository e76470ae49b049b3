import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LoginError, systemReason } from '../login-error.ts';
import type { AuthorizationReturn, FinalReturn } from './authorization-return.ts';
import { loopbackPage, NOT_HERE, PAGE_HEADERS } from './loopback-page.ts';

/** IPv4 and not `localhost`, which another program may have on the other family (RFC 8252 8.3). */
const HOST = '127.0.0.1';

export interface LoopbackListener {
  /** Without a path, as the built-in client has it registered. The system has chosen the port. */
  readonly redirectURI: string;
  /** Resolves to the first request that is the answer to ours. No request is served after it. */
  readonly returned: Promise<FinalReturn>;
  close(): void;
}

/** Listens on this machine alone for the browser that comes back with an answer (RFC 8252 7.3). Throws a `LoginError`. */
export async function listenOnLoopback(
  read: (query: URLSearchParams) => AuthorizationReturn,
): Promise<LoopbackListener> {
  const { promise: returned, resolve } = Promise.withResolvers<FinalReturn>();
  const server = createServer((request, response) => {
    const answer = server.listening ? answerTo(request, read) : { kind: 'foreign' as const };
    send(response, answer);
    if (answer.kind === 'foreign') return;
    server.close();
    response.once('close', () => resolve(answer));
  });
  const port = await listen(server);
  const close = (): void => {
    server.close();
    server.closeAllConnections(); // a browser keeps some open that it may never use
  };
  return { redirectURI: `http://${HOST}:${port}`, returned, close };
}

async function listen(server: Server): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen(0, HOST, resolve);
  await promise.catch((error: unknown) => {
    throw new LoginError(`cannot listen on ${HOST} for the browser: ${systemReason(error)}`);
  });
  return (server.address() as AddressInfo).port;
}

/** A browser also asks for an icon. HEAD is not taken, because programs that look at addresses ahead send it. */
function answerTo(
  { method, url = '/' }: IncomingMessage,
  read: (query: URLSearchParams) => AuthorizationReturn,
): AuthorizationReturn {
  const [path, ...query] = url.split('?');
  return method === 'GET' && path === '/' ? read(new URLSearchParams(query.join('?'))) : { kind: 'foreign' };
}

function send(response: ServerResponse, answer: AuthorizationReturn): void {
  if (answer.kind === 'foreign') response.writeHead(404, PAGE_HEADERS).end(NOT_HERE);
  else response.writeHead(200, PAGE_HEADERS).end(loopbackPage(answer));
}
