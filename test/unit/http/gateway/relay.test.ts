import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { AnswerWriter } from '../../../../src/http/answer/answer.ts';
import { Exchange } from '../../../../src/http/exchange.ts';
import { Relay } from '../../../../src/http/gateway/relay.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

/** A socket that keeps what is written to it: one text for each write to the kernel. */
class RecordingSocket extends Socket {
  readonly writes: string[] = [];

  override _write(chunk: Buffer | string, _encoding: BufferEncoding, done: () => void): void {
    this.writes.push(chunk.toString());
    done();
  }

  override _writev(parts: readonly { readonly chunk: Buffer | string }[], done: () => void): void {
    this.writes.push(parts.map(({ chunk }) => chunk.toString()).join(''));
    done();
  }
}

function relayTo({ isStream }: { readonly isStream: boolean }) {
  const socket = new RecordingSocket();
  const request = Object.assign(new IncomingMessage(socket), {
    method: 'GET',
    httpVersionMajor: 1,
    httpVersionMinor: 1,
  });
  const response = new ServerResponse(request);
  response.assignSocket(socket);
  const started = { request, response, rawTarget: '/api', requestId: 'r', startedAt: 0, source: '', corsHeaders: [] };
  const clock = new FakeClock();
  const parts = { writer: new AnswerWriter(clock, 1_000), isStream, onStart: () => {}, onBytes: () => {} };
  return { relay: new Relay(new Exchange(started), () => {}, parts), writes: socket.writes };
}

const HEADERS = ['Content-Type', 'text/plain', 'Transfer-Encoding', 'chunked'];

test('an answer whose pieces arrive in one turn of the event loop is one write', async () => {
  const { relay, writes } = relayTo({ isStream: false });
  relay.start(200, HEADERS);
  void relay.data(Buffer.from('one'));
  void relay.data(Buffer.from('two'));
  relay.end();
  expect(writes).toHaveLength(1);
  expect(writes[0]).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(writes[0]?.split('\r\n\r\n').slice(1).join('\r\n\r\n')).toBe('6\r\nonetwo\r\n0\r\n\r\n');
  await nextTurn();
  expect(writes).toHaveLength(1);
});

test('what has arrived is sent at the end of the turn, though the answer goes on', async () => {
  const { relay, writes } = relayTo({ isStream: false });
  relay.start(200, HEADERS);
  void relay.data(Buffer.from('one'));
  expect(writes).toEqual([]);
  await nextTurn();
  expect(writes.join('')).toMatch(/\r\n\r\n3\r\none\r\n$/);
  void relay.data(Buffer.from('two'));
  await nextTurn();
  expect(writes.join('')).toMatch(/3\r\none\r\n3\r\ntwo\r\n$/);
});

test('the headers of a stream are sent at once', () => {
  const { relay, writes } = relayTo({ isStream: true });
  relay.start(200, HEADERS);
  expect(writes.join('')).toMatch(/^HTTP\/1\.1 200 OK\r\n.*\r\n\r\n$/s);
});
