import { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import { describe, expect, test } from 'vitest';
import { listen } from '../../../../src/http/connection/server.ts';

/** A server whose port cannot be opened for this reason, or can. */
class FakeServer extends EventEmitter {
  asked: unknown;
  readonly #fault: Error | undefined;

  constructor(fault?: Error) {
    super();
    this.#fault = fault;
  }

  listen(asked: unknown, opened: () => void): void {
    this.asked = asked;
    if (this.#fault) this.emit('error', this.#fault);
    else opened();
  }

  address(): { port: number } {
    return { port: 40_000 };
  }
}

const open = (server: FakeServer, at: Parameters<typeof listen>[1]): ReturnType<typeof listen> =>
  listen(server as unknown as Server, at);
const fault = (code: string): Error => Object.assign(new Error(`${code}: no`), { code });

describe('a port that is opened', () => {
  test.each([
    ['all addresses', { port: 0 }, { port: 0 }],
    ['one address', { port: 0, address: '127.0.0.1' }, { port: 0, host: '127.0.0.1' }],
  ])('is that of %s, and is told', async (_, at, asked) => {
    const server = new FakeServer();
    await expect(open(server, at)).resolves.toEqual({ port: 40_000 });
    expect(server.asked).toEqual(asked);
    expect(server.listenerCount('error')).toBe(0);
  });

  test.each([
    ['EADDRINUSE', 'cannot listen on port 80: another program is using it'],
    ['EACCES', 'cannot listen on port 80: the user of this process has no permission'],
    ['EADDRNOTAVAIL', 'cannot listen on port 80: this machine has no such address'],
    ['ENOTFOUND', 'cannot listen on port 80: this machine has no such address'],
    ['EMFILE', 'cannot listen on port 80: EMFILE: no'],
  ])('or not: %s is one sentence', async (code, sentence) => {
    const error = fault(code);
    const refused = expect.objectContaining({ message: sentence, cause: error });
    await expect(open(new FakeServer(error), { port: 80 })).rejects.toEqual(refused);
  });

  test('or not: the sentence names the address where there is one', async () => {
    const refused = open(new FakeServer(fault('EADDRINUSE')), { port: 80, address: '::1' });
    await expect(refused).rejects.toThrow('cannot listen on port 80 of ::1: another program is using it');
  });
});
