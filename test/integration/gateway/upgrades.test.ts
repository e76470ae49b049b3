import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { FakeClock } from '../../support/fake-clock.ts';
import { handedOver, otherEnd } from '../../support/own-sockets.ts';
import { answerOf, firstOf, OK, type Recorded, valuesOf } from '../../support/recording-upstream.ts';
import { waitFor } from '../../support/waiting.ts';
import { parseAnswer } from '../http/raw-answer.ts';
import { ALICE, type GatewayUnderTest, HEAD, startGateway, stopped } from './gateway-under-test.ts';
import { RawConnection } from './raw-connection.ts';

const EXEC = '/api/v1/namespaces/a/pods/p/exec?command=sh';
const WEBSOCKET =
  'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n';
const SPDY =
  'Upgrade: SPDY/3.1\r\nConnection: Upgrade\r\nX-Stream-Protocol-Version: v5.channel.k8s.io\r\nContent-Length: 0\r\n';
const YES =
  'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Protocol: v5.channel.k8s.io\r\n\r\n';
const YES_SPDY = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: SPDY/3.1\r\nConnection: Upgrade\r\n\r\n';
const bearer = (token: string): string =>
  `base64url.bearer.authorization.k8s.io.${Buffer.from(token).toString('base64url')}`;

let app: GatewayUnderTest;
let clock: FakeClock;
beforeAll(async () => {
  clock = new FakeClock();
  app = await startGateway({ clock, corsOrigins: ['https://console.example'], drainMs: 30_000 });
});
afterAll(() => stopped(app, clock));
afterEach(async () => {
  for (const socket of app.upstream.open) socket.destroy();
  // A tunnel whose client goes on talking is cut a minute after the cluster's end.
  await waitFor(inFlight, (count) => count === 0, {
    turn: () => clock.advance(1_000).then(() => nextTurn()),
    limitMs: 60_000,
  });
  app.upstream.requests.length = 0;
  app.upstream.answer = () => OK;
  app.upstream.staysHalfOpen = false;
  app.bearers.set('good', { identity: ALICE, cached: true });
});

const inFlight = () => app.metric('gatehouse_gateway_upgrades_in_flight');
const upgradeOf = (path: string, headers: string, head = HEAD): string =>
  `GET ${path} HTTP/1.1\r\n${head}${headers}\r\n`;

interface Open {
  readonly client: RawConnection;
  readonly upstream: Recorded;
}

/** An upgraded connection, and the cluster's end of it. */
async function open({ path = EXEC, headers = WEBSOCKET, yes = YES, on = app, method = 'GET' } = {}): Promise<Open> {
  on.upstream.answer = () => yes;
  const client = await RawConnection.open(on.port, upgradeOf(path, headers).replace('GET', method));
  await client.until(/\r\n\r\n/);
  expect(client.text).toContain('HTTP/1.1 101 Switching Protocols\r\n');
  return { client, upstream: on.upstream.last };
}

/** What the cluster's end reads from now on. */
function readAt({ socket }: Recorded): { text: string } {
  const read = { text: '' };
  socket.on('data', (piece: Buffer) => {
    read.text += piece.toString('latin1');
  });
  return read;
}

const frame = (length: number, opcode = 0x82): Buffer => {
  const header = Buffer.alloc(10);
  header[0] = opcode;
  header[1] = 0x80 | 127;
  header.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([header, Buffer.alloc(4), Buffer.alloc(length, 'x')]);
};

