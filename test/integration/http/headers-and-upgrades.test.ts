import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AppUnderTest, type LogLine, startApp } from './app-under-test.ts';
import { HEAD, LIST, parseAnswer, statusText } from './raw-answer.ts';

let app: AppUnderTest;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

const answerTo = async (text: string) => parseAnswer(await app.raw(text));

describe('headers and upgrades', () => {
  test('A-09 N-52 a header block over 16 KiB is 431 and closes', async () => {
    const answer = await answerTo(`GET ${LIST} HTTP/1.1\r\n${HEAD}X: ${'a'.repeat(17_000)}\r\n\r\n`);
    expect(answer.status).toBe(431);
    expect(answer.headers.get('connection')).toBe('close');
    expect(answer.body).toBe(
      statusText(
        431,
        'RequestHeaderFieldsTooLarge',
        'the request is malformed: its header is over 16384 bytes (limits.maxHeaderBytes)',
      ),
    );
  });

  test.each([101, 2_001])('A-09 %i header lines are 431', async (count) => {
    const answer = await answerTo(`GET ${LIST} HTTP/1.1\r\nHost: a\r\n${'a:\r\n'.repeat(count - 1)}\r\n`);
    expect(answer.status).toBe(431);
    expect(answer.body).toBe(
      statusText(431, 'RequestHeaderFieldsTooLarge', 'the request is malformed: it has more than 100 header lines'),
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

  test('N-56 TRACE on a path that nothing is served on is 405 with an empty Allow', async () => {
    const answer = await answerTo('TRACE /nothing HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, '']);
  });

  test('HP-21 refuses PROPFIND on a path of the cluster with 405', async () => {
    const answer = await answerTo('PROPFIND /api/v1/nodes HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    expect(answer.status).toBe(405);
  });
});
