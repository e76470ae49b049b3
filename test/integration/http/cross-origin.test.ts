import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRoutes } from '../../../src/http/app.ts';
import { createOriginTest } from '../../../src/oauth/authorize/redirect-uris.ts';
import { invalidRequest } from '../../../src/oauth/endpoints/refusals.ts';
import { defaultLimits } from '../../support/default-limits.ts';
import { type AppUnderTest, appParts, fakeAuthorizationServer, startApp } from './app-under-test.ts';

const APP = 'https://app.example.com';
const CONSOLE = 'https://console.example.com';
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };

const mayRead = createOriginTest([`${APP}/callback`, 'http://127.0.0.1/callback', 'com.example.app:/callback']);
const authorizationServer = {
  ...fakeAuthorizationServer,
  ...(mayRead ? { mayRead } : {}),
  token: () => Promise.reject(invalidRequest('the parameter grant_type is missing')),
};
const corsOrigins = [CONSOLE];

const ROUTES = createRoutes(appParts({ authorizationServer, corsOrigins })).map(({ template, methods }) => ({
  path: template,
  method: Object.keys(methods)[0] ?? 'GET',
}));
const READABLE = new Set([
  ...['/oauth/token', '/oauth/userinfo', '/oauth/revoke', '/oauth/keys', '/oauth/.well-known/openid-configuration'],
  ...['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server'],
  '/.well-known/oauth-authorization-server/oauth',
]);
const PAGES = new Set(['/oauth/authorize', '/oauth/sign-in']);
const SHARED = ROUTES.filter(({ path }) => READABLE.has(path));
const OTHERS = ROUTES.filter(({ path }) => !READABLE.has(path));

let app: AppUnderTest;
beforeAll(async () => {
  app = await startApp({ authorizationServer, corsOrigins });
});
afterAll(() => app.stop());

/** All that an answer says about origins. */
function sharing({ headers }: Response) {
  const of = (name: string): string | null => headers.get(`access-control-${name}`);
  const [allowed, methods, allows, maxAge] = ['allow-origin', 'allow-methods', 'allow-headers', 'max-age'].map(of);
  return { allowed, methods, allows, maxAge, credentials: of('allow-credentials') };
}
const NOT_SHARED = { allowed: null, methods: null, allows: null, maxAge: null, credentials: null };

const call = (path: string, method: string, headers: Readonly<Record<string, string>>): Promise<Response> =>
  app.get(path.replaceAll(/\{\w+\}/g, 'x'), {
    method,
    headers: { ...FORM, ...headers },
    ...(method === 'POST' ? { body: 'token=x' } : {}),
  });

const preflight = (path: string, origin: string, method = 'POST'): Promise<Response> =>
  call(path, 'OPTIONS', {
    Origin: origin,
    'Access-Control-Request-Method': method,
    'Access-Control-Request-Headers': 'authorization,content-type',
  });

test('ID-10 the endpoints of a browser app are all there', () => {
  expect(SHARED).toHaveLength(READABLE.size);
  expect(OTHERS.length).toBeGreaterThan(20);
});

describe.each(SHARED)('$path', ({ path, method }) => {
  test.each([APP, 'http://127.0.0.1:5173', CONSOLE])('ID-10 may be read by a page of %s', async (origin) => {
    const answer = await call(path, method, { Origin: origin });
    expect(sharing(answer)).toEqual({ ...NOT_SHARED, allowed: origin });
    expect(answer.headers.get('vary')?.split(', ')).toContain('Origin');
    expect(answer.headers.get('access-control-expose-headers')).toContain('WWW-Authenticate');
  });

  test('ID-10 may be read when it is a refusal: 405 and 406', async () => {
    const refusals = [
      await call(path, 'DELETE', { Origin: APP }),
      await call(path, method, { Origin: APP, Accept: 'image/png' }),
    ];
    expect(refusals.map((answer) => [answer.status, sharing(answer).allowed])).toEqual([
      [405, APP],
      [406, APP],
    ]);
  });

  test('ID-10 answers a preflight of such a page, which browsers keep for ten minutes', async () => {
    const answer = await preflight(path, APP, method);
    expect([answer.status, sharing(answer)]).toEqual([
      204,
      {
        allowed: APP,
        methods: answer.headers.get('allow'),
        allows: expect.stringMatching(/^Authorization, Content-Type,/),
        maxAge: '600',
        credentials: null,
      },
    ]);
    expect(answer.headers.get('allow')?.split(', ')).toContain(method);
  });

  test.each(['null', 'https://evil.example.com'])('ID-10 is not for a page of %s', (origin) =>
    expectNotShared({ path, method }, origin),
  );

  test('ID-10 has nothing for a request without an origin', async () => {
    const answer = await call(path, method, {});
    expect(sharing(answer)).toEqual(NOT_SHARED);
    expect(answer.headers.get('vary')?.split(', ')).toContain('Origin');
  });
});

