import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AnswerWriter, NO_BODY } from '../../src/http/answer/answer.ts';
import { createRoutes, serveRoutes } from '../../src/http/app.ts';
import type { Route } from '../../src/http/exchange.ts';
import { type AppUnderTest, appParts, startApp } from './http/app-under-test.ts';
import { gatewayUnderTest } from './http/gateway-under-test.ts';

/** What docs/contract/http.md, section 2, lists as public. The table's own word does not count: it is what this test is about. */
const PUBLIC = new Set([
  '/healthz',
  '/healthz/{check}',
  '/livez',
  '/livez/{check}',
  '/readyz',
  '/readyz/{check}',
  '/version',
  '/kapis/version',
  '/openapi',
  '/openapi/platform.json',
  '/openapi/platform.yaml',
  '/openapi/crd.json',
  '/openapi/crd.yaml',
  '/.well-known/openid-configuration',
  '/.well-known/oauth-authorization-server',
  '/.well-known/oauth-authorization-server/oauth',
  '/oauth/.well-known/openid-configuration',
  '/oauth/keys',
  '/oauth/authorize', // a page, or a redirect to a registered address
  '/oauth/sign-in', // asks for a name and a password itself
  '/oauth/new-password', // wants a page that proves a password
  '/oauth/consent', // asks for the session of a browser itself
  '/oauth/sign-out', // asks for the session of a browser itself
  '/oauth/device_authorization', // asks for client credentials itself
  '/oauth/device', // asks for the session of a browser itself
  '/oauth/device-decision', // asks for the session of a browser itself
  '/oauth/token', // asks for client credentials itself
  '/oauth/userinfo', // asks for its bearer itself, and answers in the words of OAuth
  '/oauth/revoke', // asks for client credentials itself
  '/oauth/introspect', // asks for client credentials itself
  '/oauth/authenticate', // asks for a caller's credentials itself
  '/', // nothing of a person or of the cluster is in the page
  '/ui/settings.json', // names and features, for the page
  '/ui/*',
  '/assets/{file}',
  '/kapis/config.gatehouse.io/v1alpha2/configs/configz', // names of what is served, and lifetimes
  '/kapis/config.gatehouse.io/v1alpha2/configs/oauth',
  '/oauth/logout', // ends what its bearer names; without one it ends nothing
]);

const FIRST_PASSWORD = '/apis/iam.gatehouse.io/v1alpha2/users/{user}';

const OF_THE_CLUSTER = /^\/(apis?|openapi\/v3)\/\*$|^\/openapi\/v2$/;

/** A caller without the right gets a part of these lists, which may be empty. */
const NARROWED =
  /^\/kapis\/tenant\.gatehouse\.io\/v1alpha2\/(?:workspaces\/\{workspace\}\/)?namespaces$|\/workspace(?:template)?s$/;

/** What any signed-in caller may have, without a further right. */
const SIGNED_IN = (template: string): boolean =>
  NARROWED.test(template) ||
  template.includes('/v1alpha2/components') || // shows what its caller may see
  template.endsWith('/configs/gpu/kinds') || // nothing is in these
  template === '/kapis/monitoring.gatehouse.io/v1alpha3/*' ||
  template.endsWith('/clusters') ||
  /^\/kapis(\/[^/]+){0,2}$/.test(template) ||
  template.startsWith('/kapis/logging.gatehouse.io/') ||
  template === '/kapis/resources.gatehouse.io/v1alpha3/search' || // shows what its caller may see
  template === '/ui/session' || // wants the session of a browser
  template.endsWith('/{resource}/{name}/log') || // which the cluster judges
  template === FIRST_PASSWORD || // for oneself alone, by what the body says
  OF_THE_CLUSTER.test(template); // which judges itself

const pathOf = (template: string): string => template.replaceAll(/\{\w+\}/g, 'x');

