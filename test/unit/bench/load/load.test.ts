import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { type LoadPlan, runLoad } from '../../../../bench/load/load.ts';

let server: Server | undefined;
afterEach(() => server?.close());

async function planFor(listener: RequestListener): Promise<LoadPlan> {
  const started = createServer(listener);
  server = started;
  await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve));
  const { port } = started.address() as AddressInfo;
  return {
    target: { port, headers: { authorization: 'Bearer made-up' } },
    path: '/list?a=b',
    headers: { 'accept-encoding': 'gzip' },
    connections: 2,
    warmUpMs: 0,
    measureMs: 60_000,
    maxRequests: 10,
  };
}

describe('load generator', () => {
  test('sends the planned request, one in flight on each connection', async () => {
    const seen = new Set<unknown>();
    const inFlight = { now: 0, most: 0 };
    const plan = await planFor((request, response) => {
      inFlight.most = Math.max(inFlight.most, ++inFlight.now);
      const { method, url, headers } = request;
      seen.add([method, url, headers.authorization, headers['accept-encoding']].join(' '));
      setImmediate(() => {
        inFlight.now--;
        response.end('x'.repeat(100_000));
      });
    });
    const report = await runLoad(plan);
    expect([...seen]).toEqual(['GET /list?a=b Bearer made-up gzip']);
    expect(inFlight.most).toBeLessThanOrEqual(2);
    expect(report).toMatchObject({ requests: 10, bytesPerAnswer: 100_000 });
  });

  test('takes another status where it is the planned one', async () => {
    const plan = await planFor((_, response) => response.writeHead(303, { location: '/elsewhere' }).end());
    expect(await runLoad({ ...plan, status: 303 })).toMatchObject({ requests: 10 });
  });

  test('fails on an answer other than 200', async () => {
    const plan = await planFor((_, response) => response.writeHead(503, { connection: 'keep-alive' }).end('no'));
    await expect(runLoad(plan)).rejects.toThrow('/list?a=b answered 503');
  });

  test('fails when the server closes a connection', async () => {
    const plan = await planFor((request) => request.socket.destroy());
    await expect(runLoad(plan)).rejects.toThrow('the server closed the connection');
  });

  test('fails when nobody listens', async () => {
    const plan = await planFor(() => undefined);
    await new Promise((resolve) => server?.close(resolve));
    await expect(runLoad(plan)).rejects.toThrow('ECONNREFUSED');
  });
});
