import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRoutes } from '../../../src/http/app.ts';
import { type AppUnderTest, appParts, startApp } from './app-under-test.ts';

/** Everything under /oauth, whatever is added to it. */
const ROUTES = createRoutes(appParts())
  .filter(({ template }) => template.startsWith('/oauth/'))
  .map(({ template, methods, produces }) => ({ path: template, methods: Object.keys(methods), produces }));

let app: AppUnderTest;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

const call = (path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(app.url + path, { redirect: 'manual', ...init });

/** Status and code of an error in the words of OAuth, kept by nobody. */
async function refusal(answer: Response): Promise<[number, string]> {
  expect(answer.headers.get('content-type')).toBe('application/json');
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(answer.headers.get('pragma')).toBe('no-cache');
  const body = (await answer.json()) as { error: string; error_description: string };
  expect(Object.keys(body)).toEqual(['error', 'error_description']);
  expect(body.error_description).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
  return [answer.status, body.error];
}

const body = (method: string): RequestInit =>
  method === 'POST' ? { method, body: new URLSearchParams({ token: 'x' }) } : { method };

describe.each(ROUTES)('$path', ({ path, methods, produces }) => {
  const allow = [...methods, 'OPTIONS'].sort().join(', ');

  test('N-56 has HEAD where it has GET, logout aside', () => {
    const expected = methods.includes('GET') && path !== '/oauth/logout';
    expect(methods.includes('HEAD')).toBe(expected);
  });

  test('N-01 answers 405 with Allow to every other method', async () => {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter((one) => !methods.includes(one))) {
      const answer = await call(path, { method });
      expect(answer.headers.get('allow')).toBe(allow);
      expect(await refusal(answer)).toEqual([405, 'invalid_request']);
    }
  });

  test('N-56 answers OPTIONS with 204 and Allow', async () => {
    const answer = await call(path, { method: 'OPTIONS' });
    expect([answer.status, answer.headers.get('allow'), await answer.text()]).toEqual([204, allow, '']);
  });

  test('answers 406 to a caller that takes no JSON, unless it is for browsers', async () => {
    for (const method of methods.filter((one) => one !== 'HEAD')) {
      const answer = await call(path, { ...body(method), headers: { Accept: 'image/png' } });
      if (produces === 'json') expect(await refusal(answer)).toEqual([406, 'invalid_request']);
      else expect([200, 303]).toContain(answer.status);
    }
  });

  test('takes a trailing slash', async () => {
    for (const method of methods) {
      const [plain, slashed] = [await call(path, body(method)), await call(`${path}/`, body(method))];
      expect([slashed.status, await slashed.text()]).toEqual([plain.status, await plain.text()]);
    }
  });

  test('N-57 may be kept only if it is a public document', async () => {
    const isDocument = path === '/oauth/keys' || path.includes('/.well-known/');
    for (const method of methods) {
      const answer = await call(path, body(method));
      expect(answer.headers.get('cache-control')).toBe(isDocument ? 'public, max-age=300' : 'no-store');
      expect(answer.headers.get('pragma')).toBe(isDocument ? null : 'no-cache');
    }
  });
});

test('ID-09 the keys may be kept for less than ten minutes, also when they were asked for again', async () => {
  const first = await call('/oauth/keys');
  const again = await call('/oauth/keys', { headers: { 'If-None-Match': first.headers.get('etag') ?? '' } });
  expect([first.status, again.status]).toEqual([200, 304]);
  for (const { headers } of [first, again]) {
    const [, seconds] = /^public, max-age=(\d+)$/.exec(headers.get('cache-control') ?? '') ?? [];
    expect(Number(seconds)).toBeLessThanOrEqual(600);
  }
});

describe('below /oauth', () => {
  test.each(['/oauth', '/oauth/', '/oauth/nope', '/oauth/token/x', '/oauth/login/github', '/oauth/callback/x'])(
    'N-50 %s is nothing: 404 invalid_request, whatever the method and the bearer',
    async (path) => {
      for (const method of ['GET', 'POST', 'DELETE']) {
        const answer = await call(path, { method, headers: { Authorization: 'Bearer a b' } });
        expect(await refusal(answer)).toEqual([404, 'invalid_request']);
      }
    },
  );
});
