import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { FakeClock } from '../../support/fake-clock.ts';
import { handedOver, otherEnd } from '../../support/own-sockets.ts';
import { answerOf, firstOf, OK } from '../../support/recording-upstream.ts';
import { parseAnswer } from '../http/raw-answer.ts';
import { type GatewayUnderTest, HEAD, requestOf, startGateway, stopped } from './gateway-under-test.ts';
import { RawConnection } from './raw-connection.ts';

let app: GatewayUnderTest;
beforeAll(async () => {
  app = await startGateway();
});
afterAll(() => app.stop());
afterEach(() => {
  app.upstream.requests.length = 0;
  app.upstream.answer = () => OK;
  app.upstream.onHead = () => {};
  for (const socket of app.upstream.open) socket.destroy();
});

const MAPS = '/api/v1/namespaces/a/configmaps';
const counted = (line: string, body: string, more = ''): string =>
  requestOf(line, `${more}Content-Length: ${body.length}\r\n`, body);
const answerTo = async (text: string) => parseAnswer(await app.raw(text));

describe('bodies to the cluster', () => {
  const bytes = String.fromCharCode(...Array.from({ length: 256 }, (_, at) => at));

  test.each([
    ['POST', 'application/json'],
    ['PUT', 'application/yaml'],
    ['PATCH', 'application/json-patch+json'],
    ['PATCH', 'application/merge-patch+json'],
    ['PATCH', 'application/strategic-merge-patch+json'],
    ['PATCH', 'application/apply-patch+yaml'],
    ['DELETE', 'application/json'],
  ])('G-06 of a %s of %s arrive byte for byte, with their length', async (method, type) => {
    expect((await answerTo(counted(`${method} ${MAPS}/m`, bytes, `Content-Type: ${type}\r\n`))).status).toBe(200);
    const { line, headers, body } = app.upstream.last;
    expect(line).toBe(`${method} ${MAPS}/m HTTP/1.1`);
    expect(body).toBe(bytes);
    expect([firstOf(headers, 'content-type'), firstOf(headers, 'content-length')]).toEqual([type, '256']);
  });

  test('G-06 of a gzip PUT are not unpacked', async () => {
    const zipped = gzipSync('x'.repeat(10_000)).toString('latin1');
    await answerTo(counted(`PUT ${MAPS}/m`, zipped, 'Content-Encoding: gzip\r\n'));
    expect([app.upstream.last.body, firstOf(app.upstream.last.headers, 'content-encoding')]).toEqual([zipped, 'gzip']);
  });

  test('G-06 in chunks arrive in chunks, whatever their sizes', async () => {
    const chunks = ['a', 'bb', '\r\n0\r\n\r\n', 'c'.repeat(70_000)];
    const body = `${chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('')}0\r\n\r\n`;
    await answerTo(requestOf(`POST ${MAPS}`, 'Transfer-Encoding: chunked\r\n', body));
    expect(app.upstream.last.body).toBe(chunks.join(''));
    expect(firstOf(app.upstream.last.headers, 'transfer-encoding')).toBe('chunked');
    expect(firstOf(app.upstream.last.headers, 'content-length')).toBeUndefined();
  });

  test('G-06 of 5 MB arrive whole', async () => {
    const body = randomBytes(5_000_000).toString('latin1');
    expect((await answerTo(counted(`PUT ${MAPS}/m`, body))).status).toBe(200);
    expect(digest(app.upstream.last.body)).toBe(digest(body));
  });

  test('G-06 A-13 a client that waits for a 100 gets it when the call goes out, and not when it is refused', async () => {
    const head = `PUT ${MAPS}/m HTTP/1.1\r\n${HEAD}Expect: 100-continue\r\nContent-Length: 3\r\n\r\n`;
    const client = await RawConnection.open(app.port, head);
    expect(await client.until(/\r\n\r\n/)).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    client.socket.write('abc');
    expect(await client.until(/200 OK/)).toContain('HTTP/1.1 200 OK');
    expect(app.upstream.last.body).toBe('abc');
    expect(firstOf(app.upstream.last.headers, 'expect')).toBeUndefined();
    client.socket.destroy();
    const refused = await RawConnection.open(app.port, head.replace('Bearer good', 'Bearer none'));
    expect(await refused.closed()).toMatch(/^HTTP\/1.1 401/);
  });

  test('G-06 a slow cluster makes the client wait: what is kept between them is bounded', async () => {
    const held = Promise.withResolvers<Socket>();
    app.upstream.onHead = ({ line, socket }) => {
      if (line.startsWith('PUT')) socket.pause();
      held.resolve(socket);
    };
    const length = 64 * 1024 * 1024;
    const client = await RawConnection.open(
      app.port,
      `PUT ${MAPS}/m HTTP/1.1\r\n${HEAD}Content-Length: ${length}\r\nConnection: close\r\n\r\n`,
    );
    const piece = Buffer.alloc(64 * 1024, 'x');
    let written = 0;
    const pump = async (): Promise<void> => {
      while (written < length) {
        written += piece.length;
        if (!client.socket.write(piece)) await once(client.socket, 'drain');
      }
    };
    const pumping = pump().catch(() => {});
    const [taken, sent] = [client.socket, await held.promise].map(otherEnd) as [Socket, Socket];
    let most = 0;
    await settled(() => {
      most = Math.max(most, taken.bytesRead - handedOver(sent));
      return taken.bytesRead;
    });
    // Of 64 MiB. What the kernel takes for either connection is its own matter; of ours there is one piece at a time.
    expect(most).toBeLessThan(1024 * 1024);
    app.upstream.onHead = () => {};
    for (const socket of app.upstream.open) socket.resume();
    await pumping;
    expect(await client.closed()).toContain('200 OK');
    expect(app.upstream.last.body.length).toBe(length);
  });

  test('a client that stops sending is told 408 after 30 s, and the call at the cluster is ended', async () => {
    const clock = new FakeClock();
    const slow = await startGateway({ clock });
    const head = Promise.withResolvers<void>();
    slow.upstream.onHead = () => head.resolve();
    const client = await RawConnection.open(
      slow.port,
      `PUT ${MAPS}/m HTTP/1.1\r\n${HEAD}Content-Length: 10\r\n\r\nabc`,
    );
    await head.promise;
    await clock.advance(29_000);
    expect(client.text).toBe('');
    await clock.advance(1_000);
    expect(await client.until(/408/)).toContain('"reason":"Timeout"');
    await expect.poll(() => slow.upstream.open.size).toBe(0);
    client.socket.destroy();
    await stopped(slow, clock);
  });
});

