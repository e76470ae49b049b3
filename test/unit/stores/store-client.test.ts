import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { StoreClient } from '../../../src/stores/store-client.ts';
import type { StoreError } from '../../../src/stores/store-error.ts';
import type { StoreFiles } from '../../../src/stores/store-files.ts';
import { atEnd } from '../../support/at-end.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const REQUEST = { purpose: 'search', method: 'GET', path: '/' } as const;
const { signal } = new AbortController();

/** A client of a server that does this, on a clock that the test moves, and what it tells of each request. */
async function clientOf(handle: (clock: FakeClock) => RequestListener, files: Partial<StoreFiles> = {}) {
  const clock = new FakeClock();
  const server = createServer(handle(clock)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  server.keepAliveTimeout = 0; // it closes no connection by itself
  const told: (readonly unknown[])[] = [];
  const connections = { opened: 0, open: 0 };
  server.on('connection', (socket) => {
    connections.opened++;
    connections.open++;
    socket.on('close', () => connections.open--);
  });
  const client = await StoreClient.open(
    { name: 'the log store', url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, trustsAnybody: false },
    {
      clock,
      files: { authorization: () => undefined, ca: () => undefined, ...files },
      observe: (...request) => void told.push(request),
    },
  );
  atEnd(async () => {
    await client.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { client, told, connections };
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

  test('finds no room beside others of 16 MiB each, and those have their answers', async () => {
    const held: ServerResponse[] = [];
    const { client, told } = await clientOf(() => (_, response) => {
      response.write(`"${'x'.repeat(16 * 1024 * 1024 - 2)}`);
      held.push(response);
    });
    const asking = Array.from({ length: 5 }, () =>
      client.json(REQUEST, signal).then(
        ({ status }) => status,
        (error: StoreError) => error.kind,
      ),
    );
    expect(await Promise.race(asking)).toBe('full');
    for (const response of held) response.end('"');
    const outcomes = await Promise.all(asking);
    // A second one may find no room before that of the first is given back.
    expect(new Set(outcomes)).toEqual(new Set(['full', 200]));
    expect(told.filter(([, status]) => status === 0).length).toBe(outcomes.filter((one) => one === 'full').length);
  });

  test('has a body of its kind, or none at all', async () => {
    const seen: unknown[] = [];
    const { client } = await clientOf(() => async (request, response) => {
      const { 'content-type': type, 'content-length': length } = request.headers;
      seen.push([type, length, await text(request)]);
      response.end('{}');
    });
    await client.json(REQUEST, signal);
    await client.json({ ...REQUEST, method: 'POST', body: { a: 'ä' } }, signal);
    await client.json({ ...REQUEST, method: 'POST', form: { query: '{a="b"}' } }, signal);
    expect(seen).toEqual([
      [undefined, undefined, ''],
      ['application/json', '10', '{"a":"ä"}'],
      ['application/x-www-form-urlencoded', '23', 'query=%7Ba%3D%22b%22%7D'],
    ]);
  });
});

describe('the connection to the store', () => {
  const answer = (): RequestListener => (_, response) => response.end('{}');

  test('is used again, and closed with the client', async () => {
    const { client, connections } = await clientOf(answer);
    for (let time = 0; time < 20; time++) await client.json(REQUEST, signal);
    // One that has just brought an answer may not be free yet for the next request.
    expect(connections.opened).toBeLessThan(20);
    await client.close();
    await expect.poll(() => connections.open).toBe(0);
  });

  test('is closed with the client also where an answer is still to come, which then is none', async () => {
    const arrived = Promise.withResolvers<void>();
    const { client, connections } = await clientOf(() => () => arrived.resolve());
    const asking = client.json(REQUEST, signal);
    await arrived.promise;
    await Promise.all([client.close(), expect(asking).rejects.toMatchObject({ kind: 'away' })]);
    await expect.poll(() => connections.open).toBe(0);
  });

  test('is a new one when the certificates have changed, and the old one is closed', async () => {
    let ca = 'one';
    const { client, connections } = await clientOf(answer, { ca: () => ca });
    await client.json(REQUEST, signal);
    ca = 'two';
    await client.json(REQUEST, signal);
    await expect.poll(() => connections).toEqual({ opened: 2, open: 1 });
  });
});