describe('upgrades that the cluster agrees to', () => {
  test.each([
    ['websocket', '/api/v1/namespaces/a/pods/p/exec', WEBSOCKET, YES, 'GET'],
    ['websocket', '/api/v1/namespaces/a/pods/p/attach', WEBSOCKET, YES, 'GET'],
    ['websocket', '/api/v1/namespaces/a/pods/p/portforward', WEBSOCKET, YES, 'GET'],
    ['websocket', '/api/v1/pods?watch=true', WEBSOCKET, YES, 'GET'],
    ['websocket', '/apis/apps/v1/watch/deployments', WEBSOCKET, YES, 'GET'],
    ['websocket', '/api/v1/pods?%77atch=true', WEBSOCKET, YES, 'GET'],
    ['websocket', '/api/v1/namespaces/a/pods/p/log?follow=true', WEBSOCKET, YES, 'GET'],
    ['SPDY', '/api/v1/namespaces/a/pods/p/exec', SPDY, YES_SPDY, 'POST'],
    ['SPDY', '/api/v1/namespaces/a/pods/p/portforward', SPDY, YES_SPDY, 'POST'],
  ])('carry bytes both ways: %s on %s', async (_, path, headers, yes, method) => {
    const { client, upstream } = await open({ path, headers, yes, method });
    expect(upstream.line).toBe(`${method} ${path} HTTP/1.1`);
    const read = readAt(upstream);
    client.socket.write('\x81\x85aaaahello', 'latin1');
    await expect.poll(() => read.text).toBe('\x81\x85aaaahello');
    upstream.socket.write('\x81\x02hi', 'latin1');
    await client.until(/hi$/);
    expect(await inFlight()).toBe(1);
    client.socket.end();
    await expect.poll(() => upstream.socket.destroyed).toBe(true);
    await expect.poll(() => inFlight()).toBe(0);
  });

  test('what came behind the request and behind the 101 is not lost', async () => {
    app.upstream.answer = () => `${YES}\x81\x05first`;
    const client = await RawConnection.open(app.port, `${upgradeOf(EXEC, WEBSOCKET)}\x81\x85aaaaearly`);
    await client.until(/first$/);
    client.socket.destroy();
  });

  test('the 101 has the cluster’s headers, and no others of a connection', async () => {
    const { client, upstream } = await open();
    expect(parseAnswer(client.text).headers.get('sec-websocket-protocol')).toBe('v5.channel.k8s.io');
    expect(parseAnswer(client.text).headers.get('upgrade')).toBe('websocket');
    expect(firstOf(upstream.headers, 'upgrade')).toBe('websocket');
    expect(valuesOf(upstream.headers, 'origin')).toEqual([app.upstream.url]);
    client.socket.destroy();
    const spdy = await open({ headers: SPDY, yes: YES_SPDY, method: 'POST' });
    expect(valuesOf(spdy.upstream.headers, 'origin')).toEqual([]);
    expect(valuesOf(spdy.upstream.headers, 'x-stream-protocol-version')).toEqual(['v5.channel.k8s.io']);
    spdy.client.socket.destroy();
  });

  test('A-15 a client that has finished still reads, and so does the cluster', async () => {
    app.upstream.staysHalfOpen = true;
    const { client, upstream } = await open({ headers: SPDY, yes: YES_SPDY, method: 'POST' });
    const ended = new Promise((resolve) => upstream.socket.once('end', resolve));
    client.socket.end('last words');
    await ended;
    upstream.socket.write('still here');
    await client.until(/still here$/);
    upstream.socket.end();
    await client.closed();
    await expect.poll(() => upstream.socket.destroyed).toBe(true);
  });

  test('an idle one is kept', async () => {
    const { client, upstream } = await open();
    await clock.advance(24 * 3_600_000);
    upstream.socket.write('\x81\x05still', 'latin1');
    await client.until(/still$/);
    client.socket.destroy();
  });

  test('one end at its own pace: a client that reads nothing makes the cluster wait', async () => {
    const { client, upstream } = await open({ headers: SPDY, yes: YES_SPDY, method: 'POST' });
    client.socket.pause();
    const piece = Buffer.alloc(256 * 1024);
    const pump = (): void => {
      while (!upstream.socket.destroyed && upstream.socket.write(piece));
    };
    upstream.socket.on('drain', pump);
    pump();
    const [read, sent] = [otherEnd(upstream.socket), otherEnd(client.socket)];
    let [most, last, same] = [0, -1, 0];
    while (same < 10 && most < 2 ** 20) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      most = Math.max(most, read.bytesRead - handedOver(sent));
      same = read.bytesRead === last ? same + 1 : 0;
      last = read.bytesRead;
    }
    // What the kernel takes for either connection is its own matter; between them there is a piece at a time.
    expect(most).toBeLessThan(2 ** 20);
    client.socket.destroy();
    await expect.poll(() => upstream.socket.destroyed).toBe(true);
  });
});

