import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { atEnd } from '../../support/at-end.ts';

/** A query as Prometheus gets it. */
interface AskedQuery {
  readonly path: string;
  readonly form: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
}

export interface StandIn {
  readonly url: string;
  readonly asked: AskedQuery[];
  /** The most queries that were in flight at a time. */
  readonly most: () => number;
  /** What the next queries get: a status and a body, or a wait that ends when it resolves. */
  answers: (query: AskedQuery) => Promise<readonly [status: number, body: object]>;
}

export const vector = (result: readonly object[]): [number, object] => [
  200,
  { status: 'success', data: { resultType: 'vector', result } },
];

/** A server in place of Prometheus, on a socket of its own. Until a test says otherwise, nothing has a value. */
export async function startStandIn(): Promise<StandIn> {
  const flight = { now: 0, most: 0 };
  const server = createServer(async (request, response) => {
    const form = Object.fromEntries(new URLSearchParams(await text(request)));
    const query = { path: request.url ?? '', form, headers: request.headers };
    standIn.asked.push(query);
    flight.most = Math.max(flight.most, ++flight.now);
    const [status, body] = await standIn.answers(query);
    flight.now--;
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  const standIn: StandIn = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: [],
    most: () => flight.most,
    answers: async () => vector([]),
  };
  return standIn;
}
