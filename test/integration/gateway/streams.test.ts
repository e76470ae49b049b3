import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Authorizer } from '../../../src/authorization/authorizer.ts';
import { CollectedCallerChanges } from '../../../src/http/watch/caller-changes.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { tellMeasured } from '../../support/measured.ts';
import { OK, type Recorded } from '../../support/recording-upstream.ts';
import {
  ALICE,
  type GatewayUnderTest,
  HEAD,
  pass,
  pour,
  requestOf,
  startGateway,
  stopped,
} from './gateway-under-test.ts';
import { RawConnection } from './raw-connection.ts';

const WATCH = '/api/v1/pods?watch=1';
const STREAM = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

let app: GatewayUnderTest;
let clock: FakeClock;
let changes: CollectedCallerChanges;
beforeAll(async () => {
  clock = new FakeClock();
  changes = new CollectedCallerChanges(clock);
  app = await startGateway({ clock, drainMs: 30_000, callerChanges: changes });
});
afterAll(() => stopped(app, clock));
afterEach(() => {
  app.upstream.requests.length = 0;
  app.upstream.answer = () => OK;
  app.bearers.set('good', { identity: ALICE, cached: true });
});

/** A watch that has begun, and the cluster's end of it. */
async function openWatch(on = app, path = WATCH): Promise<{ client: RawConnection; upstream: Recorded }> {
  on.upstream.answer = () => STREAM;
  const client = await RawConnection.open(on.port, `GET ${path} HTTP/1.1\r\n${HEAD}\r\n`);
  await client.until(/\r\n\r\n/);
  return { client, upstream: on.upstream.last };
}

describe('watches and followed logs', () => {
  test('G-07 tell nginx to pass them on as they come, whatever the cluster says', async () => {
    const { client } = await openWatch();
    expect(client.text).toMatch(/\r\nX-Accel-Buffering: no\r\n/);
    client.socket.destroy();
  });

  test.each([
    ...[WATCH, '/api/v1/namespaces/a/pods/p/log?follow=true', '/api/v1/watch/pods'],
    // As the cluster reads it, whatever it looks like.
    ...['/api/v1/pods?%77atch=1', '/api/v1/pods?wat%63h', '/api/v1/pods??watch=0&watch=1', '/api/v1/pods?=1&&watch=no'],
    // Aggregated groups have streams of the same names.
    ...['/apis/cluster.example/v1/clusters/c/log', '/apis/metrics.example/v1/watch/things'],
    '/apis/cluster.example/v1/namespaces/a/things/t/attach',
  ])('G-07 %s comes piece by piece, each at once, for as long as it likes', async (path) => {
    const { client, upstream } = await openWatch(app, path);
    for (let minute = 1; minute <= 10; minute++) {
      await clock.advance(60_000);
      upstream.socket.write(chunk(`event ${minute}\n`));
      await client.until(new RegExp(`event ${minute}\n`)); // no other event comes, and no time passes, before it has
    }
    expect(client.text.match(/event/g)?.length).toBe(10);
    client.socket.destroy();
    await expect.poll(() => upstream.socket.destroyed).toBe(true);
  });

  test('G-07 a watch whose answer has only headers is answered with them', async () => {
    const { client } = await openWatch();
    expect(client.text).toContain('HTTP/1.1 200 OK');
    client.socket.destroy();
  });

  test('a log that follows a silent pod waits for its answer for hours', async () => {
    const came = Promise.withResolvers<Recorded>();
    app.upstream.answer = (request) => void came.resolve(request);
    const client = await RawConnection.open(
      app.port,
      `GET /api/v1/namespaces/a/pods/p/log?follow=1 HTTP/1.1\r\n${HEAD}\r\n`,
    );
    const upstream = await came.promise;
    await clock.advance(3 * 3_600_000);
    expect(client.text).toBe('');
    upstream.socket.write(`${STREAM}${chunk('a line\n')}`);
    await client.until(/a line/);
    client.socket.destroy();
  });

  test('G-07 a client that hangs up ends the call at the cluster within a second', async () => {
    const { client, upstream } = await openWatch();
    client.socket.destroy();
    await expect.poll(() => upstream.socket.destroyed).toBe(true); // by the clock of the gateway no time has passed
    await expect.poll(() => app.metric('gatehouse_gateway_streams')).toBe(0);
  });

  test('G-12 an answer that breaks off is cut, so that it cannot pass for a whole one', async () => {
    const { client, upstream } = await openWatch();
    upstream.socket.write(chunk('half of an ev'));
    await client.until(/half/);
    upstream.socket.destroy();
    expect(await client.closed()).not.toContain('\r\n0\r\n');
  });
});

