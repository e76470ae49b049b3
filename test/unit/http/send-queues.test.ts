import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { platform } from 'node:process';
import { afterEach, describe, expect, test } from 'vitest';
import { readSendQueues } from '../../../src/http/answer/send-queues.ts';

const ends: (() => unknown)[] = [];

afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** Both ends of a connection. */
async function connected(listen: string, to: string): Promise<[here: Socket, there: Socket]> {
  const server = createServer().listen(0, listen);
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const there = connect(port, to).pause();
  const [here] = (await once(server, 'connection')) as [Socket];
  ends.push(
    () => server.close(),
    () => here.destroy(),
    () => there.destroy(),
  );
  return [here, there];
}

// The tables are Linux's: elsewhere nothing is known.
describe.runIf(platform === 'linux')('the send queue of a connection', () => {
  test.each([
    ['IPv4', '127.0.0.1', '127.0.0.1'],
    ['IPv4 where IPv6 is served as well', '::', '127.0.0.1'],
    ['IPv6', '::1', '::1'],
  ])('holds what the other end has not taken: %s', async (_, listen, to) => {
    const [here, there] = await connected(listen, to);
    here.write(Buffer.alloc(16 * 2 ** 20));
    await expect.poll(async () => (await readSendQueues()).bytesOf(here)).toBeGreaterThan(0);
    there.resume();
    await once(here, 'drain');
    await expect.poll(async () => (await readSendQueues()).bytesOf(here)).toBe(0);
  });

  test('is 0 for a socket that is in no table', async () => {
    const [here] = await connected('127.0.0.1', '127.0.0.1');
    here.destroy();
    expect((await readSendQueues()).bytesOf(here)).toBe(0);
  });
});
