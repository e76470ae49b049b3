import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { FakeClock } from '../../support/fake-clock.ts';
import { answerOf, firstOf, OK, type RecordingUpstream } from '../../support/recording-upstream.ts';
import { selfSigned } from '../../support/self-signed.ts';
import { startTlsFront } from '../../support/tls-front.ts';
import { parseAnswer } from '../http/raw-answer.ts';
import { type GatewayUnderTest, HEAD, requestOf, startGateway, stopped } from './gateway-under-test.ts';
import { RawConnection } from './raw-connection.ts';

let app: GatewayUnderTest;
beforeAll(async () => {
  app = await startGateway();
});
afterAll(() => app.stop());
afterEach(() => {
  app.upstream.requests.length = 0;
  app.upstream.answer = () => OK;
  app.credentials.next = undefined;
  app.credentials.isOld = false;
});

const UPGRADE = 'Upgrade: websocket\r\nConnection: Upgrade\r\n';
const EXEC = '/api/v1/namespaces/a/pods/p/exec';
const exec = `GET ${EXEC} HTTP/1.1\r\n${HEAD}${UPGRADE}\r\n`;
const KINDS = [
  ['an object', requestOf('GET /api/v1/namespaces/a/configmaps/m')],
  ['a write', requestOf('POST /api/v1/namespaces/a/configmaps', 'Content-Length: 2\r\n', '{}')],
  ['a watch', requestOf('GET /api/v1/pods?watch=1')],
  ['an exec', exec],
] as const;

/** The answer, which tells nothing of what is behind us. */
async function answerOn(on: GatewayUnderTest, text: string) {
  const answer = parseAnswer(await on.raw(text));
  expect(answer.body).not.toMatch(
    /127\.0\.0\.1|localhost|ECONN|UND_ERR|ENOTFOUND|certificate|own-token|socket|invalid/i,
  );
  return { status: answer.status, body: JSON.parse(answer.body), headers: answer.headers };
}

const refusals = (on: GatewayUnderTest, reason: string) => on.metric('gatehouse_gateway_refusals_total', { reason });

