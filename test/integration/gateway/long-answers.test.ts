import { once } from 'node:events';
import { createServer, get } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { AnswerWriter } from '../../../src/http/answer/answer.ts';
import type { Exchange } from '../../../src/http/exchange.ts';
import { Relay } from '../../../src/http/gateway/relay.ts';
import { selfSigned } from '../../support/self-signed.ts';

const PIECE = Buffer.alloc(40_000, 'x');
const PIECES = 100;
/** So many pieces arrive in one turn of the event loop. */
const AT_ONCE = 3;

const plainWriter = {
  relay: ({ response }: Exchange, status: number) => void response.writeHead(status),
  finish: ({ response }: Exchange) => void response.end(),
} as unknown as AnswerWriter;

test('an answer of many pieces, several of which arrive together, reaches a client over TLS whole', async () => {
  const { cert, key } = selfSigned('127.0.0.1', { addresses: ['127.0.0.1'] });
  const server = createServer({ cert, key }, async (_, response) => {
    const exchange = { response, bodyBytes: 0 } as unknown as Exchange;
    const nothing = (): void => undefined;
    const relay = new Relay(exchange, nothing, {
      writer: plainWriter,
      isStream: false,
      onStart: nothing,
      onBytes: nothing,
    });
    relay.start(200, []);
    for (let piece = 0; piece < PIECES; piece++) {
      if (piece % AT_ONCE === 0) await nextTurn();
      await relay.data(PIECE);
    }
    relay.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const [answer] = await once(get({ host: '127.0.0.1', port, ca: cert, agent: false }), 'response');
  let bytes = 0;
  for await (const piece of answer) bytes += piece.length;
  expect(bytes).toBe(PIECE.length * PIECES);
  server.close();
}, 10_000);
