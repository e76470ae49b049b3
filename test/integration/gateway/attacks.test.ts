import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { FakeClock } from '../../support/fake-clock.ts';
import { ownSockets } from '../../support/own-sockets.ts';
import { answerOf, OK } from '../../support/recording-upstream.ts';
import { parseAnswer } from '../http/raw-answer.ts';
import {
  ALICE,
  type GatewayUnderTest,
  HEAD,
  pass,
  pour,
  requestOf,
  startGateway,
  stopped,
} from './gateway-under-test.ts';
import { RawConnection } from './raw-connection.ts';

/** What was tried against the gateway and once held: docs/security.md has the table. */

let app: GatewayUnderTest;
beforeAll(async () => {
  app = await startGateway({ options: { allowProxySubresources: true } });
});
afterAll(() => app.stop());
afterEach(() => {
  for (const socket of app.upstream.open) socket.destroy();
  app.upstream.requests.length = 0;
  app.upstream.answer = () => OK;
  app.upstream.onHead = () => {};
});

const MAPS = '/api/v1/namespaces/a/configmaps';
const EXEC = '/api/v1/namespaces/a/pods/p/exec?command=sh';
const WEBSOCKET =
  'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n';
const YES = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n';
const NEXT = `GET /api/v1/secrets HTTP/1.1\r\n${HEAD}\r\n`;
const exec = `GET ${EXEC} HTTP/1.1\r\n${HEAD}${WEBSOCKET}\r\n`;
const ACCOUNT = 'system:serviceaccount:gatehouse:gatehouse';
const REFUSAL = `{"message":"users \\"alice\\" is forbidden: User \\"${ACCOUNT}\\" cannot impersonate resource \\"users\\" in API group \\"\\""}`;
const impersonations = () => app.metric('gatehouse_gateway_refusals_total', { reason: 'impersonation' });

async function gauges(): Promise<readonly number[]> {
  const names = ['requests_in_flight', 'upgrades_in_flight', 'streams'];
  return Promise.all(names.map((name) => app.metric(`gatehouse_gateway_${name}`)));
}

describe('A-14 smuggling by an upgrade', () => {
  test.each([
    ['a websocket on an object', `GET ${MAPS}/m HTTP/1.1\r\n${HEAD}${WEBSOCKET}\r\n`],
    [
      'h2c with a body',
      `POST ${MAPS} HTTP/1.1\r\n${HEAD}Upgrade: h2c\r\nConnection: upgrade\r\nContent-Length: 2\r\n\r\n{}`,
    ],
  ])('what comes behind an ignored upgrade is never read from its middle: %s', async (_, text) => {
    const client = await RawConnection.open(app.port, text + NEXT.slice(0, 20));
    client.socket.write(NEXT);
    expect(await client.closed()).toContain('Connection: close\r\n');
    expect([client.text.match(/HTTP\/1.1/g)?.length, app.upstream.requests.length]).toEqual([1, 1]);
  });

  test('HTTP/1.0 has no upgrades', async () => {
    app.upstream.answer = ({ headers }) => (headers.includes('Upgrade') ? YES : OK);
    expect(await app.raw(exec.replace('HTTP/1.1', 'HTTP/1.0'))).toMatch(/^HTTP\/1.1 200/);
  });
});

describe('our own account in a 403', () => {
  const packed = gzipSync(REFUSAL).toString('latin1');
  test.each([
    ['longer than what is held back', answerOf('403 Forbidden', REFUSAL + ' '.repeat(40_000))],
    [
      'packed by a proxy',
      `HTTP/1.1 403 Forbidden\r\nContent-Encoding: gzip\r\nContent-Length: ${packed.length}\r\n\r\n${packed}`,
    ],
    ['of a name beyond ASCII', Buffer.from(answerOf('403 Forbidden', REFUSAL.replace(ACCOUNT, 'Jürgen')))],
  ])('G-16 %s: 403, and nothing of it', async (_, answer) => {
    for (const text of [requestOf('GET /api/v1/pods'), exec]) {
      app.upstream.answer = ({ socket }) => void socket.write(answer, 'latin1');
      const before = await impersonations();
      const answered = await app.raw(text);
      expect(answered).toMatch(/^HTTP\/1.1 403/);
      expect(answered).not.toMatch(/serviceaccount|rgen|impersonate/);
      expect((await impersonations()) - before).toBe(1);
    }
  });

  test.each(['impersonate', '%69mpersonat%65'])('a caller cannot raise its alert by a name: %s', async (word) => {
    const name = `is forbidden: User "a" cannot impersonate resource `;
    app.upstream.answer = () => answerOf('403 Forbidden', JSON.stringify({ details: { name } }));
    const before = await impersonations();
    const path = encodeURIComponent(name).replace('impersonate', word);
    expect((await app.raw(requestOf(`GET /api/v1/namespaces/a/pods/${path}`))).slice(9, 12)).toBe('403');
    expect((await impersonations()) - before).toBe(0);
  });
});