describe('G-12 a cluster that gives no answer', () => {
  const BAD_GATEWAY = {
    status: 'Failure',
    message: "the cluster's API server could not be reached",
    reason: 'BadGateway',
    code: 502,
  };

  test.each(KINDS)('refuses the connection: 502, of %s', async (_, text) => {
    const other = await startGateway();
    await other.upstream.close();
    const { status, body } = await answerOn(other, text);
    expect(status).toBe(502);
    expect(body).toMatchObject(BAD_GATEWAY);
    expect(await refusals(other, 'unreachable')).toBe(1);
    other.upstream.close = async () => {};
    await other.stop();
  });

  test.each(KINDS)('resets it before an answer: 502, of %s', async (_, text) => {
    app.upstream.answer = ({ socket }) => void socket.resetAndDestroy();
    expect(await answerOn(app, text)).toMatchObject({ status: 502, body: BAD_GATEWAY });
    app.upstream.answer = () => OK;
    await app.get('/api');
  });

  test.each([
    ['no HTTP', 'garbage\r\n\r\n'],
    ['a version that is none', 'HTTP/9.9 200 OK\r\n\r\n'],
    ['a status that is none', 'HTTP/1.1 abc\r\n\r\n'],
    ['a length twice', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx'],
    ['a length and chunks', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    [
      'a switch that nobody asked for',
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n',
    ],
    ['headers of 100 KiB', `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`],
  ])('answers with %s: 502', async (_, answer) => {
    app.upstream.answer = () => answer;
    expect(await answerOn(app, requestOf('GET /api/v1/pods'))).toMatchObject({ status: 502, body: BAD_GATEWAY });
    app.upstream.answer = () => OK;
    await app.get('/api');
  });

  test('breaks an answer off: the connection is cut', async () => {
    app.upstream.answer = ({ socket }) => {
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf');
      return undefined;
    };
    const client = await RawConnection.open(app.port, requestOf('GET /api/v1/pods'));
    await client.closed();
    expect(client.text).toMatch(/half$/);
  });

  test('breaks an answer off by a chunk that is none: what came before it is sent, and the connection is cut', async () => {
    app.upstream.answer = () => 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\nnone\r\n';
    const client = await RawConnection.open(app.port, requestOf('GET /api/v1/pods'));
    await client.closed();
    expect(client.text).toMatch(/half\r\n$/);
  });

  test.each(KINDS)('is silent: 504 at 60 s, but a watch may wait, of %s', async (kind, text) => {
    const clock = new FakeClock();
    const other = await startGateway({ clock });
    other.upstream.answer = () => undefined;
    const client = await RawConnection.open(other.port, text);
    await expect.poll(() => other.upstream.requests.length).toBe(1);
    await clock.advance(59_000);
    expect(client.text).toBe('');
    await clock.advance(1_000);
    if (kind === 'a watch') expect(client.text).toBe('');
    else expect(parseAnswer(await client.closed())).toMatchObject({ status: 504 });
    client.socket.destroy();
    await stopped(other, clock);
  });

  test('has a certificate that nobody vouches for: 502', async () => {
    const front = await startTlsFront(app.upstream.port, selfSigned('127.0.0.1'));
    const other = await startGateway({ server: front.url });
    for (const [, text] of KINDS) expect(await answerOn(other, text)).toMatchObject({ status: 502, body: BAD_GATEWAY });
    await other.stop();
    await front.stop();
  });

  test('has a name that leads nowhere: 502', async () => {
    const other = await startGateway({ server: 'http://no-such-host.invalid:6443' });
    for (const [, text] of KINDS) expect(await answerOn(other, text)).toMatchObject({ status: 502, body: BAD_GATEWAY });
    await other.stop();
  });
});

describe('a cluster that is known to be away', () => {
  const post = requestOf('POST /api/v1/namespaces/a/configmaps', 'Content-Length: 2\r\n', '{}');

  test('after five calls without an answer in a row callers get 503 at once, and one a second tries it', async () => {
    const clock = new FakeClock();
    const other = await startGateway({ clock });
    other.upstream.answer = () => undefined;
    /** A call whose time runs out. */
    const timeOut = async (count: number): Promise<void> => {
      const clients = Array.from({ length: count }, () => RawConnection.open(other.port, post));
      const before = other.upstream.requests.length;
      await expect.poll(() => other.upstream.requests.length).toBe(before + count);
      await clock.advance(60_000);
      for (const client of clients) expect(parseAnswer(await (await client).closed()).status).toBe(504);
    };
    await timeOut(5);
    for (let count = 0; count < 5; count++) {
      const { status, body, headers } = await answerOn(other, post);
      expect([status, body.reason, headers.get('retry-after')]).toEqual([503, 'ServiceUnavailable', '1']);
    }
    await clock.advance(1_000);
    const tried = await RawConnection.open(other.port, post);
    await expect.poll(() => other.upstream.requests.length).toBe(6);
    expect((await answerOn(other, post)).status).toBe(503); // within the same second: the clock stands
    await clock.advance(60_000);
    expect(parseAnswer(await tried.closed()).status).toBe(504);
    other.upstream.answer = () => OK;
    await clock.advance(1_000);
    for (let count = 0; count < 3; count++) expect(parseAnswer(await other.raw(post)).status).toBe(200);
    await stopped(other, clock);
  });

  test('calls at which it closes the connection keep nobody out', async () => {
    app.upstream.answer = ({ line, socket }) => (line.startsWith('POST') ? void socket.resetAndDestroy() : OK);
    for (let count = 0; count < 8; count++) expect((await answerOn(app, post)).status).toBe(502);
    expect((await app.get('/api')).status).toBe(200);
    expect(await refusals(app, 'away')).toBe(0);
  });
});

describe('a connection that was closed meanwhile', () => {
  const closeFirst = (upstream: RecordingUpstream): void => {
    let count = 0;
    upstream.answer = ({ socket }) => {
      count += 1;
      if (count > 1) return OK;
      socket.resetAndDestroy();
      return undefined;
    };
  };

  test.each(['GET', 'HEAD'])('a %s is sent once more', async (method) => {
    closeFirst(app.upstream);
    expect(parseAnswer(await app.raw(requestOf(`${method} /api/v1/pods`))).status).toBe(200);
    expect(app.upstream.requests.length).toBe(2);
  });

  test.each(['POST', 'PUT', 'PATCH', 'DELETE'])('a %s is not', async (method) => {
    closeFirst(app.upstream);
    const text = requestOf(`${method} /api/v1/namespaces/a/pods/p`, 'Content-Length: 2\r\n', '{}');
    expect(parseAnswer(await app.raw(text)).status).toBe(502);
    expect(app.upstream.requests.length).toBe(1);
  });

  test.each(['POST', 'PUT', 'PATCH', 'DELETE'])('a %s without a body is not: it may have been done', async (method) => {
    for (const headers of ['', 'Content-Length: 0\r\n']) {
      app.upstream.requests.length = 0;
      closeFirst(app.upstream);
      const text = requestOf(`${method} /api/v1/namespaces/a/pods/p`, headers);
      expect(parseAnswer(await app.raw(text)).status).toBe(502);
      expect(app.upstream.requests.length).toBe(1);
    }
  });
});

test.each(KINDS)('a credential that must be read again is read before the call is sent, of %s', async (_, text) => {
  app.credentials.isOld = true;
  app.upstream.answer = () => answerOf('404 Not Found', '{}');
  expect(parseAnswer(await app.raw(text)).status).toBe(404);
  expect(app.upstream.requests.map(({ headers }) => firstOf(headers, 'authorization'))).toEqual([
    `Bearer ${app.credentials.token}`,
  ]);
});

describe('G-13 a cluster that does not know our credential', () => {
  const UNAUTHORIZED = answerOf('401 Unauthorized', '{"kind":"Status","code":401}', 'WWW-Authenticate: Bearer\r\n');
  const knows = (token: string): void => {
    app.upstream.answer = ({ headers }) =>
      firstOf(headers, 'authorization') === `Bearer ${token}` ? OK : UNAUTHORIZED;
  };

  test('is asked once more with the one of today, if nothing but the head was sent', async () => {
    knows('renewed-1');
    app.credentials.next = 'renewed-1';
    expect(parseAnswer(await app.raw(requestOf('GET /api'))).status).toBe(200);
    expect(app.upstream.requests.length).toBe(2);
    expect(parseAnswer(await app.raw(requestOf('GET /api'))).status).toBe(200);
    expect(app.upstream.requests.length).toBe(3);
  });

  test('the same of an upgrade', async () => {
    app.credentials.next = 'renewed-2';
    app.upstream.answer = ({ headers }) =>
      firstOf(headers, 'authorization') === 'Bearer renewed-2' ? answerOf('404 Not Found', '{}') : UNAUTHORIZED;
    expect(parseAnswer(await app.raw(exec)).status).toBe(404);
    expect(app.upstream.requests.length).toBe(2);
  });

  test('a body is not sent twice: 502, and the next call has the new one', async () => {
    knows('renewed-3');
    app.credentials.next = 'renewed-3';
    const [before, [, write]] = [await refusals(app, 'credential'), KINDS[1]];
    expect((await answerOn(app, write)).status).toBe(502);
    expect(app.upstream.requests.length).toBe(1);
    expect((await refusals(app, 'credential')) - before).toBe(1);
    expect(parseAnswer(await app.raw(write)).status).toBe(200);
  });

  test.each(KINDS)('for good: 502, never the caller’s 401, and no challenge, of %s', async (_, text) => {
    knows('nobody');
    const { status, headers } = await answerOn(app, text);
    expect([status, headers.has('www-authenticate')]).toEqual([502, false]);
  });
});

describe('G-16 a cluster that does not let us act as the caller', () => {
  const account = 'system:serviceaccount:gatehouse:gatehouse';
  const message = (verb: string) =>
    `users "alice" is forbidden: User "${account}" cannot ${verb} resource "users" in API group "" at the cluster scope`;
  const bodies = {
    JSON: JSON.stringify({ kind: 'Status', message: message('impersonate'), code: 403 }),
    YAML: `kind: Status\nmessage: "${message('impersonate').replaceAll('"', '\\"')}"\ncode: 403\n`,
    protobuf: `k8s\0\n\f\n\x02v1\x12\x06Status\x12${message('impersonate')}\x1a\x09Forbidden`,
    'constrained impersonation': JSON.stringify({ message: message('impersonate:user-info'), code: 403 }),
    'impersonation on a verb': JSON.stringify({
      message: `pods is forbidden: User "${account}" cannot impersonate-on:user-info:list resource "pods" in API group "" in the namespace "a"`,
    }),
    'impersonation on a path': JSON.stringify({
      message: `forbidden: is forbidden: User "${account}" cannot impersonate-on:user-info:get path "/api"`,
    }),
  };

  test.each(Object.entries(bodies))('says so in %s: 403 without the name of our account, counted', async (_, body) => {
    app.upstream.answer = () => answerOf('403 Forbidden', body);
    const before = await refusals(app, 'impersonation');
    for (const [, text] of KINDS) {
      const answer = await answerOn(app, text);
      expect(answer).toMatchObject({ status: 403, body: { kind: 'Status', reason: 'Forbidden', code: 403 } });
      expect(JSON.stringify(answer.body)).not.toMatch(/serviceaccount/);
    }
    expect((await refusals(app, 'impersonation')) - before).toBe(KINDS.length);
  });

  const refusalOf = (resource: string, name: string): string =>
    `${resource} "${name}" is forbidden: User "${account}" cannot impersonate resource "${resource}" in API group "" at the cluster scope`;
  const ASK = 'ask the operator of this server';

  test.each([
    [
      'a user',
      refusalOf('users', 'alice'),
      `the user "alice" may not call the cluster through this server: ${ASK} to name it (gateway.users)`,
    ],
    [
      'a group',
      refusalOf('groups', 'ops'),
      `members of the group "ops" may not call the cluster through this server: ${ASK} to name it (gateway.groups)`,
    ],
    [
      'a group that the caller is not in',
      refusalOf('groups', 'secret-ops'),
      `you may not do this in the cluster through this server: ${ASK}`,
    ],
    ['another user', refusalOf('users', 'bob'), `you may not do this in the cluster through this server: ${ASK}`],
    [
      'a session',
      refusalOf('userextras/gatehouse.io/session', 's-1'),
      `you may not do this in the cluster through this server: ${ASK}`,
    ],
  ])('names what is missing and whom to ask: %s', async (_, message, sentence) => {
    for (const body of [JSON.stringify({ message, code: 403 }), `kind: Status\nmessage: ${message}\n`]) {
      app.upstream.answer = () => answerOf('403 Forbidden', body);
      for (const [, text] of KINDS) expect((await answerOn(app, text)).body.message).toBe(sentence);
    }
  });

  test('a 403 of the caller’s own is his, whatever words are in it', async () => {
    const body = JSON.stringify({
      message: 'pods "impersonate" is forbidden: User "alice" cannot get resource "users"',
    });
    app.upstream.answer = () => answerOf('403 Forbidden', body);
    expect(parseAnswer(await app.raw(requestOf('GET /api/v1/pods'))).body).toBe(body);
  });
});

describe('seats', () => {
  test('a user’s own are bounded, and others have theirs', async () => {
    const other = await startGateway({
      limits: { ...app.parts.limits, maxGatewayRequests: 4, maxGatewayRequestsPerUser: 2, maxGatewayStreamsPerUser: 1 },
    });
    other.upstream.answer = () => undefined;
    const held = [1, 2].map(() => RawConnection.open(other.port, requestOf('GET /api/v1/pods')));
    await expect.poll(() => other.upstream.requests.length).toBe(2);
    const refused = parseAnswer(await other.raw(requestOf('GET /api/v1/pods')));
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
    expect(await refusals(other, 'requests_per_user')).toBe(1);
    const watch = await RawConnection.open(other.port, requestOf('GET /api/v1/pods?watch=1'));
    await expect.poll(() => other.upstream.requests.length).toBe(3);
    expect(parseAnswer(await other.raw(exec)).status).toBe(429);
    expect((await other.get('/kapis/resources.gatehouse.io/v1alpha3/nodes')).status).toBe(200);
    for (const client of [...(await Promise.all(held)), watch]) client.socket.destroy();
    await expect.poll(() => other.metric('gatehouse_gateway_requests_in_flight')).toBe(0);
    other.upstream.answer = () => OK;
    expect(parseAnswer(await other.raw(requestOf('GET /api/v1/pods'))).status).toBe(200);
    await other.stop();
  });
});