describe('G-15 R-06 a caller who may no longer', () => {
  test.each([
    ['whose token was revoked', { fault: 'revoked' as const }],
    ['whose token has expired', { fault: 'expired' as const }],
    ['who was disabled', { fault: 'invalid' as const }],
  ])('%s has a watch for at most 60 s, which ends cleanly, at the cluster too', async (_, verification) => {
    const { client, upstream } = await openWatch();
    await clock.advance(45_000);
    upstream.socket.write(chunk('{"type":"ADDED"}\n'));
    await client.until(/ADDED/);
    app.bearers.set('good', verification);
    await clock.advance(60_000);
    expect(await client.until(/\r\n0\r\n\r\n$/)).toContain('ADDED');
    await expect.poll(() => upstream.socket.destroyed).toBe(true);
    client.socket.destroy();
  });

  test.each([
    { path: '/api/v1/pods?watch=1', ends: 'whole' },
    { path: '/api/v1/namespaces/a/pods/p/log?follow=true', ends: 'cut' },
  ])(
    'is out of $path at once when the user or a session has changed, and stays out of no other',
    async ({ path, ends }) => {
      const { client, upstream } = await openWatch(app, path);
      upstream.socket.write(chunk('a line\n'));
      await client.until(/a line/);
      changes.note('somebody-else');
      changes.note(ALICE.name);
      await clock.advance(100);
      expect(client.isEnded).toBe(false); // she has changed, and may stay
      app.bearers.set('good', { fault: 'revoked' });
      changes.note(ALICE.name);
      await clock.advance(100);
      // The connection of a watch that ended whole stays open for further requests.
      if (ends === 'whole') await client.until(/\r\n0\r\n\r\n$/);
      else expect(await client.closed()).not.toContain('\r\n0\r\n');
      await expect.poll(() => upstream.socket.destroyed).toBe(true);
      client.socket.destroy();
    },
  );

  test.each(['/api/v1/pods?%77atch=1', '/api/v1/pods??watch=0&watch=1'])(
    'whose token was revoked has a watch written as %s for at most 60 s',
    async (path) => {
      const { client, upstream } = await openWatch(app, path);
      app.bearers.set('good', { fault: 'revoked' });
      await clock.advance(60_000);
      await client.until(/\r\n0\r\n\r\n$/);
      await expect.poll(() => upstream.socket.destroyed).toBe(true);
      client.socket.destroy();
    },
  );

  test.each([
    '/api/v1/namespaces/a/pods/p/log?follow=true',
    '/apis/cluster.example/v1/clusters/c/log?follow=true',
    '/apis/cluster.example/v1/namespaces/a/things/t/exec',
  ])('whose token was revoked has a followed log for at most 60 s, which is cut: %s', async (path) => {
    const { client, upstream } = await openWatch(app, path);
    upstream.socket.write(chunk('a line\n'));
    await client.until(/a line/);
    app.bearers.set('good', { fault: 'revoked' });
    await clock.advance(60_000);
    expect(await client.closed()).not.toContain('\r\n0\r\n');
    await expect.poll(() => upstream.socket.destroyed).toBe(true);
    client.socket.destroy();
  });

  test('who lost the right to it has a watch for at most 60 s, and keeps others', async () => {
    const own = new FakeClock();
    const asked: unknown[] = [];
    let hasRole = true;
    const authorizer: Authorizer = {
      authorize: (_, attributes) => {
        asked.push(attributes);
        const isOfPods = 'resource' in attributes && attributes.resource.resource === 'pods';
        return { allowed: hasRole || !isOfPods, source: 'review' };
      },
    };
    const other = await startGateway({ clock: own, authorizer, drainMs: 30_000 });
    const pods = await openWatch(other, '/api/v1/namespaces/a/pods?watch=1&fieldSelector=metadata.name%3Dp');
    const nodes = await openWatch(other, '/api/v1/nodes?watch=1');
    await own.advance(60_000);
    expect([pods.client.isEnded, nodes.client.isEnded]).toEqual([false, false]);
    expect(asked).toContainEqual({
      resource: {
        ...{ verb: 'watch', group: '', version: 'v1', resource: 'pods', namespace: 'a', name: 'p' },
        fieldSelector: 'metadata.name=p',
      },
    });
    hasRole = false;
    await own.advance(60_000);
    await pods.client.until(/\r\n0\r\n\r\n$/);
    await expect.poll(() => pods.upstream.socket.destroyed).toBe(true);
    expect(nodes.client.isEnded).toBe(false);
    for (const { client } of [pods, nodes]) client.socket.destroy();
    await stopped(other, own);
  });

  test('G-15 who may watch because of a selector keeps the watch: the cluster is asked as it was at first', async () => {
    const own = new FakeClock();
    const asked: unknown[] = [];
    const authorizer: Authorizer = {
      authorize: (_, attributes) => {
        asked.push(attributes);
        const { fieldSelector, labelSelector } = 'resource' in attributes ? attributes.resource : {};
        return { allowed: fieldSelector === 'spec.nodeName=n1' && labelSelector === 'a in (b, c)', source: 'review' };
      },
    };
    const other = await startGateway({ clock: own, authorizer, drainMs: 30_000 });
    const selectors = 'fieldSelector=spec.nodeName%3Dn1&labelSelector=a+in+(b,%20c)';
    const { client } = await openWatch(other, `/api/v1/pods?watch=1&${selectors}`);
    const without = await openWatch(other, '/api/v1/pods?watch=1&fieldSelector=spec.nodeName%3Dn1');
    await own.advance(90_000);
    expect([asked.length > 2, client.isEnded]).toEqual([true, false]);
    await without.client.until(/\r\n0\r\n\r\n$/);
    for (const one of [client, without.client]) one.socket.destroy();
    await stopped(other, own);
  });

  test('whose watch has no answer yet gets a 401', async () => {
    app.upstream.answer = () => undefined;
    const client = await RawConnection.open(app.port, `GET ${WATCH} HTTP/1.1\r\n${HEAD}\r\n`);
    await expect.poll(() => app.upstream.requests.length).toBe(1);
    app.bearers.set('good', { fault: 'revoked' });
    await clock.advance(60_000);
    expect(await client.until(/\r\n\r\n/)).toContain('HTTP/1.1 401');
    client.socket.destroy();
  });
});

