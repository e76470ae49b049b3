import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { ConnectionPool, type Lane } from '../../../../src/kubernetes/client/connection-pool.ts';
import { sendRequest } from '../../../../src/runtime/send-request.ts';
import { startConnectProxy } from '../../../support/connect-proxy.ts';

const TLS = { rejectUnauthorized: true };
const never = new AbortController().signal;
const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function load(proxy?: string): Promise<ConnectionPool> {
  const pool = await ConnectionPool.load(proxy === undefined ? undefined : new URL(proxy));
  closers.push(() => pool.close());
  return pool;
}

async function get(pool: ConnectionPool, origin: string, lane: Lane = 'requests', tls = TLS): Promise<string> {
  const heard: string[] = [];
  const sink = {
    start: (status: number) => void heard.push(String(status)),
    data(chunk: Buffer) {
      heard.push(chunk.toString());
      return undefined;
    },
  };
  const options = { origin, path: '/', method: 'GET' } as const;
  await sendRequest(pool.dispatcher(lane, tls), options, { sink, signal: never, maxBytes: () => 100 });
  await nextTurn(); // the connection is free again after the turn in which its answer ended
  return heard.join(' ');
}

describe('the connections to the API server', () => {
  test('are kept, counted, and of watches and requests apart', async () => {
    const origin = await serve((_request, response) => response.end('ok'));
    const pool = await load();
    expect(pool.connections).toBe(0);
    for (const lane of ['requests', 'requests', 'watches', 'watches'] as const)
      expect(await get(pool, origin, lane)).toBe('200 ok');
    expect(pool.connections).toBe(2);
  });

  test('go by way of the proxy', async () => {
    const origin = await serve((_request, response) => response.end('ok'));
    const proxy = await startConnectProxy();
    closers.push(() => proxy.stop());
    expect(await get(await load(proxy.url), origin)).toBe('200 ok');
    expect(proxy.asked.map(({ target }) => target)).toEqual([new URL(origin).host]);
  });

  test('C-31 are left for new ones when the material of TLS is another', async () => {
    const origin = await serve((_request, response) => response.end('ok'));
    const pool = await load();
    const first = pool.dispatcher('requests', TLS);
    expect(pool.dispatcher('requests', TLS)).toBe(first);
    await get(pool, origin);
    expect(pool.dispatcher('requests', { ...TLS })).not.toBe(first);
    await expect.poll(() => pool.connections).toBe(0);
  });

  test('are none once they were closed', async () => {
    const origin = await serve((_request, response) => response.end('ok'));
    const pool = await load();
    await get(pool, origin);
    await pool.close();
    await expect.poll(() => pool.connections).toBe(0);
    expect(() => pool.dispatcher('requests', TLS)).toThrow('the connections to the cluster are closed');
  });
});
