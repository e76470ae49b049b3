import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { EndSessionRequest, FormRequest, LogoutResponse } from '../../../src/oauth/authorization-server.ts';
import { OAuthError } from '../../../src/oauth/oauth-error.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { type AppUnderTest, eventually, fakeAuthorizationServer, startApp } from './app-under-test.ts';

let app: AppUnderTest;
let forms: FormRequest[] = [];
let logouts: EndSessionRequest[] = [];
let heads: unknown[] = [];
let loggedOut: LogoutResponse = {};
let failure: unknown;
let hold: Promise<void> | undefined;

beforeAll(async () => {
  app = await startApp({
    authorizationServer: {
      ...fakeAuthorizationServer,
      checkFormHead: (...head) => {
        heads.push(head);
        if (head[2] !== '') {
          throw new OAuthError({
            ids: [],
            status: 400,
            code: 'invalid_request',
            description: 'no query string is allowed',
          });
        }
      },
      token: async (request) => {
        forms.push(request);
        await hold;
        if (failure) throw failure;
        return fakeAuthorizationServer.token(request);
      },
      logout: async (request) => {
        logouts.push(request);
        return loggedOut;
      },
    },
  });
});
afterAll(() => app.stop());
afterEach(() => {
  forms = [];
  logouts = [];
  heads = [];
  loggedOut = {};
  failure = undefined;
  hold = undefined;
});

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };
const post = (body: string, headers: Record<string, string> = FORM): Promise<Response> =>
  fetch(`${app.url}/oauth/token`, { method: 'POST', body, headers });

describe('the token endpoint', () => {
  test('N-17 answers 200 with the members in wire order, and nothing keeps it', async () => {
    const answer = await post('grant_type=password', { ...FORM, Authorization: 'Basic eDp5' });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('pragma')).toBe('no-cache');
    expect(await answer.text()).toBe(
      '{"access_token":"aaa","token_type":"Bearer","refresh_token":"rrr","expires_in":7200}',
    );
    expect(heads).toEqual([['token', 'application/x-www-form-urlencoded', '']]);
    expect(forms[0]).toMatchObject({ authorization: 'Basic eDp5', source: '127.0.0.1' });
    expect(forms[0]?.body.toString()).toBe('grant_type=password');
  });

  test.each(['GET', 'PUT', 'HEAD', 'DELETE'])('N-01 %s is 405', async (method) => {
    const answer = await fetch(`${app.url}/oauth/token?grant_type=password`, { method });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('OPTIONS, POST');
    expect(forms).toEqual([]);
  });

  test('N-03 the head is judged before the body is read', async () => {
    const head = 'POST /oauth/token?client_secret=canary HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n';
    const text = await app.raw(head, /\}$/);
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
    expect(heads).toEqual([['token', undefined, 'client_secret=canary']]);
    await eventually(() => app.lines.some((line) => line['route'] === '/oauth/token' && line['status'] === 400));
    expect(JSON.stringify(app.lines)).not.toContain('canary');
  });

  test('N-07 N-52 a form of 16 KiB is read, one byte more is 413', async () => {
    expect((await post('a'.repeat(16_384))).status).toBe(200);
    const answer = await post('a'.repeat(16_385));
    expect(answer.status).toBe(413);
    expect(answer.headers.get('connection')).toBe('close');
    expect(await answer.text()).toBe(
      '{"error":"invalid_request","error_description":"Request entity too large: limit is 16384"}',
    );
    expect(forms).toHaveLength(1);
  });

  test('A-22 a body of 100 kB in chunks is 413', async () => {
    const chunk = `2000\r\n${'a'.repeat(0x2000)}\r\n`;
    const head = 'POST /oauth/token HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
    expect(await app.raw(head + chunk.repeat(12), /\}$/)).toMatch(/^HTTP\/1\.1 413 /);
  });

  test.each(['gzip', 'br', 'deflate', 'zstd', 'x-none', 'gzip, gzip'])('A-24 a form in %s is 415', async (coding) => {
    const bomb = gzipSync(Buffer.alloc(10_000_000));
    expect(bomb.length).toBeLessThan(16_384);
    const headers = { ...FORM, 'Content-Encoding': coding };
    const answer = await fetch(`${app.url}/oauth/token`, { method: 'POST', body: bomb, headers });
    expect(forms).toEqual([]);
    expect(answer.status).toBe(415);
    expect(await answer.text()).toBe(
      '{"error":"invalid_request","error_description":"the body of the request must not have a Content-Encoding"}',
    );
  });

  test('passes a refusal on as it is', async () => {
    const headers = { 'Retry-After': '7' };
    failure = new OAuthError({
      ids: [],
      status: 429,
      code: 'invalid_grant',
      description: 'auth rate limit exceeded',
      headers,
    });
    const answer = await post('x');
    expect(answer.status).toBe(429);
    expect(answer.headers.get('retry-after')).toBe('7');
    expect(await answer.text()).toBe('{"error":"invalid_grant","error_description":"auth rate limit exceeded"}');
  });

  test('T-02 a failure of ours is 500 server_error without detail', async () => {
    failure = new Error('ECONNREFUSED 192.0.2.1');
    const answer = await post('x');
    expect(answer.status).toBe(500);
    const text = await answer.text();
    expect(text).toMatch(
      /^\{"error":"server_error","error_description":"Internal error occurred: see the server log for request [0-9a-f]{16}"\}$/,
    );
  });

  test('tells the grant when the client has gone', async () => {
    let finish: () => void = () => {};
    hold = new Promise((resolve) => {
      finish = resolve;
    });
    const client = new AbortController();
    const answer = fetch(`${app.url}/oauth/token`, { method: 'POST', body: 'x', signal: client.signal });
    await eventually(() => forms.length === 1);
    client.abort();
    await expect(answer).rejects.toThrow();
    await eventually(() => forms[0]?.signal.aborted === true);
    finish();
    const gone = { msg: 'request', status: 499, route: '/oauth/token', aborted: true };
    await eventually(() => app.lines.some((line) => line['status'] === 499));
    expect(app.lines.find((line) => line['status'] === 499)).toMatchObject(gone);
  });

  test('a broken bearer does not matter', async () => {
    expect((await post('x', { ...FORM, Authorization: 'Bearer a b c' })).status).toBe(200);
  });
});