test.each([
  ...['Alt-Svc: h2="evil.example:443"', 'NEL: {"report_to":"x"}', 'Report-To: {"group":"x"}'],
  ...['Reporting-Endpoints: x="https://evil.example"', 'Service-Worker-Allowed: /', 'Public-Key-Pins: x'],
])('A-29 a backend makes browsers remember nothing of it for our origin: "%s"', async (line) => {
  app.upstream.answer = () => answerOf('200 OK', '{}', `${line}\r\n`);
  expect(await app.raw(requestOf('GET /api/v1/namespaces/a/pods/p/proxy/'))).not.toContain(line);
});

describe('one caller and the way of the others', () => {
  test('answers that nobody can read do not make the cluster count as away', async () => {
    const headers = `X: ${'x'.repeat(40_000)}\r\n`;
    for (const answer of [answerOf('200 OK', '{}', headers), 'HTTP/1.1 abc\r\n\r\n']) {
      app.upstream.answer = () => answer;
      for (const line of ['GET /api/v1/namespaces/m/pods/mine/proxy/', `POST ${MAPS}`])
        for (let count = 0; count < 6; count++) expect((await app.raw(requestOf(line))).slice(9, 12)).toBe('502');
    }
    app.upstream.answer = () => OK;
    expect((await app.get('/api')).status).toBe(200);
  });

  test('calls that run out of time do not, when others were answered since they were sent', async () => {
    const clock = new FakeClock();
    const other = await startGateway({ clock });
    other.upstream.answer = ({ line }) => (line.startsWith('POST') ? undefined : OK);
    const slow = requestOf('POST /apis/metrics.example/v1/slow', 'Content-Length: 2\r\n', '{}');
    const clients = await Promise.all(Array.from({ length: 8 }, () => RawConnection.open(other.port, slow)));
    await expect.poll(() => other.upstream.requests.length).toBe(8);
    await clock.advance(30_000);
    expect((await other.get('/api')).status).toBe(200);
    await clock.advance(30_000);
    for (const client of clients) expect(parseAnswer(await client.closed()).status).toBe(504);
    expect((await other.get('/api')).status).toBe(200);
    await stopped(other, clock);
  });
});

describe('nothing is left of a client that goes', () => {
  const upload = `PUT ${MAPS}/m HTTP/1.1\r\n${HEAD}`;
  const texts = {
    'an upgrade': exec,
    'an upload by its length': `${upload}Content-Length: 100000\r\n\r\n${'x'.repeat(5_000)}`,
    'an upload in chunks': `${upload}Transfer-Encoding: chunked\r\n\r\n5\r\nabc`,
    'an upload that waits for a 100': `${upload}Expect: 100-continue\r\nContent-Length: 10\r\n\r\n`,
    'a watch': `GET /api/v1/pods?watch=1 HTTP/1.1\r\n${HEAD}\r\n`,
  };

  test.each(Object.entries(texts))('%s, at once or later, by closing or by a reset', async (_, text) => {
    app.upstream.answer = () => undefined;
    const leave = async (at: number): Promise<void> => {
      const { socket } = await RawConnection.open(app.port, text);
      await new Promise((resolve) => setTimeout(resolve, at));
      if (at % 2 === 0) socket.destroy();
      else socket.resetAndDestroy();
    };
    for (let round = 0; round < 4; round++) await Promise.all(Array.from({ length: 25 }, (__, at) => leave(at)));
    await expect.poll(async () => [...(await gauges()), app.upstream.open.size]).toEqual([0, 0, 0, 0]);
  });

  test('a client that talks on before its 101 is cut off', async () => {
    app.upstream.answer = () => undefined;
    const client = await RawConnection.open(app.port, exec);
    await expect.poll(() => app.upstream.requests.length).toBe(1);
    client.socket.write(Buffer.alloc(100_000));
    await client.closed();
    await expect.poll(() => app.upstream.open.size).toBe(0);
  });
});