describe('R-07 C-35 at a shutdown', () => {
  test('streams end cleanly, one after the other, before the process does', async () => {
    const own = new FakeClock();
    const other = await startGateway({ clock: own, drainMs: 30_000 });
    const watches: Awaited<ReturnType<typeof openWatch>>[] = [];
    for (let count = 0; count < 10; count++) watches.push(await openWatch(other));
    const ended = () => watches.filter(({ client }) => client.text.endsWith('\r\n0\r\n\r\n')).length;
    const stopping = other.stop();
    const closedAt = own.monotonic();
    await own.advance(5_500);
    await expect.poll(() => ended()).toBeGreaterThanOrEqual(5);
    expect(ended()).toBeLessThan(10);
    await own.advance(3_500);
    await expect.poll(() => ended()).toBe(10);
    tellMeasured(
      'C-35',
      own.monotonic() - closedAt,
      'from the closing of the port to the end of the last of ten watches',
    );
    await expect.poll(() => other.upstream.open.size).toBe(0);
    for (const { client } of watches) client.socket.destroy();
    await own.advance(30_000);
    await stopping;
  });

  const LOG = '/api/v1/namespaces/a/pods/p/log?follow=true';

  test('a followed log goes on for server.streamDrain, and is cut then, so that half of it does not pass for all', async () => {
    const own = new FakeClock();
    const other = await startGateway({ clock: own, drainMs: 30_000, streamDrainMs: 60_000 });
    const { client, upstream } = await openWatch(other, LOG);
    const stopping = other.stop();
    await own.advance(59_000);
    upstream.socket.write(chunk('one line more\n'));
    await client.until(/one line more/);
    expect([client.isEnded, client.isClosed]).toEqual([false, false]);
    await own.advance(1_000);
    expect(await client.closed()).not.toContain('\r\n0\r\n');
    await expect.poll(() => upstream.socket.destroyed).toBe(true);
    client.socket.destroy();
    await stopping;
    expect(other.lines.find(({ route, reason }) => route === '/api/*' && reason === 'closing')).toBeDefined();
  });

  test('a log that ends by itself in that time is whole', async () => {
    const own = new FakeClock();
    const other = await startGateway({ clock: own, drainMs: 30_000, streamDrainMs: 60_000 });
    const { client, upstream } = await openWatch(other, LOG);
    const stopping = other.stop();
    await own.advance(45_000);
    upstream.socket.write(`${chunk('the last line\n')}0\r\n\r\n`);
    expect(await client.until(/\r\n0\r\n\r\n$/)).toContain('the last line');
    client.socket.destroy();
    await stopping;
  });
});

