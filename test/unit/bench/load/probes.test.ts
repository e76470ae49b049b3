import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { runProbes } from '../../../../bench/load/probes.ts';

let server: Server | undefined;
afterEach(() => server?.close());

async function probe(listener: RequestListener, probes: number) {
  const started = createServer(listener);
  server = started;
  await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve));
  const { port } = started.address() as AddressInfo;
  return runProbes({ target: { port, headers: {} }, path: '/', everyMs: 1, measureMs: probes });
}

test('counts the answers of probes by status, each probe once', async () => {
  let asked = 0;
  const report = await probe((_, response) => response.writeHead(asked++ % 2 === 0 ? 200 : 503).end('x'), 10);
  expect(report).toMatchObject({ probes: 10, statuses: { 200: 5, 503: 5 }, missed: { firstMs: 1, lastMs: 9 } });
});

test('goes on over another connection when one is gone', async () => {
  let asked = 0;
  const report = await probe((request, response) => (asked++ === 3 ? request.socket.destroy() : response.end('x')), 10);
  expect(report.statuses).toEqual({ 200: 9, none: 1 });
});