describe('a body that is not taken, or breaks off', () => {
  test('an answer that comes before the body has ended is relayed, and the connection closed', async () => {
    app.upstream.onHead = ({ socket }) => void socket.end(answerOf('413 Request Entity Too Large', '{"code":413}'));
    const head = `POST ${MAPS} HTTP/1.1\r\n${HEAD}Content-Length: 50000000\r\n\r\n`;
    const client = await RawConnection.open(app.port, head + 'x'.repeat(1_000));
    expect(await client.closed()).toMatch(/^HTTP\/1.1 413 [\s\S]*Connection: close[\s\S]*\{"code":413\}$/);
    app.upstream.onHead = () => {};
  });

  test('clients that go in the middle of their bodies do not make the cluster count as away', async () => {
    for (let count = 0; count < 8; count++) {
      const head = Promise.withResolvers<void>();
      app.upstream.onHead = () => head.resolve();
      const client = await RawConnection.open(
        app.port,
        `POST ${MAPS} HTTP/1.1\r\n${HEAD}Transfer-Encoding: chunked\r\n\r\n5\r\nabc`,
      );
      await head.promise;
      if (count % 2 === 0) client.socket.resetAndDestroy();
      else client.socket.write('zz\r\nno chunk\r\n');
      await expect.poll(() => app.upstream.open.size).toBe(0);
      client.socket.destroy();
    }
    app.upstream.onHead = () => {};
    expect((await app.get('/api')).status).toBe(200);
    expect(await app.metric('gatehouse_gateway_refusals_total', { reason: 'unreachable' })).toBe(0);
  });
});

