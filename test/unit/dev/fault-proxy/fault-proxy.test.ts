import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Fault } from '../../../../dev/fault-proxy/fault.ts';
import { type FaultProxy, startFaultProxy } from '../../../../dev/fault-proxy/fault-proxy.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { waitFor } from '../../../support/waiting.ts';

const ends: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** One end of a connection: what came, and how it ended. */
class End {
  readonly socket: Socket;
  text = '';
  ended = false;
  closed = false;
  error: string | undefined;

  constructor(socket: Socket) {
    this.socket = socket;
    ends.push(() => socket.destroy());
    socket.on('data', (bytes: Buffer) => (this.text += bytes.toString()));
    socket.once('end', () => (this.ended = true));
    socket.once('close', () => (this.closed = true));
    socket.on('error', ({ code }: NodeJS.ErrnoException) => (this.error = code));
  }
}

/** Lets sockets go on until it is so. */
async function until(isSo: () => boolean): Promise<void> {
  await waitFor(isSo, Boolean, { turn: nextTurn, limitMs: 30_000 });
}

/** Waits 20 ms for something that must not come. On a slow machine the test may miss it, but does not fail. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await sleep(1);
}

/** A server that keeps its ends of the connections, and the proxy before it. */
async function start(clock = new FakeClock()) {
  const accepted: End[] = [];
  const server = createServer({ allowHalfOpen: true }, (socket) => accepted.push(new End(socket)));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  ends.push(() => new Promise((resolve) => server.close(resolve)));
  const { port } = server.address() as AddressInfo;
  const proxy = await startFaultProxy(port, clock);
  ends.push(() => proxy.stop());
  const call = async (): Promise<End> => {
    const socket = connect({ port: proxy.port, host: '127.0.0.1', allowHalfOpen: true });
    const end = new End(socket);
    await until(() => !socket.connecting);
    return end;
  };
  return { proxy, accepted, call, clock, port };
}

/** A connection through the proxy with this fault, both ends. */
async function joined(fault: Fault = {}) {
  const parts = await start();
  parts.proxy.set(fault);
  const client = await parts.call();
  await until(() => parts.accepted.length === 1);
  return { ...parts, client, server: parts.accepted[0] as End };
}

const linkOf = (proxy: FaultProxy) => proxy.links[0] as FaultProxy['links'][0];

