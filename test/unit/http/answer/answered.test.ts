import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { AnswerWriter, NO_BODY, wholeBody } from '../../../../src/http/answer/answer.ts';
import { Exchange } from '../../../../src/http/exchange.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

/** An exchange whose client takes nothing of its answer, ever. */
function stuckExchange(): { readonly exchange: Exchange; readonly seen: string[] } {
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  const socket = Object.assign(new Writable({ write: () => undefined }), { setTimeout: () => undefined });
  response.assignSocket(socket as unknown as Socket);
  const exchange = new Exchange({
    ...{ request, response, rawTarget: '/', requestId: 'r-1', startedAt: 0, source: '', corsHeaders: [] },
  });
  const seen: string[] = [];
  exchange.whenAnswered(() => seen.push(`answered ${exchange.status}`));
  exchange.atEnd(() => seen.push('ended'));
  return { exchange, seen };
}

const writer = new AnswerWriter(new FakeClock(), 1_000);
const body = wholeBody(Buffer.from('{}'));

test.each<[string, (exchange: Exchange) => void, number]>([
  ['a whole answer', (exchange) => writer.send(exchange, 403, {}, body), 403],
  ['an answer without a body', (exchange) => writer.send(exchange, 204, {}, NO_BODY), 204],
  ['an answer of unknown length', (exchange) => writer.begin(exchange, {}), 200],
  ['an answer that is passed on', (exchange) => writer.relay(exchange, 409, [], false), 409],
  ['a stream that is passed on', (exchange) => writer.relay(exchange, 200, [], true), 200],
  ['a switch of protocols', (exchange) => writer.switchProtocols(exchange, [], 'websocket'), 101],
])('%s has its final status with its head, though the client reads nothing', async (_, answer, status) => {
  const { exchange, seen } = stuckExchange();
  answer(exchange);
  await new Promise(setImmediate);
  expect(seen).toEqual([`answered ${status}`]);
});
