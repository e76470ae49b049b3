import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApp } from '../../../src/http/app.ts';
import type { HttpLimits } from '../../../src/http/limits.ts';
import { createHttpServer } from '../../../src/http/server.ts';
import { defaultLimits } from '../../support/default-limits.ts';
import { selfSigned } from '../../support/self-signed.ts';
import { appParts, eventually, type LogLine } from './app-under-test.ts';

const { cert, key } = selfSigned('localhost');
let folder: string;
let tls: { certFile: string; keyFile: string };

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-tls-'));
  tls = { certFile: join(folder, 'tls.crt'), keyFile: join(folder, 'tls.key') };
  writeFileSync(tls.certFile, cert);
  writeFileSync(tls.keyFile, key, { mode: 0o600 });
});
afterAll(() => rmSync(folder, { recursive: true }));

const OPTIONS = { address: '127.0.0.1', port: 0, shutdownDelayMs: 0, drainMs: 1_000 };
const HEALTH = 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n';

async function withTls(limits: Partial<HttpLimits>, use: (server: UnderTls) => Promise<void>): Promise<void> {
  const lines: LogLine[] = [];
  const parts = appParts({ limits: { ...defaultLimits, ...limits } }, lines);
  const server = createHttpServer({ ...OPTIONS, tls }, createApp(parts), { ...parts, onDraining: () => {} });
  const { port } = await server.listen();
  const ending = new AbortController();
  const running = server.run(ending.signal);
  const sockets: Socket[] = [];
  const keep = <Kind extends Socket>(socket: Kind): Kind => {
    socket.on('error', () => {});
    sockets.push(socket);
    return socket;
  };
  try {
    await use({
      lines,
      silent: async () => {
        const socket = keep(connect(port, '127.0.0.1'));
        await once(socket, 'connect');
        return socket;
      },
      secure: async () => {
        const socket = keep(connectTls({ port, host: '127.0.0.1', ca: cert, servername: 'localhost' }));
        await once(socket, 'secureConnect');
        return socket;
      },
      metric: (name) => parts.registry.getSingleMetricAsString(name),
    });
  } finally {
    for (const socket of sockets) socket.destroy();
    ending.abort();
    await running;
  }
}

interface UnderTls {
  readonly lines: LogLine[];
  /** A connection that never begins its handshake. */
  silent(): Promise<Socket>;
  secure(): Promise<TLSSocket>;
  metric(name: string): Promise<string>;
}

async function answerOn(socket: Socket): Promise<string> {
  const answered = once(socket, 'data');
  socket.write(HEALTH);
  return String((await answered)[0]);
}

describe('the port under TLS', () => {
  test('A-48 answers, and asks to be used over TLS only', async () => {
    await withTls({}, async ({ secure }) => {
      const answer = await answerOn(await secure());
      expect(answer).toMatch(/^HTTP\/1\.1 200 /);
      expect(answer).toContain('\r\nStrict-Transport-Security: max-age=31536000\r\n');
    });
  });

  test('A-11 counts connections from their first packet, and closes the oldest that is idle', async () => {
    await withTls({ maxConnectionsPerAddress: 2 }, async ({ silent, secure, metric }) => {
      const first = await silent();
      const closed = once(first, 'close');
      const second = await silent();
      const third = await secure();
      await closed;
      expect(await metric('gatehouse_http_connections')).toMatch(/ 2$/);
      expect(await answerOn(third)).toMatch(/^HTTP\/1\.1 200 /);
      expect(second.destroyed).toBe(false);
    });
  });

  test('A-11 forgets a connection that ended, whether it had been secured or not', async () => {
    await withTls({}, async ({ silent, secure, metric }) => {
      const sockets = [await silent(), await secure()];
      await answerOn(sockets[1] as Socket);
      for (const socket of sockets) socket.destroy();
      let gauge = '';
      for (let turn = 0; !gauge.endsWith(' 0') && turn < 10_000; turn++) {
        gauge = await metric('gatehouse_http_connections');
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(gauge).toMatch(/ 0$/);
    });
  });

  test('A-10 a handshake that does not come, and one that is none, end their connection', async () => {
    await withTls({ headersTimeoutMs: 100 }, async ({ silent, lines }) => {
      await once(await silent(), 'close');
      const plain = await silent();
      const closed = once(plain, 'close');
      plain.write(HEALTH);
      await closed;
      expect(lines.filter((line) => line['msg'] === 'request')).toEqual([]);
    });
  });

  test('answers what is not HTTP by 400', async () => {
    await withTls({}, async ({ secure, lines }) => {
      const socket = await secure();
      const answered = once(socket, 'data');
      socket.write('GARBAGE\r\n\r\n');
      expect(String((await answered)[0])).toMatch(/^HTTP\/1\.1 400 /);
      await eventually(() => lines.some((line) => line['rule'] === 'parser'));
    });
  });
});