async function expectNotShared(
  { path, method }: { readonly path: string; readonly method: string },
  origin: string,
): Promise<void> {
  for (const answer of [await call(path, method, { Origin: origin }), await preflight(path, origin, method)]) {
    expect(sharing(answer)).toEqual(NOT_SHARED);
    // A cache must not give this answer to the app.
    expect(answer.headers.get('vary')?.split(', ')).toContain('Origin');
  }
}

test.each([
  ...[`${APP}.evil.example.com`, `${APP}:443`, 'http://app.example.com', 'https://APP.example.com', `${APP}/`],
  ...['http://127.0.0.1.evil.example.com', 'https://127.0.0.1:5173', 'http://127.0.0.1:080', 'com.example.app:'],
  `${APP}, https://evil.example.com`,
])('ID-10 %s is another origin', (origin) => expectNotShared({ path: '/oauth/token', method: 'POST' }, origin));

test('ID-10 a page can read why its form was refused: 400, 413', async () => {
  const ask = (body: string): Promise<Response> =>
    app.get('/oauth/token', { method: 'POST', headers: { ...FORM, Origin: APP }, body });
  const answers = [await ask('grant_type='), await ask(`a=${'x'.repeat(20_000)}`)];
  expect(answers.map((answer) => [answer.status, sharing(answer).allowed])).toEqual([
    [400, APP],
    [413, APP],
  ]);
});

test('ID-10 a page can read that there is no seat: 429', async () => {
  const limits = { ...defaultLimits, maxSignInsInFlight: 0, maxRequestsInFlight: 0 };
  const full = await startApp({ authorizationServer, limits });
  const answers = [
    await full.get('/oauth/token', { method: 'POST', headers: { ...FORM, Origin: APP }, body: 'grant_type=' }),
    await full.get('/oauth/keys', { headers: { Origin: APP } }),
  ];
  expect(answers.map((answer) => [answer.status, sharing(answer).allowed])).toEqual([
    [429, APP],
    [429, APP],
  ]);
  await full.stop();
});

test('ID-10 a page can read that the keys have not changed: 304', async () => {
  const { headers } = await call('/oauth/keys', 'GET', {});
  const again = await call('/oauth/keys', 'GET', { Origin: APP, 'If-None-Match': headers.get('etag') ?? '' });
  expect([again.status, sharing(again).allowed, again.headers.get('vary')]).toEqual([
    304,
    APP,
    'Origin, Accept-Encoding',
  ]);
});

test('ID-10 two Origin headers are no origin', async () => {
  const text = await app.raw(
    `GET /oauth/keys HTTP/1.1\r\nHost: x\r\nOrigin: ${APP}\r\nOrigin: https://evil.example.com\r\nConnection: close\r\n\r\n`,
  );
  expect(text).toContain('HTTP/1.1 200 OK');
  expect(text).not.toContain('Access-Control-Allow-Origin');
});

describe.each(OTHERS)('$path', ({ path, method }) => {
  test('ID-10 is not for a browser app', async () => {
    for (const answer of [await call(path, method, { Origin: APP }), await preflight(path, APP, method)])
      expect(sharing(answer)).toEqual(NOT_SHARED);
  });
});

test.each([...PAGES])('ID-10 %s is for people: not even a configured origin may read it', async (path) => {
  for (const answer of [
    await call(path, 'POST', { Origin: CONSOLE }),
    await call(path, 'GET', { Origin: CONSOLE }),
    await preflight(path, CONSOLE),
  ])
    expect(sharing(answer)).toEqual(NOT_SHARED);
});

test('ID-10 N-56 no answer depends on the origin where no public client has pages', async () => {
  const plain = await startApp();
  const answer = await plain.get('/oauth/keys', { headers: { Origin: APP } });
  expect([sharing(answer), answer.headers.get('vary')]).toEqual([NOT_SHARED, 'Accept-Encoding']);
  await plain.stop();
});