/** Every way to ask for what a route serves: each of its methods, and a watch where it offers one. */
function waysTo({ template, methods, watch }: Route): { readonly method: string; readonly path: string }[] {
  const path = pathOf(template);
  const paths = watch ? [path, `${path}?watch=true`, `${path}?watch=1&allowWatchBookmarks=true`] : [path];
  return paths.flatMap((one) => Object.keys(methods).map((method) => ({ method, path: one })));
}

/** The head of an answer, which is left at once: a watch would never end. */
async function answerOf(url: string, init: RequestInit): Promise<Response> {
  const stop = new AbortController();
  const answer = await fetch(url, { ...init, signal: stop.signal });
  stop.abort();
  return answer;
}

/**
 * Calls every method of every route without a token, then with the token of somebody who has no rights, and returns what
 * answered although it should not have.
 */
async function walk(routes: readonly Route[], app: AppUnderTest): Promise<string[]> {
  const complaints: string[] = [];
  for (const route of routes) {
    const { template } = route;
    if (PUBLIC.has(template)) continue;
    for (const { method, path } of waysTo(route)) {
      const what = `${method} ${path} (${template})`;
      const anonymous = await answerOf(app.url + path, { method });
      if (anonymous.status !== 401) complaints.push(`${what} answers ${anonymous.status} to nobody`);
      if (!anonymous.headers.has('www-authenticate')) complaints.push(`${what} has no challenge`);
      if (SIGNED_IN(template)) continue;
      const powerless = await answerOf(app.url + path, { method, headers: { Authorization: 'Bearer powerless' } });
      if (powerless.status !== 403) complaints.push(`${what} answers ${powerless.status} without the right`);
    }
  }
  return complaints;
}

describe('the walk over all routes', () => {
  let app: AppUnderTest;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app.stop());

  test('N-32 nothing but the public paths answers without a token, nor without the right', async () => {
    expect(await walk(createRoutes(appParts()), app)).toEqual([]);
  });

  test('N-32 the paths of the cluster answer nothing without a token', async () => {
    const opened = await startApp({ gateway: gatewayUnderTest() });
    const all = createRoutes(appParts({ gateway: gatewayUnderTest() }));
    const routes = all.filter(({ admission }) => admission === 'gateway');
    expect(routes.map(({ template }) => template)).toContain('/apis/*');
    expect(await walk(routes, opened)).toEqual([]);
    await opened.stop();
  });

  test('N-32 goes over the watches as well', () => {
    const paths = createRoutes(appParts()).flatMap((route) => waysTo(route).map(({ path }) => path));
    expect(paths.filter((path) => path.includes('watch=true')).length).toBeGreaterThan(0);
  });

  test('N-32 a verb that no route has is refused in the same order', async () => {
    const path = '/kapis/resources.gatehouse.io/v1alpha3/nodes';
    expect((await fetch(app.url + path, { method: 'DELETE' })).status).toBe(401);
    expect((await app.get(path, { method: 'DELETE', headers: { Authorization: 'Bearer powerless' } })).status).toBe(
      403,
    );
    expect((await app.get(path, { method: 'DELETE' })).status).toBe(405);
  });
});

describe('the walk over a table with an unguarded route', () => {
  const writer = new AnswerWriter(appParts().clock, 1_000);
  const planted = (access: Route['access']): Route => ({
    template: '/kapis/resources.gatehouse.io/v1alpha3/secrets/{name}/{part}/{more}',
    access,
    admission: 'other',
    produces: 'json',
    methods: { GET: (exchange) => writer.send(exchange, 200, {}, NO_BODY) },
  });

  test.each(['public', 'signed-in'] as const)('complains of one that the table calls %s', async (access) => {
    const open = { authorize: () => ({ allowed: true, source: 'cache' as const }) };
    // `signed-in` is enforced by the shape of the path, so only an authorizer that lets everybody in can open it.
    const change = access === 'public' ? {} : { authorizer: open };
    const app = await startApp(change, (parts) => serveRoutes([...createRoutes(parts), planted(access)], parts));
    try {
      const complaints = await walk([planted(access)], app);
      expect(complaints).not.toEqual([]);
      expect(complaints[0]).toContain('/secrets/{name}');
    } finally {
      await app.stop();
    }
  });
});