describe('a client that takes nothing of its answer', () => {
  test('is cut off, and so is the call at the cluster', async () => {
    const own = new FakeClock();
    const slow = await startGateway({ clock: own, limits: { ...app.parts.limits, sendTimeoutMs: 300 } });
    slow.upstream.answer = pour;
    const client = await RawConnection.open(slow.port);
    client.socket.pause();
    client.socket.write(requestOf('GET /api/v1/pods'));
    await expect.poll(() => slow.upstream.open.size).toBe(1);
    await pass(own, () => slow.upstream.open.size === 0);
    client.socket.destroy();
    await stopped(slow, own);
  });
});

test('R-23 a client that goes while its answer waits for it leaves no timer behind', async () => {
  const own = new FakeClock();
  const quick = await startGateway({ clock: own });
  quick.upstream.answer = pour;
  const timers = own.pendingTimers;
  const client = await RawConnection.open(quick.port);
  client.socket.pause();
  client.socket.write(requestOf('GET /api/v1/pods'));
  await expect.poll(() => own.pendingTimers).toBeGreaterThan(timers);
  client.socket.destroy();
  await expect.poll(() => quick.upstream.open.size).toBe(0);
  await expect.poll(() => own.pendingTimers).toBe(timers);
  await stopped(quick, own);
});

describe('a client that takes its time', () => {
  const TURNS = 100;
  const TURN_SECONDS = 30;
  let slow: GatewayUnderTest;
  const own = new FakeClock();
  beforeAll(async () => {
    slow = await startGateway({ clock: own });
    slow.upstream.answer = pour;
  });
  afterAll(() => stopped(slow, own));

  /** A client that reads at this rate for 50 minutes of the test's clock. Time passes only when the bytes of a turn have come. */
  async function read(path: string, bytesASecond: number): Promise<RawConnection> {
    const client = await RawConnection.open(slow.port);
    client.socket.pause();
    client.socket.write(requestOf(`GET ${path}`));
    await expect.poll(() => client.socket.readableLength).toBeGreaterThan(0);
    for (let turn = 0; turn < TURNS; turn++) {
      for (let left = TURN_SECONDS * bytesASecond; left > 0; ) {
        const piece: Buffer | null = client.socket.read();
        if (client.isEnded || client.isClosed) return client;
        left -= piece?.length ?? 0;
        await new Promise((resolve) => setImmediate(resolve));
      }
      await own.advance(TURN_SECONDS * 1_000);
    }
    return client;
  }

  test('R-23 keeps its answer while it goes on reading, at 10 kB a second', async () => {
    const client = await read('/api/v1/pods', 10_000);
    expect([client.isClosed, slow.upstream.open.size]).toEqual([false, 1]);
    client.socket.destroy();
    await expect.poll(() => slow.upstream.open.size).toBe(0);
  });

  test('may read nothing of a log for as long as it likes', async () => {
    const client = await read('/api/v1/namespaces/a/pods/p/log', 0);
    expect([client.isClosed, slow.upstream.open.size]).toEqual([false, 1]);
    client.socket.destroy();
    await expect.poll(() => slow.upstream.open.size).toBe(0);
  });
});
