import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { StoreClient } from '../../../src/logs/store/store-client.ts';
import { atEnd } from '../../support/at-end.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const REQUEST = { purpose: 'search', method: 'GET', path: '/' } as const;
const { signal } = new AbortController();

/** A client of a server that does this, on a clock that the test moves, and what it tells of each request. */
async function clientOf(handle: (clock: FakeClock) => RequestListener) {
  const clock = new FakeClock();
  const server = createServer(handle(clock)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const told: (readonly unknown[])[] = [];
  const client = await StoreClient.open(
    { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, trustsAnybody: false },
    {
      clock,
      files: { authorization: () => undefined, ca: () => undefined },
      observe: (...request) => void told.push(request),
    },
  );
  atEnd(async () => {
    await client.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { client, told };
}

describe('a request to the store', () => {
  test('is told with its status and its seconds', async () => {
    const { client, told } = await clientOf((clock) => async (_, response) => {
      await clock.advance(250);
      response.writeHead(404).end('no');
    });
    expect(await client.json(REQUEST, signal)).toEqual({ status: 404, body: undefined, text: 'no' });
    expect(told).toEqual([['search', 404, 0.25]]);
  });

  test('is told once with status 0 where there is no answer, also where its beginning has come', async () => {
    const { client, told } = await clientOf((clock) => async (_, response) => {
      await clock.advance(250);
      response.writeHead(200, { 'content-length': '100' });
      response.write('{"took":', () => response.destroy());
    });
    await expect(client.json(REQUEST, signal)).rejects.toMatchObject({ name: 'StoreError', kind: 'away' });
    expect(told).toEqual([['search', 0, 0.25]]);
  });

  test('has an answer of 16 MiB or less, and every answer gives its room back', async () => {
    let length = 16 * 1024 * 1024 - 2;
    const { client, told } = await clientOf(() => (_, response) => response.end(`"${'x'.repeat(length)}"`));
    // Five of them are more than there is room for at a time.
    for (let time = 0; time < 5; time++) expect((await client.json(REQUEST, signal)).status).toBe(200);
    length++;
    await expect(client.json(REQUEST, signal)).rejects.toMatchObject({ kind: 'refused' });
    expect(told.map(([, status]) => status)).toEqual([200, 200, 200, 200, 200, 0]);
  });
});
