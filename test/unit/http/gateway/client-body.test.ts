import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import type { Exchange } from '../../../../src/http/exchange.ts';
import { ClientBody } from '../../../../src/http/gateway/client-body.ts';
import { systemClock } from '../../../../src/runtime/clock.ts';
import { atEnd } from '../../../support/at-end.ts';

const LENGTH = 30_000;

/** A request of which the client sends `text`. */
async function requestOf(text: string) {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  atEnd(() => {
    client.destroy();
    server.close();
  });
  client.write(`PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: ${LENGTH}\r\n\r\n${text}`);
  const [request, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
  const exchange = { request, response } as Exchange;
  const body = new ClientBody(exchange, { clock: systemClock, stallMs: 60_000, onBytes: () => {} });
  return { request, client, body };
}

test('a body that has come is read to its end, however late', async () => {
  const { request, body } = await requestOf('x'.repeat(LENGTH));
  body.once('readable', () => {}); // asks for the first piece, and takes none
  await once(request, 'close');
  expect((await buffer(body)).length).toBe(LENGTH);
});

test('a body breaks off when the client goes before its end', async () => {
  const { client, body } = await requestOf('x');
  body.once('readable', () => client.destroy());
  await expect(buffer(body)).rejects.toThrow();
});
