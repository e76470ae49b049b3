import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { type EndSignal, Tunnel } from '../../../../src/http/gateway/tunnel.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

/** A connection whose other end takes nothing: what is written stays, and its end does not come. */
class StalledSocket extends EventEmitter {
  destroyed = false;
  writableEnded = false;
  writableFinished = false;
  /** Of what was written, how much is not in the kernel. */
  writableLength = 0;
  bytesWritten = 0;
  setTimeout(): void {}
  setNoDelay(): void {}
  setKeepAlive(): void {}
  resume(): void {}

  end(): void {
    this.writableEnded = true;
  }

  destroy(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.emit('close');
  }
}

test('R-07 a command by SPDY whose client does not take our last frame is reset after two seconds, not cut in order', async () => {
  const clock = new FakeClock();
  const [client, upstream] = [new StalledSocket(), new StalledSocket()];
  let resets = 0;
  const tunnel = new Tunnel({
    client: client as unknown as Socket,
    upstream: upstream as unknown as Socket,
    reset: () => {
      resets++;
      client.destroy();
    },
    head: Buffer.alloc(0),
    endSignal: 'spdy-command',
    onBytes: () => {},
    clock,
    sendTimeoutMs: 600_000,
  });
  tunnel.end('closing');
  expect([client.writableEnded, upstream.destroyed, client.destroyed, resets]).toEqual([true, true, false, 0]);
  await clock.advance(2_000);
  expect([client.destroyed, resets, await tunnel.closed]).toEqual([true, 1, 'closing']);
});

describe('G-23 when the cluster has finished', () => {
  function start(endSignal: EndSignal, unsent: number) {
    const clock = new FakeClock();
    const [client, upstream] = [new StalledSocket(), new StalledSocket()];
    const reset = (): void => client.destroy();
    const parts = {
      client: client as unknown as Socket,
      upstream: upstream as unknown as Socket,
      reset,
      clock,
      endSignal,
    };
    const tunnel = new Tunnel({ ...parts, head: Buffer.alloc(0), onBytes: () => {}, sendTimeoutMs: 600_000 });
    client.bytesWritten = 1_000_000;
    client.writableLength = unsent;
    upstream.emit('end');
    return { clock, client, upstream, tunnel };
  }

  test('a client has what it has not read yet for as long as it reads at all', async () => {
    const { clock, client, upstream } = start('websocket', 30_000);
    expect(client.writableEnded).toBe(true);
    for (const left of [20_000, 10_000, 1]) {
      await clock.advance(590_000);
      expect([client.writableLength, client.destroyed]).toEqual([client.writableLength, false]);
      client.writableLength = left;
    }
    client.writableLength = 0;
    client.emit('finish');
    // A word of the client's that the cluster does not take any more is no end of the tunnel.
    upstream.emit('error', new Error('EPIPE'));
    upstream.destroy();
    await clock.advance(59_000);
    expect(client.destroyed).toBe(false);
    await clock.advance(1_000);
    expect(client.destroyed).toBe(true);
  });

  test('a client that takes nothing of it for limits.sendTimeout is cut off', async () => {
    const { clock, client, tunnel } = start('other', 30_000);
    await clock.advance(599_000);
    expect(client.destroyed).toBe(false);
    await clock.advance(1_000);
    expect([client.destroyed, await tunnel.closed]).toEqual([true, undefined]);
  });

  test('is reset when its session ends, and two seconds later when the process does, so that the client notices', async () => {
    const revoked = start('websocket', 30_000);
    revoked.tunnel.end('revoked');
    expect([revoked.client.destroyed, await revoked.tunnel.closed]).toEqual([true, 'revoked']);
    const closing = start('spdy-command', 30_000);
    closing.tunnel.end('closing');
    await closing.clock.advance(1_000);
    expect(closing.client.destroyed).toBe(false);
    await closing.clock.advance(1_000);
    expect([closing.client.destroyed, await closing.tunnel.closed]).toEqual([true, 'closing']);
  });

  test.each(['websocket', 'other'] as const)('what it broke off is cut at once: %s', (endSignal) => {
    const { client, upstream } = start(endSignal, 30_000);
    const broken = new StalledSocket();
    const other = new StalledSocket();
    const parts = { client: other as unknown as Socket, upstream: broken as unknown as Socket, endSignal };
    new Tunnel({
      ...{ ...parts, reset: () => other.destroy(), clock: new FakeClock(), head: Buffer.alloc(0) },
      ...{ onBytes: () => {}, sendTimeoutMs: 600_000 },
    });
    broken.emit('error', new Error('ECONNRESET'));
    upstream.emit('error', new Error('EPIPE'));
    expect([other.destroyed, client.destroyed]).toEqual([true, false]);
  });
});
