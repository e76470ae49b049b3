import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AppUnderTest, listsWith, listText, nodeText, startApp } from './app-under-test.ts';

const LIST = '/kapis/resources.gatehouse.io/v1alpha3/nodes';
let app: AppUnderTest;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

const identity = { 'Accept-Encoding': 'identity' };

describe('the node list', () => {
  test('NC-01 answers 200 with a strong tag, private caching, Vary and a length', async () => {
    const answer = await app.get(LIST, { headers: identity });
    expect(answer.status).toBe(200);
    expect(await answer.text()).toBe(listText);
    expect(Object.fromEntries(answer.headers)).toEqual({
      'cache-control': 'private, no-cache',
      connection: 'keep-alive',
      'content-length': String(listText.length),
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'content-type': 'application/json',
      date: expect.any(String),
      etag: '"e1-1"',
      'keep-alive': 'timeout=75',
      'referrer-policy': 'no-referrer',
      vary: 'Accept-Encoding',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'x-request-id': expect.stringMatching(/^[0-9a-f]{16}$/),
    });
  });

  test.each(['"e1-1"', 'W/"e1-1"', '"x", "e1-1"', '*'])('NC-02 answers 304 to If-None-Match %s', async (tag) => {
    const answer = await app.get(LIST, { headers: { ...identity, 'If-None-Match': tag } });
    expect(answer.status).toBe(304);
    expect(await answer.text()).toBe('');
    expect(answer.headers.get('etag')).toBe('"e1-1"');
    expect(answer.headers.get('cache-control')).toBe('private, no-cache');
    expect(answer.headers.get('vary')).toBe('Accept-Encoding');
    expect(answer.headers.get('content-length')).toBeNull();
  });

  test('NC-02 rules out 400 before it answers 304', async () => {
    const answer = await app.get(`${LIST}?limit=abc`, { headers: { 'If-None-Match': '*' } });
    expect(answer.status).toBe(400);
  });

  test.each(['gzip', 'gzip;q=0.5', '*'])('NC-04 compresses for Accept-Encoding %s', async (coding) => {
    const text = await app.raw(
      `GET ${LIST} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\nAccept-Encoding: ${coding}\r\nConnection: close\r\n\r\n`,
    );
    expect(text).toContain('\r\nContent-Encoding: gzip\r\n');
    expect(text).toContain('\r\nETag: "e1-1-gzip"\r\n');
    const body = Buffer.from(text.slice(text.indexOf('\r\n\r\n') + 4), 'latin1');
    expect(gunzipSync(body).toString()).toBe(listText);
  });

  test.each(['identity', 'gzip;q=0', 'br', 'zstd'])('NC-05 stays plain for Accept-Encoding %s', async (coding) => {
    const answer = await app.get(LIST, { headers: { 'Accept-Encoding': coding } });
    expect(answer.headers.get('content-encoding')).toBeNull();
    expect(await answer.text()).toBe(listText);
  });

  test('NC-06 answers HEAD with the headers of GET alone', async () => {
    const answer = await app.get(LIST, { method: 'HEAD', headers: identity });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-length')).toBe(String(listText.length));
    expect(answer.headers.get('etag')).toBe('"e1-1"');
    expect(await answer.text()).toBe('');
  });

  test('NC-07 answers OPTIONS without credentials', async () => {
    const answer = await fetch(app.url + LIST, { method: 'OPTIONS' });
    expect(answer.status).toBe(204);
    expect(answer.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  });

  test.each(['POST', 'PUT', 'PATCH', 'DELETE'])(
    'NC-08 answers %s with the right by 405, without it by 403',
    async (method) => {
      const allowed = await app.get(LIST, { method });
      expect(allowed.status).toBe(405);
      expect(allowed.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
      const denied = await app.get(LIST, { method, headers: { Authorization: 'Bearer powerless' } });
      expect(denied.status).toBe(403);
    },
  );

  test('NC-09 ignores If-Modified-Since, If-Match and Range', async () => {
    const headers = { 'If-Modified-Since': new Date(0).toUTCString(), 'If-Match': '"x"', Range: 'bytes=0-1' };
    const answer = await app.get(LIST, { headers });
    expect(answer.status).toBe(200);
    expect(await answer.text()).toBe(listText);
  });

  test('accepts one trailing slash', async () => {
    expect((await app.get(`${LIST}/`)).status).toBe(200);
  });

  test('NE-10 names the parameter that it cannot understand', async () => {
    const answer = await app.get(`${LIST}?limit=abc`);
    expect(answer.status).toBe(400);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(await answer.text()).toBe(
      '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",' +
        '"message":"invalid query parameter \\"limit\\": \\"abc\\" is not an integer","reason":"BadRequest",' +
        '"details":{"causes":[{"reason":"FieldValueInvalid",' +
        '"message":"invalid query parameter \\"limit\\": \\"abc\\" is not an integer","field":"limit"}]},"code":400}',
    );
  });
});

describe('an answer from data older than a minute', () => {
  const ages: (number | undefined)[] = [undefined, 61];
  const told = (answer: Response) => [answer.headers.get('age'), answer.headers.get('warning')];
  const calls: readonly [string, number, string, RequestInit][] = [
    ['the list', 200, LIST, {}],
    ['a page of it', 200, `${LIST}?limit=1`, {}],
    ['the list by HEAD', 200, LIST, { method: 'HEAD' }],
    ['the list in gzip', 200, LIST, { headers: { 'Accept-Encoding': 'gzip' } }],
    ['the list that the client has', 304, LIST, { headers: { ...identity, 'If-None-Match': '"e1-1"' } }],
    ['a node', 200, `${LIST}/worker-1`, {}],
    ['a node by HEAD', 200, `${LIST}/worker-1`, { method: 'HEAD' }],
    ['a node that the client has', 304, `${LIST}/worker-1`, { headers: { 'If-None-Match': '*' } }],
  ];

  test.each(calls)('tells its age, a younger one does not: %s', async (_, status, path, init) => {
    for (const seconds of ages) {
      const own = await startApp({ lists: listsWith({ age: { staleSeconds: () => seconds } }) });
      const answer = await own.get(path, init);
      expect(answer.status).toBe(status);
      expect(told(answer)).toEqual(seconds === undefined ? [null, null] : ['61', '110 - "Response is Stale"']);
      await own.stop();
    }
  });

  test('tells it in no other answer', async () => {
    const own = await startApp({ lists: listsWith({ age: { staleSeconds: () => 61 } }) });
    for (const path of [`${LIST}/zzz`, `${LIST}?limit=abc`, '/version', '/kapis'])
      expect(told(await own.get(path))).toEqual([null, null]);
    await own.stop();
  });
});

describe('the node get', () => {
  test('answers the node, plain below 1,024 bytes, and ignores the query', async () => {
    const answer = await app.get(`${LIST}/worker-1?foo=bar`, { headers: { 'Accept-Encoding': 'gzip' } });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-encoding')).toBeNull();
    expect(await answer.text()).toBe(nodeText);
  });

  test('NE-05 answers 404 for a missing node', async () => {
    const answer = await app.get(`${LIST}/zzz`);
    expect(answer.status).toBe(404);
    expect(await answer.text()).toBe(
      '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"nodes \\"zzz\\" not found",' +
        '"reason":"NotFound","details":{"name":"zzz","kind":"nodes"},"code":404}',
    );
  });

  test('answers 404 for a further segment', async () => {
    expect((await app.get(`${LIST}/worker-1/status`)).status).toBe(404);
  });
});
