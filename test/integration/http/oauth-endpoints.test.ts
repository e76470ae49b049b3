import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { FormRequest } from '../../../src/oauth/authorization-server.ts';
import { OAuthError } from '../../../src/oauth/oauth-error.ts';
import { type AppUnderTest, eventually, fakeAuthorizationServer, startApp } from './app-under-test.ts';

let app: AppUnderTest;
let forms: FormRequest[] = [];
let heads: unknown[] = [];
let bearers: unknown[] = [];
let failure: unknown;

const handle = async (request: FormRequest): Promise<void> => {
  forms.push(request);
  if (failure) throw failure;
};

beforeAll(async () => {
  app = await startApp({
    authorizationServer: {
      ...fakeAuthorizationServer,
      checkFormHead: (...head) => {
        heads.push(head);
        if (head[2] === '') return;
        throw new OAuthError({
          ids: [],
          status: 400,
          code: 'invalid_request',
          description: 'no query string is allowed',
        });
      },
      revoke: handle,
      introspect: async (request) => {
        await handle(request);
        return { active: false };
      },
      userinfo: (authorization) => {
        bearers.push(authorization);
        if (failure) throw failure;
        return { sub: 'alice', name: 'alice', email: 'alice@example.com', preferred_username: 'alice' };
      },
    },
  });
});
afterAll(() => app.stop());
afterEach(() => {
  forms = [];
  heads = [];
  bearers = [];
  failure = undefined;
});

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };
const post = (path: string, body: string, headers: Record<string, string> = FORM): Promise<Response> =>
  fetch(app.url + path, { method: 'POST', body, headers });

describe.each([
  ['/oauth/revoke', 'revoke'],
  ['/oauth/introspect', 'introspect'],
] as const)('%s', (path, endpoint) => {
  test('hands the form on, with the credentials of the client', async () => {
    expect((await post(path, 'token=x', { ...FORM, Authorization: 'Basic eDp5' })).status).toBe(200);
    expect(heads).toEqual([[endpoint, FORM['Content-Type'], '']]);
    expect(forms[0]).toMatchObject({ authorization: 'Basic eDp5', source: '127.0.0.1' });
    expect(forms[0]?.body.toString()).toBe('token=x');
  });

  test('N-03 has its head judged before the body is read, and nothing of it logged', async () => {
    const head = `POST ${path}?token=canary HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n`;
    expect(await app.raw(head, /\}$/)).toMatch(/^HTTP\/1\.1 400 /);
    expect(heads).toEqual([[endpoint, undefined, 'token=canary']]);
    await eventually(() => app.lines.some((line) => line['route'] === path && line['status'] === 400));
    expect(JSON.stringify(app.lines)).not.toContain('canary');
  });

  test('N-07 A-24 has the limits of a form', async () => {
    expect((await post(path, 'a'.repeat(16_384))).status).toBe(200);
    expect((await post(path, 'a'.repeat(16_385))).status).toBe(413);
    expect((await post(path, 'x', { ...FORM, 'Content-Encoding': 'gzip' })).status).toBe(415);
  });

  test('passes a refusal on as it is', async () => {
    const headers = { 'WWW-Authenticate': 'Basic realm="gatehouse"' };
    failure = new OAuthError({ ids: [], status: 401, code: 'invalid_client', description: 'no', headers });
    const answer = await post(path, 'token=x');
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Basic realm="gatehouse"']);
    expect(await answer.text()).toBe('{"error":"invalid_client","error_description":"no"}');
  });
});

describe('the answers', () => {
  test('N-47 of a revocation is 200 with an empty body', async () => {
    const answer = await post('/oauth/revoke', 'token=x');
    expect([answer.status, await answer.text()]).toEqual([200, '']);
    expect(answer.headers.get('content-length')).toBe('0');
    expect(answer.headers.get('content-type')).toBeNull();
    expect([answer.headers.get('cache-control'), answer.headers.get('pragma')]).toEqual(['no-store', 'no-cache']);
  });

  test('N-49 about an inactive token is exactly that', async () => {
    const answer = await post('/oauth/introspect', 'token=x');
    expect([answer.status, await answer.text()]).toEqual([200, '{"active":false}']);
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect([answer.headers.get('cache-control'), answer.headers.get('pragma')]).toEqual(['no-store', 'no-cache']);
  });
});

describe('userinfo', () => {
  const TEXT = '{"sub":"alice","name":"alice","email":"alice@example.com","preferred_username":"alice"}';

  test.each(['GET', 'POST'])('N-46 answers %s', async (method) => {
    const answer = await app.get('/oauth/userinfo', { method });
    expect([answer.status, await answer.text()]).toEqual([200, TEXT]);
    expect(bearers).toEqual(['Bearer good']);
  });

  test('N-56 answers HEAD with the headers alone', async () => {
    const answer = await app.get('/oauth/userinfo', { method: 'HEAD' });
    expect([answer.status, await answer.text()]).toEqual([200, '']);
    expect(answer.headers.get('content-length')).toBe(String(TEXT.length));
  });

  test('N-30 takes no token from the form, the query or a cookie', async () => {
    const headers = { ...FORM, Cookie: 'access_token=canary' };
    await post('/oauth/userinfo?access_token=canary', 'access_token=canary', headers);
    expect(bearers).toEqual([undefined]);
    await eventually(() => app.lines.some((line) => line['route'] === '/oauth/userinfo' && line['method'] === 'POST'));
    expect(JSON.stringify(app.lines)).not.toContain('canary');
  });

  test('N-29 two headers are 400', async () => {
    const head =
      'GET /oauth/userinfo HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n';
    const text = await app.raw(head, /\}$/);
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
    expect(text).toContain('WWW-Authenticate: Bearer realm="gatehouse", error="invalid_request"');
    expect(text).toContain('"error":"invalid_request"');
  });
});