describe('bodies of the cluster', () => {
  test('come back byte for byte, by length and in chunks', async () => {
    const body = randomBytes(300_000).toString('latin1');
    app.upstream.answer = () => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    expect(digest((await answerTo(requestOf('GET /api'))).body)).toBe(digest(body));
    const chunked = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    app.upstream.answer = () => `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunked}`;
    const answer = await answerTo(requestOf('GET /api'));
    expect(answer.headers.get('transfer-encoding')).toBe('chunked');
    expect(digest(dechunked(answer.body))).toBe(digest(body));
  });

  test.each([
    ['429 Too Many Requests', 'Retry-After: 7\r\n'],
    ['410 Gone', ''],
    ['307 Temporary Redirect', 'Location: https://elsewhere.example/x\r\n'],
    ['422 Unprocessable Entity', ''],
    ['500 Internal Server Error', ''],
    ['503 Service Unavailable', 'Retry-After: 1\r\n'],
  ])('G-14 of a %s are relayed, its headers too', async (status, headers) => {
    app.upstream.answer = () => answerOf(status, '{"kind":"Status"}', headers);
    const text = await app.raw(requestOf('GET /api/v1/pods?watch=1'));
    expect(text).toContain(`HTTP/1.1 ${status.slice(0, 3)}`);
    expect(text).toContain(headers);
    expect(text).toContain('{"kind":"Status"}');
    expect(app.upstream.requests.length).toBe(1);
  });

  test('G-14 a 403 of the cluster is relayed, also one longer than the refusal of an impersonation', async () => {
    for (const body of ['{"kind":"Status","code":403}', 'x'.repeat(100_000)]) {
      app.upstream.answer = () => answerOf('403 Forbidden', body);
      const answer = await answerTo(requestOf('GET /api/v1/secrets'));
      expect([answer.status, answer.body === body]).toEqual([403, true]);
    }
  });

  test('G-20 a HEAD goes out as a HEAD and has no body', async () => {
    app.upstream.answer = () => 'HTTP/1.1 405 Method Not Allowed\r\nAllow: GET\r\nContent-Length: 100\r\n\r\n';
    const text = await app.raw(requestOf('HEAD /api/v1/nodes'));
    expect(app.upstream.last.line).toBe('HEAD /api/v1/nodes HTTP/1.1');
    expect([parseAnswer(text).status, parseAnswer(text).body]).toEqual([405, '']);
    expect(parseAnswer(text).headers.get('content-length')).toBe('100');
  });

  test('G-17 200 calls one after the other share a connection, 50 at once have no more than they need', async () => {
    const before = app.upstream.opened;
    for (let count = 0; count < 200; count++) await (await app.get('/api')).text();
    expect(app.upstream.opened - before).toBeLessThanOrEqual(2);
    await Promise.all(Array.from({ length: 50 }, async () => (await app.get('/api')).text()));
    expect(app.upstream.opened - before).toBeLessThanOrEqual(52);
    expect(app.upstream.requests.length).toBe(250);
  });
});

const digest = (text: string): string => createHash('sha256').update(text, 'latin1').digest('hex');

function dechunked(text: string): string {
  let [rest, body] = [text, ''];
  for (;;) {
    const end = rest.indexOf('\r\n');
    const size = Number.parseInt(rest.slice(0, end), 16);
    if (size === 0) return body;
    body += rest.slice(end + 2, end + 2 + size);
    rest = rest.slice(end + 2 + size + 2);
  }
}

/** Waits until the number has not grown for 200 ms. If that is too early, the test sees less, but does not fail. */
async function settled(read: () => number): Promise<void> {
  for (let [last, same] = [-1, 0]; same < 10; ) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    same = read() === last ? same + 1 : 0;
    last = read();
  }
}
