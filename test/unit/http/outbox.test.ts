import { once } from 'node:events';
import { createServer, ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test } from 'vitest';
import { Outbox } from '../../../src/http/outbox.ts';

const STALL_MS = 60_000;
const PIECES = [Buffer.from('one '), Buffer.from('answer')];

/** What happened on the server, in order. */
const events: string[] = [];

class Told extends ServerResponse {
  override end(...sent: unknown[]): this {
    events.push('sent');
    return super.end(...(sent as []));
  }
}

const outbox = new Outbox(STALL_MS);
const server = createServer({ ServerResponse: Told }, (_request, response) => {
  events.push('judged');
  response.writeHead(200, { 'Content-Length': 10 });
  outbox.add(response, PIECES);
});
afterEach(() => server.close());

test('sends the answers to what arrived together, in order, once all of it was judged', async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const request = (connection: string): string => `GET / HTTP/1.1\r\nHost: a\r\nConnection: ${connection}\r\n\r\n`;
  socket.write(request('keep-alive').repeat(2) + request('close'));
  const received = await text(socket);
  expect(received.match(/one answer/g)).toHaveLength(3);
  expect(events).toEqual(['judged', 'judged', 'judged', 'sent', 'sent', 'sent']);
});
