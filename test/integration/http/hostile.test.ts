import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defaultLimits } from '../../support/default-limits.ts';
import { type AppUnderTest, eventually, fakeAuthorizationServer, type LogLine, startApp } from './app-under-test.ts';

const LIST = '/kapis/resources.gatehouse.io/v1alpha3/nodes';
const HEAD = 'Host: a\r\nAuthorization: Bearer good\r\n';

let app: AppUnderTest;
let tokens = 0;

beforeAll(async () => {
  const authorizationServer = {
    ...fakeAuthorizationServer,
    token: (request: Parameters<typeof fakeAuthorizationServer.token>[0]) => {
      tokens++;
      return fakeAuthorizationServer.token(request);
    },
  };
  app = await startApp({ authorizationServer });
});
afterAll(() => app.stop());

/** Status line, lower-case header names and body of one raw answer. */
function parseAnswer(text: string): { status: number; headers: Map<string, string>; body: string } {
  const [head = '', ...rest] = text.split('\r\n\r\n');
  const [line = '', ...fields] = head.split('\r\n');
  const pairs = fields.map((field) => [
    field.slice(0, field.indexOf(':')).toLowerCase(),
    field.slice(field.indexOf(':') + 2),
  ]);
  return {
    status: Number(line.split(' ')[1]),
    headers: new Map(pairs as [string, string][]),
    body: rest.join('\r\n\r\n'),
  };
}

async function answerTo(text: string): Promise<ReturnType<typeof parseAnswer>> {
  return parseAnswer(await app.raw(text));
}

const TRICKLED_FORM = 'POST /oauth/token HTTP/1.1\r\nHost: a\r\nContent-Length: 16000\r\n\r\n';
const TRICKLED_BODY = `GET ${LIST} HTTP/1.1\r\n${HEAD}Content-Length: 16000\r\n\r\n`;

/** Sends this, then a little more again and again, until the server closes; what came by then. */
async function trickle(port: number, start: string, drop: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let received = '';
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString('latin1');
  });
  socket.on('error', () => {}); // what is sent after the close is reset
  const drops = setInterval(() => socket.writable && socket.write(drop), 20);
  const limit = setTimeout(() => socket.destroy(), 20_000);
  try {
    socket.write(start);
    await once(socket, 'close');
  } finally {
    clearInterval(drops);
    clearTimeout(limit);
  }
  return received;
}

const status = (code: number, reason: string, message: string): string =>
  `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"${message}","reason":"${reason}","code":${code}}`;

