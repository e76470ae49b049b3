import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AppUnderTest, fakeAuthorizationServer, startApp } from './app-under-test.ts';
import { HEAD, LIST, parseAnswer } from './raw-answer.ts';

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

const answerTo = async (text: string) => parseAnswer(await app.raw(text));

// At once: a refused body is read on for a second before the connection is closed.
describe.concurrent('framing that Node or the guard refuses', () => {
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