describe('upgrades that do not happen', () => {
  test.each([
    ['403 Forbidden', '{"kind":"Status","code":403}'],
    ['400 Bad Request', 'you must provide at least 1 container'],
    ['500 Internal Server Error', 'x'.repeat(200_000)],
    ['200 OK', '{}'],
  ])('G-09 a %s of the cluster is relayed, and its body', async (status, body) => {
    app.upstream.answer = () => answerOf(status, body, 'Content-Type: x/y\r\n');
    const answer = parseAnswer(await app.raw(upgradeOf(EXEC, WEBSOCKET)));
    expect([answer.status, answer.headers.get('content-type')]).toEqual([Number(status.slice(0, 3)), 'x/y']);
    expect(answer.body === body).toBe(true);
    await expect.poll(() => app.upstream.open.size).toBe(0);
  });

  test.each([
    ['a websocket on an object', '/api/v1/namespaces/a/configmaps/m', WEBSOCKET],
    ['SPDY on a watch', '/api/v1/pods?watch=1', SPDY.replace('Content-Length: 0\r\n', '')],
    ['h2c', EXEC, 'Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABk\r\n'],
    ['a websocket that its Connection does not name', EXEC, 'Upgrade: websocket\r\nConnection: keep-alive\r\n'],
    ['a websocket with a body', EXEC, `${WEBSOCKET}Content-Length: 2\r\n\r\nxx`.replace(/\r\n\r\nxx$/, '\r\n')],
    ['a websocket by PUT', EXEC, WEBSOCKET],
    ['SPDY on a log', '/api/v1/namespaces/a/pods/p/log', SPDY.replace('Content-Length: 0\r\n', '')],
    ['a subresource that is no connection', '/api/v1/namespaces/a/pods/p/eviction', WEBSOCKET],
    ['a websocket on an object of a group', '/apis/apps/v1/namespaces/a/deployments/p', WEBSOCKET],
  ])('A-14 %s is no tunnel: the call runs without it', async (what, path, headers) => {
    const text = upgradeOf(path, headers).replace('GET', what.endsWith('PUT') ? 'PUT' : 'GET');
    const client = await RawConnection.open(app.port, what.endsWith('body') ? `${text}xx` : text);
    await client.until(/\r\n\r\n\{\}$/);
    expect(parseAnswer(client.text).status).toBe(200);
    expect(valuesOf(app.upstream.last.headers, 'upgrade')).toEqual([]);
    expect(valuesOf(app.upstream.last.headers, 'http2-settings')).toEqual([]);
    client.socket.destroy();
  });

  test('A-14 the preface of HTTP/2 is no tunnel', async () => {
    const text = await app.raw('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    expect([text.startsWith('HTTP/1.1 4') || text === '', app.upstream.requests.length]).toEqual([true, 0]);
  });

  test('A-14 an upgrade behind a request that is still being answered is no tunnel', async () => {
    const held = Promise.withResolvers<string>();
    app.upstream.answer = ({ line }) => (line.startsWith('GET /api ') ? held.promise : OK);
    const client = await RawConnection.open(app.port, `GET /api HTTP/1.1\r\n${HEAD}\r\n${upgradeOf(EXEC, WEBSOCKET)}`);
    await expect.poll(() => app.upstream.requests.length).toBe(1);
    held.resolve(OK);
    await client.until(/\{\}[\s\S]*\{\}$/);
    expect(client.text.match(/HTTP\/1.1 200/g)?.length).toBe(2);
    expect(valuesOf(app.upstream.last.headers, 'upgrade')).toEqual([]);
    client.socket.destroy();
  });

  test.each(['exec', 'attach', 'portforward'])(
    'a call of somebody who is not signed in is 401, on %s',
    async (word) => {
      const text = upgradeOf(`/api/v1/namespaces/a/pods/p/${word}`, WEBSOCKET, 'Host: a\r\n');
      const answer = parseAnswer(await app.raw(text));
      expect([answer.status, app.upstream.requests.length]).toEqual([401, 0]);
    },
  );
});

describe('G-10 the bearer among the subprotocols', () => {
  const offer = (...words: string[]): string => `${WEBSOCKET}Sec-WebSocket-Protocol: ${words.join(', ')}\r\n`;
  const NOBODY = 'Host: a\r\n';

  test('is the credential, and does not go out', async () => {
    app.upstream.answer = () => YES;
    const text = upgradeOf(EXEC, offer('v4.channel.k8s.io', bearer('good'), 'v5.channel.k8s.io'), NOBODY);
    const client = await RawConnection.open(app.port, text);
    await client.until(/101 Switching/);
    const { headers } = app.upstream.last;
    expect(valuesOf(headers, 'sec-websocket-protocol')).toEqual(['v4.channel.k8s.io, v5.channel.k8s.io']);
    expect(valuesOf(headers, 'impersonate-user')).toEqual(['alice']);
    expect(headers.join()).not.toContain(bearer('good'));
    client.socket.destroy();
  });

  test.each([
    ['that is bad: 401', offer(bearer('garbage'), 'v5.channel.k8s.io'), NOBODY, 401],
    ['alone: 400', offer(bearer('good')), NOBODY, 400],
    ['beside one in a header: 400', offer(bearer('good'), 'v5.channel.k8s.io'), HEAD, 400],
    ['twice: 400', offer(bearer('good'), bearer('good'), 'v5.channel.k8s.io'), NOBODY, 400],
    ['that is no base64url: 400', offer('base64url.bearer.authorization.k8s.io.+/=', 'v5.channel.k8s.io'), NOBODY, 400],
    ['that is empty: 400', offer('base64url.bearer.authorization.k8s.io.', 'v5.channel.k8s.io'), NOBODY, 400],
    ['with a line break: 400', offer(bearer('good\r\nX: y'), 'v5.channel.k8s.io'), NOBODY, 400],
    [
      'on a request that is no upgrade: 401',
      `Sec-WebSocket-Protocol: ${bearer('good')}, a\r\nConnection: close\r\n`,
      NOBODY,
      401,
    ],
  ])('A-15 %s', async (_, headers, head, status) => {
    const answer = parseAnswer(await app.raw(upgradeOf(EXEC, headers, head)));
    expect([answer.status, app.upstream.requests.length]).toEqual([status, 0]);
  });
});

describe('G-11 A-15 Origin', () => {
  test.each([
    ['none', '', 101],
    ['our own', 'Origin: http://gatehouse.example\r\n', 101],
    ['our own with the port that it has anyway', 'Origin: https://gatehouse.example:443\r\n', 101],
    ['a listed one', 'Origin: https://console.example\r\n', 101],
    ['a foreign one', 'Origin: https://evil.example\r\n', 403],
    ['our own with another port', 'Origin: https://gatehouse.example:8443\r\n', 403],
    ['a listed one by another scheme', 'Origin: http://console.example\r\n', 403],
    ['null', 'Origin: null\r\n', 403],
    ['one that begins like ours', 'Origin: https://gatehouse.example.evil\r\n', 403],
  ])('%s: %s', async (_, header, status) => {
    app.upstream.answer = () => YES;
    const client = await RawConnection.open(app.port, upgradeOf(EXEC, WEBSOCKET + header));
    await client.until(/\r\n\r\n/);
    expect(parseAnswer(client.text).status).toBe(status);
    expect(app.upstream.requests.length).toBe(status === 101 ? 1 : 0);
    client.socket.destroy();
  });
});

describe('frames of a websocket', () => {
  test('A-15 may be as long as a client likes: a whole archive in one', async () => {
    const { client, upstream } = await open();
    const read = { bytes: 0 };
    upstream.socket.on('data', ({ length }: Buffer) => {
      read.bytes += length;
    });
    client.socket.write(frame(40 * 1024 * 1024));
    client.socket.write('\x81\x85aaaahello', 'latin1');
    await expect.poll(() => read.bytes).toBe(40 * 1024 * 1024 + 14 + 11);
    upstream.socket.write('\x81\x02hi', 'latin1');
    await client.until(/hi$/);
    client.socket.destroy();
  });

  test('G-08 may be as long as the cluster likes, and a goodbye comes behind the one that is under way', async () => {
    const { client, upstream } = await open();
    const length = 2 * 1024 * 1024;
    const long = Buffer.concat([Buffer.from([0x82, 127, 0, 0, 0, 0, 0, 0x20, 0, 0]), Buffer.alloc(length, 'y')]);
    upstream.socket.write(long.subarray(0, length / 2));
    await client.until(({ pieces }) => Buffer.concat(pieces).length > length / 2);
    app.bearers.set('good', { fault: 'revoked' });
    await clock.advance(30_000);
    // The judgement has ended the stream within the frame, so nothing of ours has come yet.
    const before = Buffer.concat(client.pieces);
    expect([before.includes(Buffer.from('session')), client.isEnded]).toEqual([false, false]);
    upstream.socket.write(long.subarray(length / 2));
    await client.closed();
    const bytes = Buffer.concat(client.pieces);
    expect(bytes.length).toBeGreaterThan(length);
    expect(bytes.subarray(-25).toString('latin1')).toContain('\x88\x17\x03\xf0the session has ended');
  });
});

describe('G-23 what the cluster said before it finished', () => {
  const LAST = 24 * 1024 * 1024;

  /** A command whose last words are more than the kernels hold, with a client that does not read for now. */
  async function finished(headers: string, yes: string) {
    const { client, upstream } = await open({ headers, yes, method: 'POST' });
    client.socket.pause();
    const handed = new Promise<void>((resolve) => upstream.socket.end(Buffer.alloc(LAST, 'z'), () => resolve()));
    return { client, upstream, handed };
  }

  test.each([
    ['websocket', WEBSOCKET, YES],
    ['SPDY', SPDY, YES_SPDY],
  ])('reaches a client that pauses for eight seconds: %s', async (_, headers, yes) => {
    const { client } = await finished(headers, yes);
    for (let second = 0; second < 8; second++) await clock.advance(1_000).then(() => nextTurn());
    client.socket.resume();
    await client.closed();
    expect(Buffer.concat(client.pieces).length).toBeGreaterThan(LAST);
  });

  test('reaches a client that writes after the end', async () => {
    const { client, handed } = await finished(WEBSOCKET, YES);
    client.socket.write('\x81\x85aaaahello', 'latin1');
    await clock.advance(8_000);
    client.socket.resume();
    await handed;
    client.socket.write('\x81\x85aaaahello', 'latin1');
    await expect.poll(() => Buffer.concat(client.pieces).length).toBeGreaterThan(LAST);
    client.socket.destroy();
  });
});

describe('G-15 A-15 a caller who may no longer', () => {
  test('has an exec by websocket for at most 60 s: it ends with 1008, between two frames of the cluster’s', async () => {
    const { client, upstream } = await open();
    upstream.socket.write('\x82\x0ahalf ', 'latin1');
    await client.until(/half $/);
    app.bearers.set('good', { fault: 'revoked' });
    const ending = clock.advance(60_000);
    upstream.socket.write('frame\x82\x01x', 'latin1');
    await client.until(/half frame/);
    await ending;
    await client.closed();
    const bytes = Buffer.concat(client.pieces);
    const close = bytes.subarray(bytes.indexOf(Buffer.from([0x88])));
    expect([close.readUInt16BE(2), close.subarray(4).toString()]).toEqual([1008, 'the session has ended']);
    await expect.poll(() => upstream.socket.destroyed).toBe(true);
    client.socket.destroy();
  });

  test('who lost the right to exec has one for at most 60 s: it ends with 1008', async () => {
    const own = new FakeClock();
    let hasRole = true;
    const authorizer = { authorize: () => ({ allowed: hasRole, source: 'review' as const }) };
    const other = await startGateway({ clock: own, authorizer, drainMs: 30_000 });
    const { client, upstream } = await open({ on: other });
    await own.advance(60_000);
    expect(client.isEnded).toBe(false);
    hasRole = false;
    await own.advance(60_000);
    await client.closed();
    const bytes = Buffer.concat(client.pieces);
    const close = bytes.subarray(bytes.indexOf(Buffer.from([0x88])));
    expect([close.readUInt16BE(2), close.subarray(4).toString()]).toEqual([1008, 'the right to this has ended']);
    await expect.poll(() => upstream.socket.destroyed).toBe(true);
    client.socket.end();
    await stopped(other, own);
  });

  test('has an exec by SPDY for at most 60 s: it ends with a reset, for SPDY has no word for it', async () => {
    const { client, upstream } = await open({ headers: SPDY, yes: YES_SPDY, method: 'POST' });
    app.bearers.set('good', { fault: 'expired' });
    await clock.advance(60_000);
    await expect.poll(() => [client.isEnded, client.fault]).toEqual([false, 'ECONNRESET']);
    await expect.poll(() => upstream.socket.destroyed).toBe(true);
  });

  test('who came by a subprotocol is judged by that bearer again', async () => {
    app.upstream.answer = () => YES;
    app.bearers.set('tab', { identity: ALICE, cached: true });
    const offer = `${WEBSOCKET}Sec-WebSocket-Protocol: ${bearer('tab')}, v5.channel.k8s.io\r\n`;
    const client = await RawConnection.open(app.port, upgradeOf(EXEC, offer, 'Host: a\r\n'));
    await client.until(/101/);
    await clock.advance(120_000);
    expect(client.isEnded).toBe(false);
    app.bearers.delete('tab');
    await clock.advance(60_000);
    await client.closed();
  });
});

describe('R-07 C-35 at a shutdown', () => {
  async function openAtShutdown(change: Parameters<typeof open>[0], streamDrainMs: number) {
    const own = new FakeClock();
    const other = await startGateway({ clock: own, drainMs: 30_000, streamDrainMs });
    const opened = await open({ ...change, on: other });
    const stopping = other.stop();
    return { ...opened, own, stopping };
  }

  const closeCodeOf = ({ pieces }: RawConnection): number => {
    const bytes = Buffer.concat(pieces);
    return bytes.subarray(bytes.indexOf(Buffer.from([0x88]))).readUInt16BE(2);
  };

  test('an exec by websocket goes on for server.streamDrain, and ends with 1001', async () => {
    const { client, upstream, own, stopping } = await openAtShutdown({}, 60_000);
    await own.advance(59_000);
    upstream.socket.write('\x81\x05still', 'latin1');
    await client.until(/still$/);
    await own.advance(1_000);
    await client.closed();
    expect(closeCodeOf(client)).toBe(1001);
    client.socket.end();
    await own.advance(2_000);
    await stopping;
  });

  test('a port-forward by SPDY goes on for as long, and ends with a reset', async () => {
    const path = '/api/v1/namespaces/a/pods/p/portforward';
    const { client, own, stopping } = await openAtShutdown(
      { path, headers: SPDY, yes: YES_SPDY, method: 'POST' },
      40_000,
    );
    await own.advance(39_000);
    expect([client.isEnded, client.isClosed]).toEqual([false, false]);
    await own.advance(1_000);
    await expect.poll(() => [client.isEnded, client.fault]).toEqual([false, 'ECONNRESET']);
    await stopping;
  });

  test.each(['exec', 'attach'])(
    'an %s by SPDY of version 4 ends with a Status on its stream of errors',
    async (word) => {
      const yes = YES_SPDY.replace('\r\n\r\n', '\r\nX-Stream-Protocol-Version: v4.channel.k8s.io\r\n\r\n');
      const path = `/api/v1/namespaces/a/pods/p/${word}`;
      const { client, upstream, own, stopping } = await openAtShutdown(
        { path, headers: SPDY, yes, method: 'POST' },
        40_000,
      );
      // A frame of 6 bytes for stream 5, of which a part has come at that time.
      upstream.socket.write('\0\0\0\x05\0\0\0\x06hal', 'latin1');
      await client.until(/hal$/);
      await own.advance(40_000);
      upstream.socket.write('f a', 'latin1');
      await client.closed();
      const said = Buffer.concat(client.pieces);
      const frame = said.subarray(said.indexOf('half a') + 6);
      expect([frame.readUInt32BE(0), frame[4], frame.readUIntBE(5, 3)]).toEqual([1, 1, frame.length - 8]);
      expect(JSON.parse(frame.subarray(8).toString())).toMatchObject({
        status: 'Failure',
        message: 'the server is stopping',
      });
      client.socket.end();
      await own.advance(2_000);
      await stopping;
    },
  );

  test('a watch by websocket ends with 1001 within 10 s: its client begins again', async () => {
    const { client, own, stopping } = await openAtShutdown({ path: '/api/v1/pods?watch=1' }, 60_000);
    await own.advance(10_000);
    await client.closed();
    expect(closeCodeOf(client)).toBe(1001);
    client.socket.end();
    await own.advance(2_000);
    await stopping;
  });
});

describe('a cluster that breaks off', () => {
  test('an exec by SPDY ends with a reset', async () => {
    const { client, upstream } = await open({ headers: SPDY, yes: YES_SPDY, method: 'POST' });
    upstream.socket.resetAndDestroy();
    await expect.poll(() => [client.isEnded, client.fault]).toEqual([false, 'ECONNRESET']);
  });
});
