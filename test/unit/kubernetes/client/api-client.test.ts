import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterEach, describe, expect, test } from 'vitest';
import { type Credential, CredentialSource } from '../../../../src/kubernetes/access/credentials.ts';
import { ApiClient, type ApiClientParts } from '../../../../src/kubernetes/client/api-client.ts';
import { ConnectionPool } from '../../../../src/kubernetes/client/connection-pool.ts';
import { RequestMetrics } from '../../../../src/kubernetes/metrics.ts';
import { createHttpListerWatcher } from '../../../../src/kubernetes/reflector/http-lister-watcher.ts';
import { systemClock } from '../../../../src/runtime/clock.ts';
import { TimeSlices } from '../../../../src/runtime/time-slices.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const MIB = 1024 * 1024;
const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Writes on for as long as the client reads, at most 16 MiB, and then leaves the body open. */
function writeOn(response: ServerResponse, mebibytes = 16): void {
  let left = mebibytes;
  const write = (): void => {
    while (left-- > 0) if (!response.write(' '.repeat(MIB))) return void response.once('drain', write);
  };
  write();
}

async function serve(answer: (response: ServerResponse) => void, change: Partial<ApiClientParts> = {}) {
  const server = createServer((_request, response) => answer(response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const clock = new FakeClock();
  const pool = await ConnectionPool.load();
  closers.push(() => pool.close());
  const access = { server: address, inCluster: false, skipTlsVerify: false } as ConstructorParameters<
    typeof CredentialSource
  >[0];
  const credentials = new CredentialSource(access, { clock, logger: pino({ level: 'silent' }) });
  const metrics = new RequestMetrics(new Registry(), () => pool.connections);
  return new ApiClient({ server: address, userAgent: 'test', credentials, pool, metrics, clock, ...change });
}

const never = new AbortController().signal;

function listNodes(client: ApiClient) {
  const parts = { client, slices: new TimeSlices(systemClock) };
  const source = createHttpListerWatcher(parts, { path: '/api/v1/nodes', name: 'nodes' });
  return source.list({ version: '', limit: 500 }, () => undefined, AbortSignal.timeout(30_000));
}

describe('the size of an answer', () => {
  test.each(['version', 'review', 'secrets'] as const)('gives up a %s answer beyond 2 MiB', async (purpose) => {
    const client = await serve(writeOn);
    await expect(client.json({ method: 'GET', path: '/', purpose }, AbortSignal.timeout(30_000))).rejects.toThrow(
      'the answer is longer than 2097152 bytes',
    );
  });

  test.each(['list', 'objects'] as const)('takes a list of more than 2 MiB: %s', async (purpose) => {
    const client = await serve((response) => response.end(JSON.stringify({ text: 'x'.repeat(3 * MIB) })));
    const { body } = await client.json({ method: 'GET', path: '/', purpose }, never);
    expect((body as { text: string }).text.length).toBe(3 * MIB);
  });

  test.each([401, 500])('calls a list refused by %i with a body that never ends unreadable', async (status) => {
    const client = await serve((response) => writeOn(response.writeHead(status)));
    expect(await listNodes(client)).toEqual({ kind: 'unreadable', detail: 'the answer is longer than 2097152 bytes' });
  });

  test('takes discovery of more than 2 MiB, and gives it up beyond 16 MiB', async () => {
    const request = { method: 'GET', path: '/apis', purpose: 'discovery' } as const;
    const large = await serve((response) => response.end(JSON.stringify({ text: 'x'.repeat(3 * MIB) })));
    expect((await large.json(request, never)).bytes).toBeGreaterThan(3 * MIB);
    const endless = await serve((response) => writeOn(response, 17));
    await expect(endless.json(request, AbortSignal.timeout(30_000))).rejects.toThrow('longer than 16777216 bytes');
  });

  test('calls a page without an end too long', async () => {
    const client = await serve((response) => writeOn(response.writeHead(200), 130));
    const detail = 'the answer is longer than 134217728 bytes';
    expect(await listNodes(client)).toEqual({ kind: 'unreadable', detail, isTooLong: true });
  });
});

describe('a credential that does not come', () => {
  const request = { method: 'GET', path: '/', purpose: 'version' } as const;
  const credential = (token: string): Credential => ({ authorization: token, tls: { rejectUnauthorized: true } });
  const ready = (token: string) => () => Promise.resolve(credential(token));

  test('holds no request past its time; the next one takes the credential when it has come', async () => {
    const { promise, resolve } = Promise.withResolvers<Credential>();
    const client = await serve((response) => response.end('{}'), {
      credentials: { current: () => promise, renew: () => promise },
    });
    const controller = new AbortController();
    const given = client.json(request, controller.signal);
    const patient = client.json(request, never);
    controller.abort();
    await expect(given).rejects.toThrow('aborted');
    resolve(credential('Bearer late'));
    expect((await patient).status).toBe(200);
  });

  test('after a 401 holds no request past its time either', async () => {
    const controller = new AbortController();
    const client = await serve((response) => response.writeHead(401).end(), {
      credentials: {
        current: ready('Bearer old'),
        renew: () => {
          controller.abort();
          return new Promise(() => undefined);
        },
      },
    });
    await expect(client.json(request, controller.signal)).rejects.toThrow('aborted');
  });
});
