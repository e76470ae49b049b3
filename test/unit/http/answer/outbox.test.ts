import { once } from 'node:events';
import { createServer, ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { Outbox } from '../../../../src/http/answer/answer.ts';

const SEND_TIMEOUT_MS = 60_000;
const BODY = { pieces: [Buffer.from('one '), Buffer.from('answer')], length: 10 };

/** What happened on the server, in order. */
const events: string[] = [];

class Told extends ServerResponse {
  override end(...sent: unknown[]): this {
    events.push('sent');
    return super.end(...(sent as []));
  }
}

const outbox = new Outbox(SEND_TIMEOUT_MS);
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

const MIB = 2 ** 20;

/** What a response that takes everything at once was told, piece by piece. */
function writtenTo(change: object = {}) {
  const told: string[] = [];
  const response = {
    socket: { writableLength: 0 },
    writableNeedDrain: false,
    destroyed: false,
    cork: () => told.push('cork'),
    uncork: () => told.push('uncork'),
    write: (piece: Buffer) => told.push(`write ${piece.length}`),
    end: (piece?: Buffer) => told.push(`end ${piece?.length}`),
    ...change,
  };
  const pieces = [Buffer.alloc(16 * MIB), Buffer.alloc(1), Buffer.alloc(2)];
  new Outbox(SEND_TIMEOUT_MS).add(response as unknown as ServerResponse, { pieces, length: 16 * MIB + 3 });
  return told;
}

const FIRST_BATCH = ['cork', `write ${16 * MIB}`, 'uncork'];

test('sends 16 MiB in a turn, and the rest in the next', async () => {
  const told = writtenTo();
  expect(told).toEqual(FIRST_BATCH);
  await nextTurn();
  expect(told.slice(3)).toEqual(['cork', 'write 1', 'end 2', 'uncork']);
});

test('sends no more to a client that has gone', async () => {
  const told = writtenTo({ destroyed: true });
  await nextTurn();
  expect(told).toEqual(FIRST_BATCH);
});

test('lets no more than 64 wait', async () => {
  const received = await ask(70);
  expect(received.match(/one answer/g)).toHaveLength(70);
  expect(events.indexOf('sent')).toBe(64);
});

test.each([
  [0, []],
  [1, [SEND_TIMEOUT_MS]],
])(
  'R-23 with %i bytes that the kernel did not take, Node ends the socket by its time limit: %j ms',
  async (left, limits) => {
    const set: number[] = [];
    writtenTo({ socket: { writableLength: left }, setTimeout: (ms: number) => set.push(ms) });
    expect(set).toEqual(limits);
  },
);