describe('logout', () => {
  const logout = (init: RequestInit, query = ''): Promise<Response> =>
    fetch(`${app.url}/oauth/logout${query}`, { redirect: 'manual', ...init });

  test('T-31 answers success', async () => {
    const answer = await logout({ headers: { Authorization: 'Bearer good' } }, '?all=true');
    expect(answer.status).toBe(200);
    expect(await answer.text()).toBe('{"message":"success"}');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const request = { method: 'GET', queryString: 'all=true', authorization: 'Bearer good' };
    const requestId = answer.headers.get('x-request-id');
    const reported = expect.objectContaining({ id: requestId, path: '/oauth/logout', status: 200 });
    const origin = { source: '127.0.0.1', requestId, request: reported, actorKnown: expect.any(Function) };
    expect(logouts).toEqual([{ ...request, ...origin }]);
  });

  test('T-34, N-25 redirects with 302 after GET, 303 after POST', async () => {
    loggedOut = { location: 'https://console.example.com/?state=1' };
    const after = await logout({});
    expect([after.status, after.headers.get('location')]).toEqual([302, loggedOut.location]);
    const posted = await logout({ method: 'POST', body: 'state=1', headers: FORM });
    expect([posted.status, posted.headers.get('location')]).toEqual([303, loggedOut.location]);
    expect(logouts[1]?.form?.body.toString()).toBe('state=1');
  });

  test('has no HEAD', async () => {
    const answer = await logout({ method: 'HEAD' });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('GET, OPTIONS, POST');
  });
});

describe('documents', () => {
  test('N-45 keys may be kept for five minutes, and are 304 to who has them', async () => {
    const answer = await fetch(`${app.url}/oauth/keys`);
    expect(answer.headers.get('cache-control')).toBe('public, max-age=300');
    expect(answer.headers.get('etag')).toBe('"d-1"');
    const again = await fetch(`${app.url}/oauth/keys`, { headers: { 'If-None-Match': '"d-1"' } });
    expect(again.status).toBe(304);
    expect(again.headers.get('cache-control')).toBe('public, max-age=300');
  });

  test('N-44 metadata is the same at four paths', async () => {
    const paths = [
      '/.well-known/openid-configuration',
      '/.well-known/oauth-authorization-server',
      '/.well-known/oauth-authorization-server/oauth',
      '/oauth/.well-known/openid-configuration',
    ];
    const texts = await Promise.all(paths.map(async (path) => (await fetch(app.url + path)).text()));
    expect(new Set(texts).size).toBe(1);
  });
});

describe.each(['token', 'revoke', 'introspect'] as const)('a flood of refusals at %s', (endpoint) => {
  test('R-02 is answered 50 times at once, and then each 5 ms later than the one before', async () => {
    const waits: number[] = [];
    const clock = { ...systemClock, monotonic: () => 0, sleep: async (ms: number) => void waits.push(ms) };
    const refused = new OAuthError({
      ids: [],
      status: 429,
      code: 'invalid_grant',
      description: 'auth rate limit exceeded',
    });
    const authorizationServer = { ...fakeAuthorizationServer, [endpoint]: () => Promise.reject(refused) };
    const flooded = await startApp({ authorizationServer, clock });
    const statuses = new Set<number>();
    for (let index = 0; index < 53; index++) {
      const body = new URLSearchParams({ grant_type: 'password' });
      statuses.add((await fetch(`${flooded.url}/oauth/${endpoint}`, { method: 'POST', body })).status);
    }
    expect([[...statuses], waits]).toEqual([[429], [5, 10, 15]]);
    await flooded.stop();
  });
});
