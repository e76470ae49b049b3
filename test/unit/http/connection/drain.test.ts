import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { Connections } from '../../../../src/http/connection/connections.ts';
import { drain } from '../../../../src/http/connection/drain.ts';
import { createLogger } from '../../../../src/observability/logger.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

/** A listening server without connections, and what its end said, in order. */
async function serve(signal: AbortSignal) {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const clock = new FakeClock();
  const said: string[] = [];
  const logger = createLogger(
    { level: 'info', format: 'json' },
    { write: (line) => said.push((JSON.parse(line) as { msg: string }).msg) },
  );
  const connections = new Connections({ maxConnections: 1, maxConnectionsPerAddress: 1 }, () => {});
  const drained = drain(
    {
      server,
      connections,
      clock,
      logger,
      options: { shutdownDelayMs: 5_000, drainMs: 20_000 },
      outlasts: () => false,
      onDraining: () => said.push('draining'),
      onClosing: () => said.push('closing'),
    },
    signal,
  );
  return { server, clock, said, drained };
}

const NOT_READY = ['draining', 'shutting down: not ready any more, still serving'];
const CLOSED = ['closing', 'shutting down: not accepting any more'];

test('R-07 fails readiness first, closes the port and ends the streams after the delay, and waits for nobody', async () => {
  const stop = new AbortController();
  const { server, clock, said, drained } = await serve(stop.signal);
  await clock.advance(60_000);
  expect(said).toEqual([]);
  stop.abort();
  await clock.advance(4_999);
  expect([said, server.listening]).toEqual([NOT_READY, true]);
  await clock.advance(1);
  await drained;
  expect([said, server.listening]).toEqual([[...NOT_READY, ...CLOSED], false]);
  expect(clock.pendingTimers).toBe(0);
  expect(server.listenerCount('error')).toBe(0);
});

test('R-07 leaves in the same order when it was told to before it began', async () => {
  const { clock, said, drained } = await serve(AbortSignal.abort());
  await clock.advance(5_000);
  await drained;
  expect(said).toEqual([...NOT_READY, ...CLOSED]);
});

test('a listener that breaks is the end, without a drain', async () => {
  const { server, said, drained } = await serve(new AbortController().signal);
  const broken = expect(drained).rejects.toThrow('broken');
  server.emit('error', new Error('broken'));
  await broken;
  expect(said).toEqual([]);
  server.close();
});
