import { once } from 'node:events';
import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import type { HttpLimits } from '../../../src/http/limits/http-limits.ts';
import { defaultLimits } from '../../support/default-limits.ts';
import { selfSigned } from '../../support/self-signed.ts';
import { eventually } from './app-under-test.ts';
import { HEALTH, send, startTls, type TlsUnderTest } from './tls-under-test.ts';

const server = selfSigned('localhost');

async function withTls(limits: Partial<HttpLimits>, use: (under: TlsUnderTest) => Promise<void>): Promise<void> {
  const under = await startTls(server, { limits: { ...defaultLimits, ...limits } });
  try {
    await use(under);
  } finally {
    await under.stop();
  }
}

const connections = ({ parts }: TlsUnderTest): Promise<string> =>
  parts.registry.getSingleMetricAsString('gatehouse_http_connections');

describe('the port under TLS', () => {
  test('A-48 answers, and asks to be used over TLS only', async () => {
    await withTls({}, async ({ secure }) => {
      const answer = await send(await secure());
      expect(answer).toMatch(/^HTTP\/1\.1 200 /);
      expect(answer).toContain('\r\nStrict-Transport-Security: max-age=31536000\r\n');
    });
  });

  test('A-11 counts connections from their first packet, and closes the oldest that is idle', async () => {
    await withTls({ maxConnectionsPerAddress: 2 }, async (under) => {
      const first = await under.connect();
      const closed = once(first, 'close');
      const second = await under.connect();
      const third = await under.secure();
      await closed;
      expect(await connections(under)).toMatch(/ 2$/);
      expect(await send(third)).toMatch(/^HTTP\/1\.1 200 /);
      expect(second.destroyed).toBe(false);
    });
  });

  test('A-11 forgets a connection that ended, whether it had been secured or not', async () => {
    await withTls({}, async (under) => {
      const sockets = [await under.connect(), await under.secure()];
      await send(sockets[1] as Socket);
      for (const socket of sockets) socket.destroy();
      let gauge = '';
      for (let turn = 0; !gauge.endsWith(' 0') && turn < 10_000; turn++) {
        gauge = await connections(under);
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(gauge).toMatch(/ 0$/);
    });
  });

  test('A-10 a handshake that does not come, and one that is none, end their connection', async () => {
    await withTls({ headersTimeoutMs: 100 }, async ({ connect, lines }) => {
      await once(await connect(), 'close');
      const plain = await connect();
      const closed = once(plain, 'close');
      plain.write(HEALTH);
      await closed;
      expect(lines.filter((line) => line['msg'] === 'request')).toEqual([]);
    });
  });

  test('A-12 answers 100 pipelined requests in order', async () => {
    await withTls({}, async ({ secure }) => {
      const socket = await secure();
      let text = '';
      socket.on('data', (chunk: Buffer) => {
        text += chunk.toString('latin1');
      });
      const one = (index: number): string =>
        `GET /healthz HTTP/1.1\r\nHost: a\r\nX-Request-Id: r-${index}-\r\nX-Pad: ${'x'.repeat(600)}\r\n\r\n`;
      socket.write(Array.from({ length: 100 }, (_, index) => one(index)).join(''));
      await eventually(() => text.includes('r-99-'));
      const ids = [...text.matchAll(/X-Request-Id: r-(\d+)-/g)].map((match) => Number(match[1]));
      expect(ids).toEqual(Array.from({ length: 100 }, (_, index) => index));
      socket.destroy();
    });
  });

  test('answers what is not HTTP by 400', async () => {
    await withTls({}, async ({ secure, lines }) => {
      expect(await send(await secure(), 'GARBAGE\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /);
      await eventually(() => lines.some((line) => line['rule'] === 'parser'));
    });
  });
});
