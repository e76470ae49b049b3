import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Agent, request } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { ControlPlane } from '../support/control-plane.ts';

/** A request whose caller never gets the answer. */
interface Loss {
  readonly isMeant: (method: string, path: string) => boolean;
  /** Whether the request reaches the API server and takes effect, or is lost on the way. */
  readonly arrives: boolean;
  /** What happens then, before the connection is cut. */
  readonly onLoss: () => Promise<void>;
  readonly done: () => void;
}

/**
 * A proxy in front of the API server. It passes everything on until it is told to lose something. Plain http on
 * loopback.
 */
export interface ApiServerProxy {
  readonly url: string;
  /**
   * The next write to a Secret whose name begins like this gets no answer: `onLoss` is called, and the connection is
   * cut. Resolves when that is done.
   */
  loseWrite(secret: string, how: { readonly arrives: boolean; onLoss?(): Promise<void> }): Promise<void>;
  /** Ends every connection and accepts none, until `heal`. */
  cut(): void;
  heal(): void;
  stop(): Promise<void>;
}

export async function startApiServerProxy(cluster: ControlPlane): Promise<ApiServerProxy> {
  const agent = new Agent({ keepAlive: true, ca: await readFile(cluster.caFile) });
  const sockets = new Set<Socket>();
  const state = { isCut: false, loss: undefined as Loss | undefined };

  const handle = (incoming: IncomingMessage, answer: ServerResponse): void => {
    const { method = '', url = '', headers } = incoming;
    const lossFor = (arrived: boolean): Loss | undefined =>
      state.loss?.arrives === arrived && state.loss.isMeant(method, url) ? state.loss : undefined;
    const lose = async (loss: Loss): Promise<void> => {
      state.loss = undefined;
      await loss.onLoss();
      incoming.socket.destroy();
      loss.done();
    };
    const dropped = lossFor(false);
    if (dropped) return void lose(dropped);
    const outgoing = request(cluster.url + url, { method, headers, agent }, (response) => {
      const unheard = (response.statusCode ?? 500) < 300 ? lossFor(true) : undefined; // a refusal is passed on
      if (unheard) return void response.resume().once('end', () => void lose(unheard));
      answer.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(answer);
      response.once('error', () => answer.destroy());
    });
    outgoing.once('error', () => answer.destroy());
    answer.once('close', () => outgoing.destroy());
    incoming.pipe(outgoing);
  };

  const server = createServer(handle);
  server.on('connection', (socket) => {
    if (state.isCut) socket.destroy();
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const dropAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    loseWrite: (secret, { arrives, onLoss = async () => {} }) =>
      new Promise((done) => {
        state.loss = { isMeant: (method, path) => isWrite(method, path, secret), arrives, onLoss, done };
      }),
    cut: () => {
      state.isCut = true;
      dropAll();
    },
    heal: () => {
      state.isCut = false;
    },
    stop: async () => {
      server.close();
      dropAll();
      agent.destroy();
    },
  };
}

/** A create has no name in its path. */
function isWrite(method: string, path: string, secret: string): boolean {
  const name = /^\/api\/v1\/namespaces\/[^/]+\/secrets(?:\/([^/?]+))?$/.exec(path);
  if (!name) return false;
  return method === 'POST' || ((method === 'PUT' || method === 'DELETE') && (name[1] ?? '').startsWith(secret));
}
