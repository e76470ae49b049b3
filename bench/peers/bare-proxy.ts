import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent, type Dispatcher } from 'undici';
import { type Children, end } from '../children.ts';
import type { Target } from '../load/connection.ts';
import type { GatewayPeer } from './gateways.ts';

/**
 * The least that a proxy on Node costs: node:http in front, undici behind, and one identity. It checks and limits nothing, and writes no
 * line.
 */
export async function startBareProxy(children: Children, upstream: Target): Promise<GatewayPeer> {
  const child = children.fork(import.meta.filename);
  child.send(upstream);
  const [port] = (await once(child, 'message')) as [number];
  const target = { port, headers: {} };
  return { name: 'bare proxy', target, ...(child.pid && { pid: child.pid }), stop: () => end(child) };
}

/** Runs in the proxy's process. */
function serve({ port, ca = '', headers }: Target): void {
  const limits = { allowH2: false, headersTimeout: 0, bodyTimeout: 0 };
  const agent = new Agent({ ...limits, connect: { ca } });
  const origin = `https://127.0.0.1:${port}`;
  const identity = Object.entries(headers).flat();
  const server = createServer(({ url = '/', method, rawHeaders }, response) => {
    const sent = rawHeaders.filter((_, at) => /^accept/i.test(rawHeaders[at - (at % 2)] as string));
    const options = { origin, path: url, method: method as 'GET', headers: [...identity, ...sent] };
    agent.dispatch(options, relayTo(response));
  });
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
  process.on('disconnect', () => process.exit(0));
}

const relayTo = (response: ServerResponse): Dispatcher.DispatchHandler => ({
  onRequestStart: () => {},
  onResponseStart: ({ rawHeaders }, status) => {
    const texts = (rawHeaders as readonly Buffer[]).map((text) => text.toString('latin1'));
    response.writeHead(
      status,
      texts.filter((_, at) => !/^(transfer-encoding|connection)$/i.test(texts[at - (at % 2)] as string)),
    );
  },
  onResponseData: (_, chunk) => void response.write(chunk),
  onResponseEnd: () => void response.end(),
  onResponseError: () => response.destroy(),
});

if (import.meta.main) process.once('message', serve);
