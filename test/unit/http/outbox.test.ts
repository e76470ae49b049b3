import { once } from 'node:events';
import { createServer, ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, expect, test } from 'vitest';
import { Outbox } from '../../../src/http/answer/outbox.ts';

const STALL_MS = 60_000;
const BODY = { pieces: [Buffer.from('one '), Buffer.from('answer')], length: 10 };

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
  outbox.add(response, BODY);
});
afterAll(() => server.close());

/** What comes back for so many requests in one packet. */
async function ask(requests: number): Promise<string> {
  events.length = 0;
  if (!server.listening) await once(server.listen(0, '127.0.0.1'), 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const request = (connection: string): string => `GET / HTTP/1.1\r\nHost: a\r\nConnection: ${connection}\r\n\r\n`;
  socket.write(request('keep-alive').repeat(requests - 1) + request('close'));
  return text(socket);
}

test('sends the answers to what arrived together, in order, once all of it was judged', async () => {
  const received = await ask(3);
  expect(received.match(/one answer/g)).toHaveLength(3);
  expect(events).toEqual(['judged', 'judged', 'judged', 'sent', 'sent', 'sent']);
});

test('lets no more than 64 wait', async () => {
  const received = await ask(70);
  expect(received.match(/one answer/g)).toHaveLength(70);
  expect(events.indexOf('sent')).toBe(64);
});