describe('framing that Node or the guard refuses', () => {
  const post = `POST ${LIST} HTTP/1.1\r\n${HEAD}`;
  test.each([
    [
      'A-01 N-54 Content-Length beside Transfer-Encoding',
      `${post}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['A-02 N-54 two Content-Length', `${post}Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc`],
    ['A-02 N-54 two Content-Length that differ', `${post}Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd`],
    ['A-02 a list of Content-Length', `${post}Content-Length: 3, 3\r\n\r\nabc`],
    ['A-02 a signed Content-Length', `${post}Content-Length: +3\r\n\r\nabc`],
    ['A-03 N-54 an unknown transfer coding', `${post}Transfer-Encoding: xchunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`],
    ['A-03 two codings', `${post}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
    ['A-03 chunks in HTTP/1.0', `POST ${LIST} HTTP/1.0\r\n${HEAD}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['A-04 chunked before identity', `${post}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`],
    [
      'A-04 Transfer-Encoding twice',
      `${post}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['A-04 a space before the colon', `GET ${LIST} HTTP/1.1\r\nHost : a\r\n\r\n`],
    ['A-04 a folded header', `GET ${LIST} HTTP/1.1\r\n${HEAD}X: a\r\n b\r\n\r\n`],
    ['A-04 a bare CR in a value', `GET ${LIST} HTTP/1.1\r\n${HEAD}X: a\rb\r\n\r\n`],
    ['A-04 NUL in a value', `GET ${LIST} HTTP/1.1\r\n${HEAD}X: a\0b\r\n\r\n`],
    ['A-05 a request line without a version', `POST ${LIST}\nContent-Length: 3\n\nabc`],
    ['A-05 a request line without a version and without headers', `GET ${LIST}\r\n\r\n`],
    ['A-14 the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['N-53 no Host', `GET ${LIST} HTTP/1.1\r\nAuthorization: Bearer good\r\n\r\n`],
    ['N-53 two Host', `GET ${LIST} HTTP/1.1\r\nHost: a\r\n${HEAD}\r\n`],
    ['A-07 a Host that is none', `GET ${LIST} HTTP/1.1\r\nHost: a/b\r\n\r\n`],
    ['A-13 an unknown expectation', `GET ${LIST} HTTP/1.1\r\n${HEAD}Expect: pie\r\n\r\n`],
  ])('%s is 400 and closes', async (_, text) => {
    const answer = await answerTo(text);
    expect(answer.status).toBe(400);
    expect(answer.headers.get('connection')).toBe('close');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(JSON.parse(answer.body)).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: expect.stringMatching(/^the request is malformed: /),
      reason: 'BadRequest',
      code: 400,
    });
  });

  test('A-03 no handler runs behind an unknown transfer coding', async () => {
    const before = tokens;
    await app.raw('POST /oauth/token HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n');
    expect(tokens).toBe(before);
  });

  test('A-06 a chunk extension of 20 kB is 413', async () => {
    const form = 'POST /oauth/token HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
    expect((await answerTo(`${form}3;${'a'.repeat(20_000)}\r\nabc\r\n0\r\n\r\n`)).status).toBe(413);
  });

  test('A-06 a negative chunk size is 400, in the words of the path', async () => {
    const form = 'POST /oauth/token HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
    const answer = await answerTo(`${form}-3\r\nabc\r\n0\r\n\r\n`);
    expect(answer.status).toBe(400);
    expect(answer.headers.get('connection')).toBe('close');
    expect(answer.body).toBe(
      '{"error":"invalid_request","error_description":"the request is malformed: it is not well-formed HTTP/1.1"}',
    );
  });
});

describe('the request target', () => {
  test('A-07 an absolute target of the same authority is served', async () => {
    const answer = await answerTo(`GET http://A${LIST} HTTP/1.1\r\n${HEAD}Connection: close\r\n\r\n`);
    expect(answer.status).toBe(200);
  });

  test('A-07 an absolute target of another authority is 400', async () => {
    const answer = await answerTo(`GET http://b${LIST} HTTP/1.1\r\n${HEAD}Connection: close\r\n\r\n`);
    expect(answer.body).toBe(
      status(400, 'BadRequest', 'the request is malformed: the request target names another host'),
    );
  });

  test.each([
    '/api/../kapis',
    '/api/%2e%2e/kapis',
    '/api/.%2E/kapis',
    '/healthz/../kapis',
    '/api/./v1',
    '/a%2fb',
    '/a%5cb',
    '/a\\b',
    '//kapis',
    '/kapis//x',
    '/kapis/x//',
    '/a%00b',
    '/a%0ab',
    '/a%7fb',
    '/a%zz',
    '/a%',
    '/a%ff',
    '/a#b',
    '*',
  ])('A-25 the target %s is 400', async (target) => {
    const answer = await answerTo(`GET ${target} HTTP/1.1\r\n${HEAD}Connection: close\r\n\r\n`);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatch(/^\{"kind":"Status".*"message":"the request is malformed: the (path|request target) /);
  });

  test('A-25 raw UTF-8 is 400', async () => {
    const answer = await answerTo(`GET /caf\xc3\xa9 HTTP/1.1\r\n${HEAD}Connection: close\r\n\r\n`);
    expect(answer.status).toBe(400);
  });

  test('A-25 a refused target under /oauth is answered as OAuth', async () => {
    const answer = await answerTo(`GET /oauth/../x HTTP/1.1\r\n${HEAD}Connection: close\r\n\r\n`);
    expect(answer.body).toBe(
      '{"error":"invalid_request","error_description":"the request is malformed: the path has a dot segment"}',
    );
  });

  test('A-25 a refused absolute target under /oauth is answered as OAuth', async () => {
    const answer = await answerTo(`GET http://a/oauth/../x HTTP/1.1\r\n${HEAD}Connection: close\r\n\r\n`);
    expect(JSON.parse(answer.body)).toMatchObject({ error: 'invalid_request' });
  });

  test('A-25 a semicolon is part of its segment', async () => {
    const answer = await answerTo(`GET ${LIST};x=y HTTP/1.1\r\n${HEAD}Connection: close\r\n\r\n`);
    expect(answer.status).toBe(404);
  });

  test('A-25 an encoded letter means the letter', async () => {
    const encoded = LIST.replace('nodes', 'n%6fdes');
    const answer = await answerTo(`GET ${encoded} HTTP/1.1\r\n${HEAD}Connection: close\r\n\r\n`);
    expect(answer.status).toBe(200);
  });

  const REWRITES = {
    'X-HTTP-Method-Override': 'DELETE',
    'X-HTTP-Method': 'DELETE',
    'X-Method-Override': 'DELETE',
    'X-Original-URL': '/healthz',
    'X-Rewrite-URL': '/healthz',
    'X-Forwarded-Uri': '/healthz',
    'X-Forwarded-Prefix': '/oauth',
  };

  test.each(Object.entries(REWRITES))(
    'A-26 %s changes neither what is authorised nor what is served',
    async (name, value) => {
      const asked: unknown[] = [];
      const authorize: (typeof app.parts.authorizer)['authorize'] = (subject, attributes) => {
        asked.push(attributes);
        return { allowed: subject.name === 'alice', source: 'cache' };
      };
      const judged = await startApp({ authorizer: { authorize } });
      try {
        const served = await judged.get(LIST, { headers: { [name]: value } });
        expect([served.status, ((await served.json()) as { totalItems: number }).totalItems]).toEqual([200, 12]);
        const refused = await judged.get(LIST, { headers: { [name]: value, Authorization: 'Bearer powerless' } });
        expect(refused.status).toBe(403);
        const question = { verb: 'list', group: 'resources.gatehouse.io', version: 'v1alpha3', resource: 'nodes' };
        expect(asked).toEqual(Array(2).fill({ resource: question }));
      } finally {
        await judged.stop();
      }
    },
  );

  test('A-35 the port of the API has no metrics, and the probes end where they say', async () => {
    expect((await app.get('/metrics')).status).toBe(404);
    expect((await app.get('/metrics', { headers: { Authorization: '' } })).status).toBe(401);
    for (const target of ['/healthz/../kapis', '/healthz/%2e%2e/kapis', '/healthz//kapis'])
      expect((await answerTo(`GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)).status).toBe(400);
  });

  test('A-35 no right comes from an agent or a query', async () => {
    const answer = await fetch(`${app.url}${LIST}?allowed`, { headers: { 'User-Agent': 'kube-probe/1.36' } });
    expect(answer.status).toBe(401);
  });
});

describe('headers and upgrades', () => {
  test('A-09 N-52 a header block over 16 KiB is 431 and closes', async () => {
    const answer = await answerTo(`GET ${LIST} HTTP/1.1\r\n${HEAD}X: ${'a'.repeat(17_000)}\r\n\r\n`);
    expect(answer.status).toBe(431);
    expect(answer.headers.get('connection')).toBe('close');
    expect(answer.body).toBe(
      status(431, 'RequestHeaderFieldsTooLarge', 'the request is malformed: its header is over 16384 bytes'),
    );
  });

  test.each([101, 2_001])('A-09 %i header lines are 431', async (count) => {
    const answer = await answerTo(`GET ${LIST} HTTP/1.1\r\nHost: a\r\n${'a:\r\n'.repeat(count - 1)}\r\n`);
    expect(answer.status).toBe(431);
    expect(answer.body).toBe(
      status(431, 'RequestHeaderFieldsTooLarge', 'the request is malformed: it has more than 100 header lines'),
    );
  });

  test('A-09 100 header lines are served', async () => {
    const answer = await answerTo(`GET ${LIST} HTTP/1.1\r\n${HEAD}Connection: close\r\n${'a:\r\n'.repeat(97)}\r\n`);
    expect(answer.status).toBe(200);
  });

  test('A-08 two Authorization headers are 400 with a challenge', async () => {
    const answer = await answerTo(`GET ${LIST} HTTP/1.1\r\n${HEAD}Authorization: Basic eA==\r\n\r\n`);
    expect(answer.status).toBe(400);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="gatehouse", error="invalid_request"');
  });

  test.each(['websocket', 'h2c'])('A-14 an upgrade to %s is ignored: no tunnel', async (protocol) => {
    const upgrade = `Connection: Upgrade, HTTP2-Settings\r\nUpgrade: ${protocol}\r\nHTTP2-Settings: AAMAAABk\r\n`;
    const text = await app.raw(`GET ${LIST} HTTP/1.1\r\n${HEAD}${upgrade}\r\n`, /"totalItems":12\}$/);
    expect(parseAnswer(text).status).toBe(200);
  });

  test('N-56 CONNECT closes the connection', async () => {
    expect(await app.raw('CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n')).toBe('');
  });

  test('R-22 CONNECT leaves a line in the access log, without the credentials of its target', async () => {
    const agent = `agent-${process.hrtime.bigint()}`;
    await app.raw(`CONNECT joe:canary@a:443 HTTP/1.1\r\nHost: a\r\nUser-Agent: ${agent}\r\n\r\n`);
    const { time: _, requestId, ...line } = app.lines.find(({ userAgent }) => userAgent === agent) as LogLine;
    expect(requestId).toMatch(/^[0-9a-f]{16}$/);
    expect(line).toEqual({
      ...{ level: 'info', server: 'api', msg: 'request', method: 'CONNECT', route: 'other', path: 'a:443' },
      ...{ rule: 'connect', source: '127.0.0.1', userAgent: agent },
    });
  });

  test('A-12 CONNECT behind a request closes the connection after its answer', async () => {
    const text = await app.raw('GET /version HTTP/1.1\r\nHost: a\r\n\r\nCONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(parseAnswer(text).status).toBe(200);
  });

  test.each(['TRACE', 'PROPFIND', 'QUERY'])('N-56 %s is 405 without credentials', async (method) => {
    const answer = await answerTo(`${method} ${LIST} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  });

  test('N-56 TRACE on a path that nothing is served on is 405 without Allow', async () => {
    const answer = await answerTo('TRACE /nothing HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    expect([answer.status, answer.headers.has('allow')]).toEqual([405, false]);
  });

  test('HP-21 refuses PROPFIND on a path of the cluster with 405', async () => {
    const answer = await answerTo('PROPFIND /api/v1/nodes HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    expect(answer.status).toBe(405);
  });
});

describe('bodies', () => {
  test('does not read a body on GET, and closes', async () => {
    const answer = await answerTo(`GET ${LIST} HTTP/1.1\r\n${HEAD}Content-Length: 3\r\n\r\nabc`);
    expect(answer.status).toBe(200);
  });

  test('does not read a body on GET, and closes, also when the right has to be asked for', async () => {
    const authorizer = {
      authorize: async () => {
        for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
        return { allowed: true, source: 'review' as const };
      },
    };
    const slow = await startApp({ authorizer });
    try {
      const answer = parseAnswer(await slow.raw(`GET ${LIST} HTTP/1.1\r\n${HEAD}Content-Length: 3\r\n\r\nabc`));
      expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close']);
    } finally {
      await slow.stop();
    }
  });

  test('A-13 sends no 100 to HTTP/1.0, which does not know it', async () => {
    const head = 'POST /oauth/token HTTP/1.0\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n';
    expect(await app.raw(`${head}abc`)).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('A-13 judges the declared size before the 100', async () => {
    const head = 'POST /oauth/token HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 20000\r\n\r\n';
    const answer = await answerTo(head);
    expect(answer.status).toBe(413);
    expect(answer.headers.get('connection')).toBe('close');
  });

  test('A-13 judges the credentials before the 100', async () => {
    const head = `POST ${LIST} HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n`;
    expect((await answerTo(head)).status).toBe(401);
  });

  test('A-13 asks for a body that it wants', async () => {
    const head = 'POST /oauth/token HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n';
    expect(await app.raw(head, /\r\n\r\n/)).toBe('HTTP/1.1 100 Continue\r\n\r\n');
  });

  test('A-12 answers 100 pipelined requests in order', async () => {
    const get = (index: number): string => `GET /healthz HTTP/1.1\r\nHost: a\r\nX-Request-Id: r-${index}-\r\n\r\n`;
    const text = await app.raw(Array.from({ length: 100 }, (_, index) => get(index)).join(''), /r-99-[\s\S]*ok$/);
    const ids = [...text.matchAll(/X-Request-Id: r-(\d+)-/g)].map((match) => Number(match[1]));
    expect(ids).toEqual(Array.from({ length: 100 }, (_, index) => index));
  });
});

describe('a mixture on one connection', () => {
  test('A-12 of sign-ins and lists is answered in order, each by its own rights', async () => {
    const signIn = 'POST /oauth/token HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\na=b';
    const list = (bearer: string): string =>
      `GET ${LIST} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${bearer}\r\n\r\n`;
    const round = signIn + list('good') + list('powerless') + list('old');
    const last = 'GET /version HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
    const text = await app.raw(round.repeat(25) + last);
    const codes = [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, code]) => Number(code));
    expect(codes).toEqual([...Array(25).fill([200, 200, 403, 401]).flat(), 200]);
  });
});

// At once: Node.js looks for late requests once a second.
describe.concurrent('limits in time', () => {
  test('A-10 N-52 a connection that sends nothing, and one with slow headers, get 408', async () => {
    const limits = { ...defaultLimits, headersTimeoutMs: 100 };
    const slow = await startApp({ limits });
    try {
      for (const text of ['', `GET ${LIST} HTTP/1.1\r\nHo`]) {
        const answer = parseAnswer(await slow.raw(text));
        expect(answer.status).toBe(408);
        expect(answer.headers.get('connection')).toBe('close');
        expect(answer.body).toBe(status(408, 'Timeout', 'the request did not arrive in time'));
      }
    } finally {
      await slow.stop();
    }
  });

  test.each([
    ['headers', 60_000, `GET ${LIST} HTTP/1.1\r\n`, 'X: a\r\n', 'the request did not arrive in time'],
    ['a body', 300, TRICKLED_FORM, 'a', 'the request body did not arrive within 0.3 s'],
    ['a body that nobody reads', 300, TRICKLED_BODY, 'a', 'the request did not arrive in time'],
  ])(
    'A-10 N-52 R-08 %s that trickles in is 408: no byte buys more time',
    async (_, bodyTimeoutMs, start, drop, message) => {
      const limits = { ...defaultLimits, headersTimeoutMs: 300, bodyTimeoutMs };
      // While the right is being asked for nothing but the time of the request ends it.
      const decided = Promise.withResolvers<{ allowed: boolean; source: 'review' }>();
      const slow = await startApp({ limits, authorizer: { authorize: () => decided.promise } });
      try {
        const answer = parseAnswer(await trickle(slow.port, start, drop));
        expect([answer.status, answer.headers.get('connection')]).toEqual([408, 'close']);
        expect(answer.body).toContain(`"${message}"`);
        decided.resolve({ allowed: true, source: 'review' }); // too late for anybody
        expect((await slow.get('/version')).status).toBe(200);
      } finally {
        await slow.stop();
      }
    },
  );

  test('A-10 N-52 a slow body gets 408', async () => {
    const limits = { ...defaultLimits, bodyTimeoutMs: 50 };
    const slow = await startApp({ limits });
    try {
      const answer = parseAnswer(
        await slow.raw('POST /oauth/token HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc'),
      );
      expect(answer.status).toBe(408);
      expect(answer.headers.get('connection')).toBe('close');
      expect(answer.body).toBe(
        '{"error":"invalid_request","error_description":"the request body did not arrive within 0.05 s"}',
      );
    } finally {
      await slow.stop();
    }
  });
});

describe('limits in number', () => {
  test('A-11 closes the oldest idle connection of an address beyond its cap', async () => {
    const capped = await startApp({ limits: { ...defaultLimits, maxConnectionsPerAddress: 2 } });
    try {
      const sockets = [];
      for (let index = 0; index < 3; index++) {
        const socket = connect(capped.port, '127.0.0.1');
        socket.on('error', () => {}); // the closed one may see a reset
        await once(socket, 'connect');
        sockets.push(socket);
      }
      const [first, second, third] = sockets as [Socket, Socket, Socket];
      await once(first, 'close');
      for (const socket of [second, third]) {
        socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
        await once(socket, 'data');
      }
      for (const socket of sockets) socket.destroy();
    } finally {
      await capped.stop();
    }
  });

  test('A-11 1,000 idle connections of one address leave the others as they were', async () => {
    const capped = await startApp({ limits: { ...defaultLimits, maxConnectionsPerAddress: 100 } });
    const sockets: Socket[] = [];
    let closed = 0;
    try {
      for (let index = 0; index < 1_000; index++) {
        const socket = connect({ host: '127.0.0.1', port: capped.port, localAddress: '127.0.0.2' });
        socket.on('error', () => {}).on('close', () => closed++);
        sockets.push(socket);
        await once(socket, 'connect');
      }
      await eventually(() => closed === 900);
      expect((await capped.get('/version')).status).toBe(200);
    } finally {
      for (const socket of sockets) socket.destroy();
      await capped.stop();
    }
  });

  test('HL-05 sign-ins beyond their places get 429, other requests and health do not', async () => {
    let finish: () => void = () => {};
    const held = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const authorizationServer = {
      ...fakeAuthorizationServer,
      token: async (request: Parameters<typeof fakeAuthorizationServer.token>[0]) => {
        await held;
        return fakeAuthorizationServer.token(request);
      },
    };
    const full = await startApp({ authorizationServer, limits: { ...defaultLimits, maxSignInsInFlight: 1 } });
    try {
      const form = { method: 'POST', body: 'grant_type=password' };
      const first = full.get('/oauth/token', form);
      const inFlight = 'gatehouse_http_requests_in_flight{class="sign-in"} 1';
      for (let turn = 0; !(await full.parts.registry.metrics()).includes(inFlight) && turn < 10_000; turn++)
        await new Promise((resolve) => setImmediate(resolve));
      const second = await full.get('/oauth/token', form);
      expect(second.status).toBe(429);
      expect(second.headers.get('retry-after')).toBe('1');
      expect(await second.text()).toBe(
        '{"error":"temporarily_unavailable","error_description":"too many sign-ins at once, please try again later"}',
      );
      expect((await full.get(LIST)).status).toBe(200);
      expect((await full.get('/healthz')).status).toBe(200);
      finish();
      expect((await first).status).toBe(200);
      expect((await full.get('/oauth/token', form)).status).toBe(200);
    } finally {
      finish();
      await full.stop();
    }
  });

  test.each(['/oauth/token', '/oauth/revoke', '/oauth/introspect', '/oauth/logout'])(
    'HL-05 forms of %s that do not arrive take no place',
    async (path) => {
      const limits = { ...defaultLimits, maxSignInsInFlight: 32, maxRequestsInFlight: 32 };
      const waited = await startApp({ limits });
      const sockets: Socket[] = [];
      try {
        for (let index = 0; index < 40; index++) {
          const socket = connect(waited.port, '127.0.0.1');
          sockets.push(socket);
          await once(socket, 'connect');
          socket.write(`POST ${path} HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 100\r\n\r\n`);
          await once(socket, 'data'); // the 100: from here on the body is waited for
        }
        const form = { method: 'POST', body: 'grant_type=password' };
        expect((await waited.get('/oauth/token', form)).status).toBe(200);
        expect((await waited.get('/oauth/logout', form)).status).toBe(200);
        expect((await waited.get(LIST)).status).toBe(200);
      } finally {
        for (const socket of sockets) socket.destroy();
        await waited.stop();
      }
    },
  );

  test('HL-05 gives pipelined requests one place, and takes it back when their client goes', async () => {
    const authorizer = { authorize: () => new Promise<never>(() => {}) };
    const stuck = await startApp({ authorizer, limits: { ...defaultLimits, maxRequestsInFlight: 2 } });
    try {
      const [socket, other] = [connect(stuck.port, '127.0.0.1'), connect(stuck.port, '127.0.0.1')];
      socket.write(`GET ${LIST} HTTP/1.1\r\n${HEAD}\r\n`.repeat(4));
      other.write(`GET ${LIST} HTTP/1.1\r\n${HEAD}\r\n`);
      const full = 'gatehouse_http_requests_in_flight{class="other"} 2';
      for (let turn = 0; !(await stuck.parts.registry.metrics()).includes(full) && turn < 10_000; turn++) {
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect((await stuck.get('/version')).status).toBe(429);
      socket.destroy();
      await eventually(() => stuck.lines.some((line) => line['aborted'] === true));
      expect((await stuck.get('/version')).status).toBe(200);
      expect(stuck.lines.filter((line) => line['aborted'] === true)).toHaveLength(1);
      other.destroy();
    } finally {
      await stuck.stop();
    }
  });
});
