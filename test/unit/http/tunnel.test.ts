import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { Tunnel } from '../../../src/http/gateway/tunnel.ts';
import { FakeClock } from '../../support/fake-clock.ts';

/** A connection whose other end takes nothing: what is written stays, and its end does not come. */
class StalledSocket extends EventEmitter {
  destroyed = false;
  writableEnded = false;
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
    speech: 'spdy-command',
    onBytes: () => {},
    after: clock.after,
  });
  tunnel.end('closing');
  expect([client.writableEnded, upstream.destroyed, client.destroyed, resets]).toEqual([true, true, false, 0]);
  await clock.advance(2_000);
  expect([client.destroyed, resets, await tunnel.closed]).toEqual([true, 1, 'closing']);
});
