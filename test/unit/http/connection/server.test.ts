import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import type { App } from '../../../../src/http/chain/chain.ts';
import { createHttpServer, type HttpServerOptions } from '../../../../src/http/connection/server.ts';
import type { Taken } from '../../../../src/http/exchange-start.ts';
import { createHttpMetrics } from '../../../../src/http/metrics.ts';
import { createVerificationCounter } from '../../../../src/oauth/metrics.ts';
import { createLogger } from '../../../../src/observability/logger.ts';
import { systemRandom } from '../../../../src/runtime/random.ts';
import { atEnd } from '../../../support/at-end.ts';
import { defaultLimits } from '../../../support/default-limits.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { selfSigned } from '../../../support/self-signed.ts';

const certificate = selfSigned('localhost');

type Serve = (request: IncomingMessage, response: ServerResponse) => void;

const hello: Serve = (_request, response) => void response.end('hello');

/** A port with an app that serves each request this way; its timers are Node's, its shutdown is on the test's clock. */
async function start(
  serve: Serve = hello,
  options: Partial<HttpServerOptions> = {},
  limits = {},
  offered: Partial<App> = {},
) {
  const clock = new FakeClock();
  const registry = new Registry();
  const lines: Record<string, unknown>[] = [];
  const logger = createLogger(
    { level: 'info', format: 'json' },
    { write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>) },
  );
  const said: string[] = [];
  const app = { handle: serve, classes: {}, ...offered } as unknown as App;
  const server = createHttpServer(
    { address: '127.0.0.1', port: 0, shutdownDelayMs: 1_000, drainMs: 5_000, ...options },
    app,
    {
      ...{ limits: { ...defaultLimits, ...limits }, clock, random: systemRandom, logger, registry },
      metrics: createHttpMetrics(registry, createVerificationCounter(registry)),
      onDraining: () => said.push('draining'),
      onClosing: () => said.push('closing'),
    },
  );
  const { port } = await server.listen();
  const ending = new AbortController();
  const state = { isOver: false };
  const running = server.run(ending.signal).then(() => {
    state.isOver = true;
  });
  const sockets: Socket[] = [];
  const open = async (secure = false): Promise<{ socket: Socket; text: () => string }> => {
    const at = { port, host: '127.0.0.1' };
    const socket = secure ? connectTls({ ...at, ca: certificate.cert }) : connect(at);
    sockets.push(socket);
    let received = '';
    socket
      .on('error', () => {})
      .on('data', (chunk: Buffer) => {
        received += chunk.toString('latin1');
      });
    await once(socket, secure ? 'secureConnect' : 'connect');
    return { socket, text: () => received };
  };
  /** Sends this on a connection of its own; what came until it was closed. */
  const send = async (text: string): Promise<string> => {
    const { socket, text: received } = await open();
    const closed = once(socket, 'close');
    socket.write(text);
    await closed;
    return received();
  };
  atEnd(async () => {
    for (const socket of sockets) socket.destroy();
    ending.abort();
    await clock.advance(10_000);
    await running;
  });
  const counted = async (name: string): Promise<string[]> =>
    (await registry.metrics()).split('\n').filter((line) => line.startsWith(name) && !line.endsWith(' 0'));
  return { clock, lines, said, state, ending, running, open, send, counted };
}

/** The options of a port with TLS, whose files end with the test. */
function withTls(): Partial<HttpServerOptions> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-port-'));
  atEnd(() => rmSync(folder, { recursive: true }));
  const [certFile, keyFile] = [join(folder, 'tls.crt'), join(folder, 'tls.key')];
  writeFileSync(certFile, certificate.cert);
  writeFileSync(keyFile, certificate.key, { mode: 0o600 });
  return { tls: { certFile, keyFile } };
}

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
const CLOSING = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';