describe('the fault proxy', () => {
  test('passes bytes and each side’s end on, and counts', async () => {
    const { proxy, client, server } = await joined();
    client.socket.end('ask');
    await until(() => server.ended);
    server.socket.end('an answer');
    await until(() => client.closed);
    expect([server.text, client.text, client.error]).toEqual(['ask', 'an answer', undefined]);
    await until(() => proxy.links.length === 0);
    expect([proxy.accepted, proxy.bytes]).toEqual([1, { toServer: 3, toClient: 9 }]);
  });

  test('passes a reset on', async () => {
    const { client, server } = await joined();
    server.socket.resetAndDestroy();
    await until(() => client.closed);
    expect(client.error).toBe('ECONNRESET');
  });

  test('resets a client whose server refuses', async () => {
    const parts = await start();
    parts.proxy.target = 1; // nobody listens there
    const client = await parts.call();
    await until(() => client.closed);
    expect(client.error).toBe('ECONNRESET');
  });

  test('refuses new connections and keeps the open ones, until told to accept on the same port', async () => {
    const { proxy, client, server, call } = await joined();
    const { port } = proxy;
    proxy.refuse();
    expect((await call()).error).toBe('ECONNREFUSED');
    client.socket.write('still here');
    await until(() => server.text === 'still here');
    await proxy.accept();
    expect([proxy.port, (await call()).error, proxy.accepted]).toEqual([port, undefined, 2]);
  });

  test('resets the next connection only', async () => {
    const { proxy, call, accepted } = await start();
    proxy.next({ accept: 'reset' });
    const first = await call();
    await until(() => first.closed);
    expect([first.error, accepted.length]).toEqual(['ECONNRESET', 0]);
    await call();
    await until(() => accepted.length === 1);
  });

  test('resets every open connection, both sides', async () => {
    const { proxy, client, server } = await joined();
    proxy.reset();
    await until(() => client.closed && server.closed);
    expect([client.error, server.error]).toEqual(['ECONNRESET', 'ECONNRESET']);
  });

  test('takes a connection and says nothing, without a call to the server', async () => {
    const { proxy, call, accepted } = await start();
    proxy.next({ accept: 'silence' });
    const client = await call();
    client.socket.write('hello');
    await settled();
    expect([client.closed, client.text, accepted.length]).toEqual([false, '', 0]);
  });

  test('delays each byte by the clock, and does not slow the stream', async () => {
    const { client, server, clock } = await joined({ delayMs: 300 });
    const waits = vi.spyOn(clock, 'sleep');
    server.socket.write('a');
    await until(() => waits.mock.calls.length === 1); // the proxy has it
    await clock.advance(200);
    server.socket.write('b');
    await until(() => waits.mock.calls.length === 2);
    await clock.advance(99);
    expect(client.text).toBe('');
    await clock.advance(1);
    await until(() => client.text === 'a');
    await clock.advance(199);
    expect(client.text).toBe('a');
    await clock.advance(1);
    await until(() => client.text === 'ab');
  });

  test('holds to a rate by the clock', async () => {
    const { proxy, server, clock } = await joined({ bytesPerSecond: 1_000 });
    server.socket.write('x'.repeat(5_000));
    await until(() => proxy.bytes.toClient > 0); // the first slice has gone
    const before = proxy.bytes.toClient;
    for (let step = 0; step < 20; step++) await clock.advance(100);
    // What may be caught up after a late timer comes on top.
    expect(proxy.bytes.toClient - before).toBeGreaterThanOrEqual(1_950);
    expect(proxy.bytes.toClient).toBeLessThanOrEqual(2_250);
  });

  test('holds a sender up whose bytes nobody gets', async () => {
    const { proxy, server } = await joined({ hold: 'toClient' });
    const body = Buffer.alloc(32 * 1024 * 1024);
    const isWritten = { already: false };
    server.socket.write(body, () => {
      isWritten.already = true;
    });
    await settled();
    expect([isWritten.already, proxy.bytes.toClient]).toEqual([false, 0]);
    proxy.set({});
    await until(() => proxy.bytes.toClient === body.length);
  });

  test.each(['close', 'reset'] as const)('cuts the answer at byte 7 by a %s', async (ending) => {
    const { client, server } = await joined({ cut: { atByte: 7, ending } });
    server.socket.write('01234');
    server.socket.write('56789');
    await until(() => (ending === 'close' ? client.ended : client.closed));
    expect([client.text, client.error]).toEqual(['0123456', ending === 'reset' ? 'ECONNRESET' : undefined]);
  });

  test('falls silent at byte 7 and keeps the connection', async () => {
    const { client, server } = await joined({ cut: { atByte: 7, ending: 'silence' } });
    server.socket.end('0123456789');
    await until(() => client.text.length === 7);
    await settled();
    expect([client.text, client.ended, client.closed]).toEqual(['0123456', false, false]);
  });

  test.each([
    ['toServer', '', 'down'],
    ['toClient', 'up', ''],
    ['both', '', ''],
  ] as const)('holds %s back, and passes it on when told to', async (hold, up, down) => {
    const { proxy, client, server } = await joined({ hold });
    client.socket.write('up');
    server.socket.write('down');
    await until(() => server.text === up && client.text === down);
    await settled();
    expect([server.text, client.text]).toEqual([up, down]);
    proxy.set({});
    await until(() => server.text === 'up' && client.text === 'down');
  });

  test('swallows FIN, and tells of it when told to', async () => {
    const { proxy, client, server } = await joined({ swallowFin: true });
    server.socket.end('last');
    await until(() => client.text === 'last');
    await settled();
    expect(client.ended).toBe(false);
    proxy.set({});
    await until(() => client.ended);
  });

  test('swallows a reset, and tells of it when told to', async () => {
    const { proxy, client, server } = await joined({ swallowFin: true });
    server.socket.resetAndDestroy();
    await settled();
    expect(client.closed).toBe(false);
    proxy.set({});
    await until(() => client.closed);
    expect(client.error).toBe('ECONNRESET');
  });

  test('changes one connection and leaves the others alone', async () => {
    const { proxy, client, call, accepted } = await joined();
    const other = await call();
    await until(() => accepted.length === 2);
    linkOf(proxy).set({ hold: 'both' });
    for (const end of accepted) end.socket.write('news');
    await until(() => other.text === 'news');
    expect(client.text).toBe('');
  });

  test('leads connections from now on to another server', async () => {
    const { proxy, call, accepted } = await joined();
    const other = await start();
    proxy.target = other.port;
    await call();
    await until(() => other.accepted.length === 1);
    expect(accepted.length).toBe(1);
  });
});
