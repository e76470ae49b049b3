import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createApp } from '../../../src/http/app.ts';
import { createHttpServer } from '../../../src/http/server.ts';
import type { ReviewHead } from '../../../src/oauth/token-review.ts';
import { selfSigned } from '../../support/self-signed.ts';
import { appParts } from './app-under-test.ts';

const server = selfSigned('localhost');
/** Each its own authority. */
const caller = selfSigned('kube-apiserver');
const stranger = selfSigned('kube-apiserver');

const heads: ReviewHead[] = [];
const sockets: TLSSocket[] = [];
let folder: string;
let port: number;
let stop: () => Promise<void>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-client-ca-'));
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
    return join(folder, name);
  };
  const tls = {
    certFile: write('tls.crt', server.cert),
    keyFile: write('tls.key', server.key),
    clientCAFile: write('ca.crt', caller.cert),
  };
  const { tokenReviews, ...rest } = appParts();
  const parts = { ...rest, tokenReviews: { ...tokenReviews, checkHead: (head: ReviewHead) => void heads.push(head) } };
  const options = { address: '127.0.0.1', port: 0, shutdownDelayMs: 0, drainMs: 1_000, tls };
  const http = createHttpServer(options, createApp(parts), { ...parts, onDraining: () => {} });
  ({ port } = await http.listen());
  const ending = new AbortController();
  const running = http.run(ending.signal);
  stop = async () => {
    ending.abort();
    await running;
  };
});
afterEach(() => {
  heads.length = 0;
  for (const socket of sockets.splice(0)) socket.destroy();
});
afterAll(async () => {
  await stop();
  rmSync(folder, { recursive: true });
});

async function open(more: ConnectionOptions = {}): Promise<TLSSocket> {
  const socket = connect({ port, host: '127.0.0.1', ca: server.cert, servername: 'localhost', ...more });
  sockets.push(socket);
  await once(socket, 'secureConnect');
  return socket;
}

async function send(socket: TLSSocket, request: string): Promise<string> {
  const answered = once(socket, 'data');
  socket.write(request);
  return String((await answered)[0]).slice(0, 12);
}

const ASK = 'POST /oauth/authenticate HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}';

/** What the webhook is told of the caller on this connection. */
async function isVouchedFor(socket: TLSSocket): Promise<boolean | undefined> {
  expect(await send(socket, ASK)).toBe('HTTP/1.1 200');
  return heads.at(-1)?.hasClientCertificate;
}

describe.each(['TLSv1.2', 'TLSv1.3'] as const)('a client certificate over %s', (version) => {
  const only = { minVersion: version, maxVersion: version };

  test('N-61 of the authority vouches for the caller', async () => {
    expect(await isVouchedFor(await open({ ...only, cert: caller.cert, key: caller.key }))).toBe(true);
  });

  test('N-61 of another authority vouches for nobody, and everything else is served', async () => {
    const socket = await open({ ...only, cert: stranger.cert, key: stranger.key });
    expect(await send(socket, 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n')).toBe('HTTP/1.1 200');
    expect(await isVouchedFor(socket)).toBe(false);
  });

  test('N-61 is asked for, and who has none is served everything else', async () => {
    const socket = await open(only);
    expect(await send(socket, 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n')).toBe('HTTP/1.1 200');
    expect(await isVouchedFor(socket)).toBe(false);
  });

  test.each([
    ['without one vouches for nobody', {}, false],
    ['with that of a stranger vouches for nobody', { cert: stranger.cert, key: stranger.key }, false],
    ['with one of the authority vouches for the caller still', { cert: caller.cert, key: caller.key }, true],
  ])('N-61 a session that is resumed %s', async (_, credentials, expected) => {
    const first = await open({ ...only, ...credentials });
    // TLS 1.3 sends its tickets after the handshake, TLS 1.2 during it.
    const session = version === 'TLSv1.3' ? once(first, 'session').then(([ticket]) => ticket as Buffer) : undefined;
    await send(first, 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
    const again = await open({ ...only, session: session ? await session : first.getSession() });
    expect(again.isSessionReused()).toBe(true);
    expect(await isVouchedFor(again)).toBe(expected);
  });
});
