import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { defaultLimits } from '../../support/default-limits.ts';
import { startApp } from './app-under-test.ts';
import { HEAD, LIST, parseAnswer, statusText } from './raw-answer.ts';

const TRICKLED_FORM = 'POST /oauth/token HTTP/1.1\r\nHost: a\r\nContent-Length: 16000\r\n\r\n';
const TRICKLED_BODY = `GET ${LIST} HTTP/1.1\r\n${HEAD}Content-Length: 16000\r\n\r\n`;

/** Sends this, then a little more again and again, until the server closes; what came by then. */
async function trickle(port: number, start: string, drop: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let received = '';
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString('latin1');
  });
  socket.on('error', () => {}); // what is sent after the close is reset
  const closed = new Promise((resolve) => socket.once('close', resolve)); // `once` of Node.js rejects at an error
  const drops = setInterval(() => socket.writable && socket.write(drop), 20);
  const limit = setTimeout(() => socket.destroy(), 100_000);
  try {
    socket.write(start);
    await closed;
  } finally {
    clearInterval(drops);
    clearTimeout(limit);
  }
  return received;
}

// At once: Node.js looks for late requests once a second.
describe.concurrent('limits in time', () => {
  test('A-10 N-52 a connection that sends nothing, and one with slow headers, get 408', async () => {
    const limits = { ...defaultLimits, headersTimeoutMs: 100 };
    const slow = await startApp({ limits });
    try {
      for (const text of ['', `GET ${LIST} HTTP/1.1\r\nHo`]) {
        const answer = parseAnswer(await slow.raw(text));
        expect(answer.status).toBe(408);
        expect(answer.headers.get('connection')).toBe('close');
        expect(answer.body).toBe(statusText(408, 'Timeout', 'the request did not arrive in time'));
      }
    } finally {
      await slow.stop();
    }
  });

  test.each([
    // Where the body is late, the head may take as long as a busy machine needs for it.
    ['headers', 300, 60_000, `GET ${LIST} HTTP/1.1\r\n`, 'X: a\r\n', 'the request did not arrive in time'],
    ['a body', 60_000, 300, TRICKLED_FORM, 'a', 'the request body did not arrive within 0.3 s'],
    ['a body that nobody reads', 300, 300, TRICKLED_BODY, 'a', 'the request did not arrive in time'],
  ])(
    'A-10 N-52 R-08 %s that trickles in is 408: no byte buys more time',
    async (_, headersTimeoutMs, bodyTimeoutMs, start, drop, message) => {
      const limits = { ...defaultLimits, headersTimeoutMs, bodyTimeoutMs };
      // While the right is being asked for nothing but the time of the request ends it.
      const decided = Promise.withResolvers<{ allowed: boolean; source: 'review' }>();
      const slow = await startApp({ limits, authorizer: { authorize: () => decided.promise } });
      try {
        const answer = parseAnswer(await trickle(slow.port, start, drop));
        expect([answer.status, answer.headers.get('connection')]).toEqual([408, 'close']);
        expect(answer.body).toContain(`"${message}"`);
        decided.resolve({ allowed: true, source: 'review' }); // too late for anybody
        expect((await slow.get('/version')).status).toBe(200);
      } finally {
        await slow.stop();
      }
    },
  );

  test('A-10 N-52 a slow body gets 408', async () => {
    const limits = { ...defaultLimits, bodyTimeoutMs: 50 };
    const slow = await startApp({ limits });
    try {
      const answer = parseAnswer(
        await slow.raw('POST /oauth/token HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc'),
      );
      expect(answer.status).toBe(408);
      expect(answer.headers.get('connection')).toBe('close');
      expect(answer.body).toBe(
        '{"error":"invalid_request","error_description":"the request body did not arrive within 0.05 s"}',
      );
    } finally {
      await slow.stop();
    }
  });
});