describe('bytes that are no request', () => {
  test.each([
    ['no HTTP', 'nonsense\r\n\r\n', 400, 'parser'],
    ['a header that is too long', `GET / HTTP/1.1\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`, 431, 'header_bytes'],
  ])('are answered, counted and logged: %s', async (_, text, status, rule) => {
    const { send, lines, counted } = await start();
    const answer = await send(text);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [\\s\\S]*\r\nConnection: close\r\n`));
    const [, requestId] = /\r\nX-Request-Id: ([0-9a-f]{16})\r\n/.exec(answer) ?? [];
    const [{ time: __, ...line } = {}] = lines;
    expect(line).toEqual({
      ...{ level: 'info', server: 'api', msg: 'request', requestId, route: 'other', status, rule },
      source: '127.0.0.1',
    });
    expect(lines).toHaveLength(1);
    expect(await counted('gatehouse_http_rejections_total')).toEqual([
      `gatehouse_http_rejections_total{reason="${rule}"} 1`,
    ]);
    expect(await counted('gatehouse_http_requests_total')).toEqual([
      `gatehouse_http_requests_total{method="other",route="other",code="${status}"} 1`,
    ]);
  });

  test('are answered behind the answers to the requests before them (RFC 9112 9.3.2)', async () => {
    const { send } = await start((_request, response) => void setImmediate(() => response.end('hello')));
    expect(await send(`${GET}nonsense\r\n\r\n`)).toMatch(/^HTTP\/1\.1 200 [\s\S]*helloHTTP\/1\.1 400 /);
  });

  test('are not answered behind an answer that closes', async () => {
    const { send, lines, counted } = await start();
    expect(await send(`${CLOSING}nonsense\r\n\r\n`)).toMatch(/^HTTP\/1\.1 200 [\s\S]*\r\n\r\nhello$/);
    expect(lines).toEqual([]);
    expect(await counted('gatehouse_http_requests_total')).toEqual([]);
  });
});

describe('a request in time', () => {
  test('that does not come to its end is 408, counted and logged', async () => {
    const { send, lines } = await start(hello, {}, { headersTimeoutMs: 200 });
    expect(await send('GET / HTTP/1.1\r\nHost: a\r\n')).toMatch(/^HTTP\/1\.1 408 /);
    expect(lines).toMatchObject([{ status: 408, rule: 'header_time', source: '127.0.0.1' }]);
  });
});

describe('a request whose body', () => {
  test('is broken is refused by who reads it, and counted', async () => {
    const { send, counted, lines } = await start((request, response) => {
      request.resume().on('error', (error) => response.writeHead(400, { Connection: 'close' }).end(error.message));
    });
    const text = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n-3\r\nabc\r\n0\r\n\r\n';
    expect(await send(text)).toMatch(/the request is malformed: it is not well-formed HTTP\/1\.1/);
    expect(await counted('gatehouse_http_rejections_total')).toEqual([
      'gatehouse_http_rejections_total{reason="parser"} 1',
    ]);
    expect(lines).toEqual([]);
  });

  test('nobody reads is 408 when it does not come in time, though there is no answer yet', async () => {
    const { send, lines } = await start(() => {}, {}, { headersTimeoutMs: 100, bodyTimeoutMs: 100 });
    expect(await send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n')).toMatch(/^HTTP\/1\.1 408 /);
    expect(lines).toMatchObject([{ status: 408, rule: 'header_time' }]);
  });
});

describe('an upgraded connection', () => {
  test.each([
    ['plain', false],
    ['of TLS', true],
  ])('%s ends with a reset where that was asked for', async (_, isSecure) => {
    const taken: Taken[] = [];
    const { open } = await start(
      ((_request: IncomingMessage, _response: ServerResponse, upgrade: Taken) => void taken.push(upgrade)) as Serve,
      isSecure ? withTls() : {},
      {},
      { takesUpgrade: () => true },
    );
    const { socket } = await open(isSecure);
    const broken = once(socket, 'error');
    socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n');
    await expect.poll(() => taken.length).toBe(1);
    taken[0]?.reset();
    expect(await broken).toMatchObject([{ code: 'ECONNRESET' }]);
  });
});

describe('a port with TLS', () => {
  test('R-07 knows a connection by its first packet, and the requests that come over it', async () => {
    const held: ServerResponse[] = [];
    const { clock, ending, open, counted, running } = await start((_request, response) => void held.push(response), {
      ...withTls(),
    });
    const [silent, busy] = [await open(), await open(true)];
    busy.socket.write(GET);
    await expect.poll(() => held.length).toBe(1);
    expect(await counted('gatehouse_http_connections')).toEqual(['gatehouse_http_connections 2']);
    const gone = [silent, busy].map(({ socket }) => once(socket, 'close'));
    ending.abort();
    await clock.advance(2_000); // no more than a second after the port has closed
    await gone[0];
    expect(busy.socket.destroyed).toBe(false);
    held[0]?.end('late');
    await gone[1];
    expect(busy.text()).toMatch(/\r\nConnection: close\r\n[\s\S]*late$/);
    await running;
  });

  test('R-07 cuts at the drain time what is in its handshake, and what is being answered', async () => {
    let asked = 0;
    const { clock, ending, open, running, lines } = await start(() => void asked++, {
      ...{ ...withTls(), drainMs: 500 },
    });
    const [silent, busy] = [await open(), await open(true)];
    busy.socket.write(GET);
    await expect.poll(() => asked).toBe(1);
    const gone = [silent, busy].map(({ socket }) => once(socket, 'close'));
    ending.abort();
    await clock.advance(1_500);
    await Promise.all(gone);
    await running;
    expect(lines.at(-1)).toMatchObject({ msg: 'shutting down: cutting what is left', connections: 2 });
  });

  test('A-10 ends a connection that does not speak it, without an answer or a line', async () => {
    const { send, lines, counted } = await start(hello, withTls());
    expect(await send(GET)).not.toContain('HTTP');
    expect(lines).toEqual([]);
    expect(await counted('gatehouse_http_requests_total')).toEqual([]);
  });
});

describe('CONNECT (N-56)', () => {
  test('closes the connection, is counted and logged', async () => {
    const { send, lines, counted } = await start();
    expect(await send('CONNECT joe:canary@b:443?canary HTTP/1.1\r\nHost: a\r\n\r\n')).toBe('');
    expect(lines).toMatchObject([
      { msg: 'request', server: 'api', method: 'CONNECT', path: 'b:443', rule: 'connect', source: '127.0.0.1' },
    ]);
    expect(lines[0]?.['requestId']).toMatch(/^[0-9a-f]{16}$/);
    expect(await counted('gatehouse_http_rejections_total')).toEqual([
      'gatehouse_http_rejections_total{reason="connect"} 1',
    ]);
  });

  test('closes the connection behind the answer before it', async () => {
    const { send } = await start();
    expect(await send(`${GET}CONNECT b:443 HTTP/1.1\r\nHost: a\r\n\r\n`)).toMatch(/\r\n\r\nhello$/);
  });
});

describe('what the parser leaves to the chain', () => {
  test('is a missing Host, an unknown expectation, more header lines than are allowed, and a body that is held back', async () => {
    const seen: IncomingMessage[] = [];
    const { send } = await start((request, response) => {
      seen.push(request);
      response.shouldKeepAlive = false;
      response.end('hello');
    });
    await send('GET / HTTP/1.1\r\n\r\n');
    await send('GET / HTTP/1.1\r\nHost: a\r\nExpect: pie\r\n\r\n');
    await send(`GET / HTTP/1.1\r\nHost: a\r\n${'a:\r\n'.repeat(150)}\r\n`);
    const held = await send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n');
    expect(held).toMatch(/^HTTP\/1\.1 200 /); // without 100 before it
    expect(seen.map(({ headers, rawHeaders }) => [headers.expect, rawHeaders.length])).toEqual([
      [undefined, 0],
      ['pie', 4],
      [undefined, 302],
      ['100-continue', 6],
    ]);
  });
});

describe('the connections of a port', () => {
  test('HL-03 are counted, and limited in all', async () => {
    const { open, counted, send } = await start(hello, {}, { maxConnections: 1 });
    const first = await open();
    expect(await counted('gatehouse_http_connections')).toEqual(['gatehouse_http_connections 1']);
    const closed = once(first.socket, 'close');
    expect(await send(CLOSING)).toMatch(/hello$/);
    await closed;
    expect(await counted('gatehouse_http_rejections_total')).toEqual([
      'gatehouse_http_rejections_total{reason="connections"} 1',
    ]);
  });

  test('R-07 end with the port: idle ones at once, new ones after a second, busy ones with their answer', async () => {
    const held: ServerResponse[] = [];
    const { clock, said, state, ending, running, open, lines } = await start((request, response) =>
      request.url === '/held' ? void held.push(response) : hello(request, response),
    );
    const [idle, fresh, busy] = [await open(), await open(), await open()];
    idle.socket.write(GET);
    busy.socket.write('GET /held HTTP/1.1\r\nHost: a\r\n\r\n');
    await expect.poll(() => [idle.text().endsWith('hello'), held.length]).toEqual([true, 1]);
    const gone = [idle, fresh, busy].map(({ socket }) => once(socket, 'close'));
    ending.abort();
    await clock.advance(999);
    expect([said, lines.length]).toEqual([['draining'], 1]);
    await clock.advance(1);
    expect(said).toEqual(['draining', 'closing']);
    await gone[0];
    expect([fresh.socket.destroyed, busy.socket.destroyed]).toEqual([false, false]);
    await clock.advance(1_000);
    await gone[1];
    expect(state.isOver).toBe(false);
    held[0]?.end('late');
    await gone[2];
    expect(busy.text()).toMatch(/\r\nConnection: close\r\n[\s\S]*late$/);
    await running;
    expect(lines.map(({ msg, connections }) => [msg, connections])).toEqual([
      ['shutting down: not ready any more, still serving', undefined],
      ['shutting down: not accepting any more', 2],
    ]);
    expect(clock.pendingTimers).toBe(0);
  });

  test('R-07 are cut when their answers take longer than the drain time', async () => {
    let asked = 0;
    const { clock, ending, running, open, lines } = await start(() => void asked++);
    const { socket, text } = await open();
    socket.write(GET);
    await expect.poll(() => asked).toBe(1);
    const gone = once(socket, 'close');
    ending.abort();
    await clock.advance(5_999);
    expect(socket.destroyed).toBe(false);
    await clock.advance(1);
    await gone;
    await running;
    expect([text(), lines.at(-1)]).toMatchObject(['', { msg: 'shutting down: cutting what is left', connections: 1 }]);
  });

  test('R-07 that outlast the drain time are cut when theirs has passed, too', async () => {
    const held: ServerResponse[] = [];
    const outlasts = ({ url }: IncomingMessage): boolean => url === '/log';
    const { clock, ending, running, open } = await start(
      (_request, response) => void held.push(response),
      { streamDrainMs: 20_000 },
      {},
      { outlasts },
    );
    const [log, list] = [await open(), await open()];
    log.socket.write('GET /log HTTP/1.1\r\nHost: a\r\n\r\n');
    list.socket.write(GET);
    await expect.poll(() => held.length).toBe(2);
    const gone = [log, list].map(({ socket }) => once(socket, 'close'));
    ending.abort();
    await clock.advance(6_000);
    await gone[1];
    await clock.advance(16_999); // 1 s of delay, 20 s, and 2 s to finish: 23 s
    expect(log.socket.destroyed).toBe(false);
    await clock.advance(1);
    await gone[0];
    await running;
    expect(clock.pendingTimers).toBe(0);
  });
});