test('a body that is malformed from its first byte is 400 at once', async () => {
  app.upstream.answer = () => undefined;
  const text = `POST ${MAPS} HTTP/1.1\r\n${HEAD}Transfer-Encoding: chunked\r\n\r\nzz\r\n`;
  expect(await app.raw(text)).toMatch(/^HTTP\/1.1 400/);
  await expect.poll(() => gauges()).toEqual([0, 0, 0]);
});

describe('a client that takes nothing is cut off', () => {
  let slow: GatewayUnderTest;
  const clock = new FakeClock();
  beforeAll(async () => {
    slow = await startGateway({ clock, limits: { ...app.parts.limits, sendTimeoutMs: 300 } });
  });
  afterAll(() => stopped(slow, clock));

  test.each([
    ['of a call, though it sends a byte now and then', requestOf('GET /api/v1/pods')],
    ['of an upgrade that was declined', exec],
  ])('%s', async (_, text) => {
    slow.upstream.answer = pour;
    const client = await RawConnection.open(slow.port);
    client.socket.pause();
    client.socket.write(text);
    await expect.poll(() => slow.upstream.open.size).toBe(1);
    await pass(clock, () => {
      client.socket.write('G');
      return slow.upstream.open.size === 0;
    });
    client.socket.destroy();
  });

  test('of the last bytes, when all others are with the kernel', async () => {
    const came = Promise.withResolvers<Socket>();
    slow.upstream.answer = ({ socket }) => void came.resolve(socket);
    const client = await RawConnection.open(slow.port);
    client.socket.pause();
    client.socket.write(`GET /api/v1/pods?watch=1 HTTP/1.1\r\n${HEAD}\r\n`);
    const upstream = await came.promise;
    upstream.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n');
    const piece = `4000\r\n${'x'.repeat(0x4000)}\r\n`;
    const isHeld = () =>
      ownSockets().some(({ localPort, writableLength }) => localPort === slow.port && writableLength > 0);
    while (!isHeld()) {
      upstream.write(piece);
      await new Promise((resolve) => setImmediate(resolve));
    }
    upstream.write('0\r\n\r\n');
    await pass(clock, async () => (await slow.metric('gatehouse_gateway_streams')) === 0);
    client.socket.destroy();
  });
});

test.each([
  ['a length and chunks', 'Content-Length: 4\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'],
  ['chunks and a length', 'Transfer-Encoding: chunked\r\nContent-Length: 40\r\n', '0\r\n\r\n'],
  ['two lengths', 'Content-Length: 2\r\nContent-Length: 3\r\n', '{}'],
  ['a list of lengths', 'Content-Length: 2, 2\r\n', '{}'],
  ['a length with a sign', 'Content-Length: +2\r\n', '{}'],
  ['a length in hexadecimal', 'Content-Length: 0x2\r\n', '{}'],
  ['a blank before the colon', 'Content-Length : 2\r\n', '{}'],
  ['a coding that only looks like chunks', 'Transfer-Encoding: xchunked\r\n', '0\r\n\r\n'],
  ['two codings', 'Transfer-Encoding: gzip, chunked\r\n', '0\r\n\r\n'],
  ['a folded coding', 'Transfer-Encoding:\r\n chunked\r\n', '0\r\n\r\n'],
  ['a chunk size in hexadecimal', 'Transfer-Encoding: chunked\r\n', '0x2\r\n{}\r\n0\r\n\r\n'],
  ['chunks with bare line feeds', 'Transfer-Encoding: chunked\r\n', '2\n{}\n0\n\n'],
  ['a line break in an extension', 'Transfer-Encoding: chunked\r\n', '2;a="\r\n"\r\n{}\r\n0\r\n\r\n'],
  ['an overflowing chunk', 'Transfer-Encoding: chunked\r\n', '10000000000000002\r\n{}\r\n0\r\n\r\n'],
  ['a length in a trailer', 'Transfer-Encoding: chunked\r\n', '2\r\n{}\r\n0\r\nContent-Length: 5\r\n\r\n'],
])('framing that is read in two ways makes no second call: %s', async (_, headers, body) => {
  app.bearers.set('good', { identity: ALICE, cached: true });
  const text = await app.raw(`POST ${MAPS} HTTP/1.1\r\n${HEAD}${headers}\r\n${body}${NEXT}`, /HTTP\/1.1 4/);
  expect(text).toMatch(/^HTTP\/1.1 400/);
  expect(app.upstream.requests).toEqual([]);
});
