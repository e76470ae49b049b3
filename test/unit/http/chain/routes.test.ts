import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import type { AnswerBody, AnswerHeaders, AnswerWriter } from '../../../../src/http/answer/answer.ts';
import { createRoutes } from '../../../../src/http/app.ts';
import { createReadRequestInfo } from '../../../../src/http/chain/authorize.ts';
import { createRouter, middleware } from '../../../../src/http/chain/chain.ts';
import {
  mountRoutes,
  refuseUnknownPaths,
  refuseUnknownPublicPaths,
  refuseWithdrawnPaths,
} from '../../../../src/http/chain/routes.ts';
import { Exchange, type Method, type Route } from '../../../../src/http/exchange.ts';
import { parseTarget, type Target } from '../../../../src/http/target.ts';
import type { EndSessionRequest, FormRequest } from '../../../../src/oauth/authorization-server.ts';
import { StatusError } from '../../../../src/status-error.ts';
import {
  appParts,
  fakeAuthorizationServer,
  listsWith,
  listText,
  nodeText,
  type TestParts,
} from '../../../integration/http/app-under-test.ts';

interface Asked {
  readonly method?: Method;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The routes of an app, and what each request gets from them: no port, no caller, no limits. */
function serve(change: Partial<TestParts> = {}) {
  const sent: { status: number; headers: AnswerHeaders; text: string }[] = [];
  const writer: Pick<AnswerWriter, 'send'> = {
    send: (_exchange, status, headers, { pieces }: AnswerBody) => {
      sent.push({ status, headers, text: Buffer.concat(pieces).toString() });
      answered();
    },
  };
  let answered = (): void => {};
  const routes = createRoutes(appParts({ writer: writer as AnswerWriter, ...change }));
  const router = createRouter();
  mountRoutes(router, routes, ({ access }) =>
    access === 'public' ? [] : [createReadRequestInfo(), refuseWithdrawnPaths].map(middleware),
  );
  const unknown = [refuseUnknownPublicPaths('gatehouse'), createReadRequestInfo(), refuseUnknownPaths('gatehouse')];
  router.use(...unknown.map(middleware));
  const ask = async (target: string, { method = 'GET', headers = {}, body }: Asked = {}) => {
    const all = body === undefined ? headers : { ...headers, 'content-length': String(body.length) };
    const stream = Readable.from(body === undefined ? [] : [Buffer.from(body)]);
    const request = Object.assign(stream, { method, headers: all, httpVersion: '1.1', socket: {} });
    const response = new EventEmitter();
    const exchange = new Exchange({
      request: request as unknown as IncomingMessage,
      response: response as unknown as ServerResponse,
      rawTarget: target,
      requestId: 'r-1',
      ownRequestId: 'r-2',
      startedAt: 0,
      source: '192.0.2.1',
      corsHeaders: [],
    });
    exchange.located(parseTarget(target, undefined) as Target);
    let admitted = 0;
    exchange.admitLater(() => admitted++);
    Object.assign(request, { url: exchange.target.path });
    Object.assign(response, { locals: { exchange } });
    await new Promise<void>((resolve, reject) => {
      answered = resolve;
      router(request as never, response as never, reject);
    });
    const answer = sent.at(-1);
    return { ...(answer as NonNullable<typeof answer>), exchange, admitted };
  };
  const refusal = async (...asked: Parameters<typeof ask>): Promise<StatusError['answer']> => {
    const error: unknown = await ask(...asked).then(
      () => new Error('nothing was refused'),
      (reason: unknown) => reason,
    );
    if (error instanceof StatusError) return error.answer;
    throw error;
  };
  return { routes, ask, refusal };
}

const GROUP = '/kapis/resources.gatehouse.io';
const IAM_GROUP = '/kapis/iam.gatehouse.io';
const IAM = `${IAM_GROUP}/v1alpha2`;
const TENANT = '/kapis/tenant.gatehouse.io';
const CONFIG = '/kapis/config.gatehouse.io/v1alpha2/configs';
const LIST = `${GROUP}/v1alpha3/nodes`;
const JSON_TYPE = { 'Content-Type': 'application/json' };
const NO_STORE = { 'Cache-Control': 'no-store', Pragma: 'no-cache' };

describe('the table of routes', () => {
  test('says of each path who may use it, which places it takes, and its methods', () => {
    const { routes } = serve();
    const table = routes.map(({ template, access, admission, readsForm, produces, methods, watch }) =>
      [template, access, admission, produces, Object.keys(methods).join(), readsForm && 'form', watch && 'watch']
        .filter(Boolean)
        .join(' '),
    );
    const health = ['/healthz', '/livez', '/readyz'].flatMap((path) => [path, `${path}/{check}`]);
    const publicly = (paths: readonly string[], rest: string): string[] =>
      paths.map((path) => `${path} public ${rest}`);
    const metadata = [
      '/.well-known/openid-configuration',
      '/.well-known/oauth-authorization-server',
      '/.well-known/oauth-authorization-server/oauth',
      '/oauth/.well-known/openid-configuration',
    ];
    const logs = '/kapis/logging.gatehouse.io/v1alpha2';
    expect(table).toEqual([
      `${GROUP}/v1alpha3/search signed-in other json GET,HEAD`,
      `${LIST} authorized other json GET,HEAD watch`,
      `${LIST}/{name} authorized other json GET,HEAD`,
      `${GROUP}/v1alpha3/nodesummary authorized other json GET,HEAD`,
      `${GROUP}/v1alpha3/namespaces authorized other json GET,HEAD watch`,
      `${GROUP}/v1alpha3/namespaces/{name} authorized other json GET,HEAD`,
      '/oauth/token public sign-in json POST form',
      '/oauth/userinfo public other json GET,HEAD,POST',
      '/oauth/revoke public other json POST form',
      '/oauth/introspect public other json POST form',
      '/oauth/device_authorization public other json POST form',
      '/oauth/logout public other any GET,POST form',
      ...publicly(['/oauth/keys', ...metadata], 'other json GET,HEAD'),
      '/oauth/authorize public other any GET,HEAD,POST form',
      '/oauth/sign-in public sign-in any GET,HEAD,POST form',
      '/oauth/new-password public sign-in any POST form',
      '/oauth/consent public other any POST form',
      '/oauth/sign-out public other any POST form',
      '/oauth/device public other any GET,HEAD,POST form',
      '/oauth/device-decision public other any POST form',
      '/oauth/authenticate public other json POST form',
      `${IAM}/users authorized other json GET,HEAD,POST form`,
      `${IAM}/users/{user} authorized other json GET,HEAD,PUT,DELETE form`,
      `${IAM}/users/{user}/password authorized other json PUT form`,
      ...['/users/{user}/globalroles', '/users/{user}/loginrecords', '/globalroles', '/globalroles/{role}'].map(
        (path) => `${IAM}${path} authorized other json GET,HEAD`,
      ),
      '/apis/iam.gatehouse.io/v1alpha2/users/{user} signed-in other json PATCH form',
      '/kapis/tenant.gatehouse.io/v1alpha2/logs authorized other any GET,HEAD',
      '/kapis/tenant.gatehouse.io/v1alpha2/events authorized other any GET,HEAD',
      '/kapis/tenant.gatehouse.io/v1alpha2/auditing/events authorized other any GET,HEAD',
      ...[
        '/workspaces/{workspace}',
        '/namespaces/{namespace}',
        '/namespaces/{namespace}/workloads/{workload}',
        '/namespaces/{namespace}/pods/{pod}',
      ].map((path) => `${logs}${path} signed-in other any GET`),
      `${logs}/fluentbit/outputs signed-in other any GET,POST`,
      `${logs}/fluentbit/outputs/{output} signed-in other any PUT,DELETE`,
      ...['cluster', 'nodes', 'nodes/{node}'].map(
        (path) => `/kapis/monitoring.gatehouse.io/v1alpha3/${path} authorized other json GET,HEAD`,
      ),
      '/kapis/monitoring.gatehouse.io/v1alpha3/* signed-in other json GET,HEAD',
      ...[
        'v1alpha3/workspacetemplates',
        'v1alpha3/workspacetemplates/{workspace}',
        'v1alpha3/workspaces',
        'v1alpha3/workspaces/{workspace}',
        'v1alpha2/workspaces',
        'v1alpha2/workspaces/{workspace}',
        'v1alpha2/namespaces',
        'v1alpha2/workspaces/{workspace}/namespaces',
        'v1alpha2/workspaces/{workspace}/namespaces/{namespace}',
        'v1alpha2/workspaces/{workspace}/workspacemembers/{member}/namespaces',
      ].map((path) => `${TENANT}/${path} authorized other json GET,HEAD`),
      ...['clusters', 'workspaces/{workspace}/clusters'].map(
        (path) => `${TENANT}/v1alpha2/${path} signed-in other json GET,HEAD`,
      ),
      ...[
        'clustermembers/{member}/clusterroles',
        'workspaces/{workspace}/workspacemembers/{member}/workspaceroles',
        'namespaces/{namespace}/members/{member}/roles',
      ].map((path) => `${IAM}/${path} signed-in other json GET,HEAD`),
      `${GROUP}/v1alpha2/namespaces/{namespace}/quotas authorized other json GET,HEAD`,
      ...['namespaces/{namespace}/abnormalworkloads', 'abnormalworkloads'].map(
        (path) => `${GROUP}/v1alpha2/${path} signed-in other json GET,HEAD`,
      ),
      ...['components', 'components/{component}'].map(
        (path) => `${GROUP}/v1alpha2/${path} signed-in other json GET,HEAD`,
      ),
      ...publicly([`${CONFIG}/configz`, `${CONFIG}/oauth`], 'other json GET,HEAD'),
      `${CONFIG}/gpu/kinds signed-in other json GET,HEAD`,
      ...publicly(['/'], 'other any GET,HEAD'),
      ...publicly(['/ui/settings.json'], 'other json GET,HEAD'),
      '/ui/session signed-in other json POST,DELETE',
      ...publicly(['/ui/*', '/assets/{file}'], 'other any GET,HEAD'),
      ...publicly(health, 'health any GET,HEAD'),
      ...publicly(['/version', '/kapis/version'], 'other json GET,HEAD'),
      ...publicly(
        ['/openapi', '/openapi/platform.json', '/openapi/platform.yaml', '/openapi/crd.json', '/openapi/crd.yaml'],
        'other any GET,HEAD',
      ),
      ...['/kapis', IAM_GROUP, GROUP, IAM, `${GROUP}/v1alpha3`].map((path) => `${path} signed-in other json GET,HEAD`),
    ]);
  });
});

describe('mounting routes', () => {
  const mount = (...templates: string[]): void => {
    const [route] = serve().routes;
    const routes = templates.map((template) => ({ ...(route as Route), template }));
    mountRoutes(createRouter(), routes, () => []);
  };

  test.each([
    [['/a/{x}', '/a/b'], 'the route /a/b can never be reached: /a/{x} comes before it and takes its paths'],
    [['/{x}/{y}/c', '/z', '/a/{y}/c'], 'the route /a/{y}/c can never be reached: /{x}/{y}/c comes before it'],
    [['/a/{x}', '/a/{y}'], 'the route /a/{y} can never be reached: /a/{x} comes before it'],
    [['/a', '/a'], 'the route /a can never be reached: /a comes before it'],
    [['/a/*', '/a/b/c'], 'the route /a/b/c can never be reached: /a/* comes before it'],
    [['/a/*', '/a'], 'the route /a can never be reached: /a/* comes before it'],
  ])('fails for %j', (templates, message) => {
    expect(() => mount(...templates)).toThrow(message);
  });

  test.each([
    [['/a/b', '/a/{x}']],
    [['/a/{x}', '/a']],
    [['/a/{x}', '/a/b/c']],
    [['/{x}/b', '/a/{y}']],
    [['/a/b', '/a/*']],
    [['/a/*', '/ab']],
  ])('takes %j, each of which is reached by some path', (templates) => {
    expect(() => mount(...templates)).not.toThrow();
  });
});

describe('a route', () => {
  test('is answered by its method alone, and in JSON where it produces that', async () => {
    const { refusal } = serve();
    expect(await refusal('/version', { method: 'POST' })).toMatchObject({
      code: 405,
      headers: { Allow: 'GET, HEAD, OPTIONS' },
    });
    expect(await refusal('/version', { headers: { accept: 'text/html' } })).toMatchObject({
      code: 406,
      message: 'only the following media types are accepted: application/json',
    });
  });

  test('that is not there is 404 under /oauth and in the group of configurations, before anybody signs in', async () => {
    const { refusal } = serve();
    for (const path of ['/oauth', '/oauth/x', '/kapis/config.gatehouse.io', '/kapis/config.gatehouse.io/v1/x'])
      expect(await refusal(path)).toMatchObject({ code: 404, reason: 'NotFound', details: {} });
    expect(await refusal('/kapis/a.io/v1/things')).toMatchObject({
      code: 404,
      details: { group: 'a.io', kind: 'things' },
    });
  });

  test('that was withdrawn is 410, whatever the method', async () => {
    const { refusal } = serve();
    const path = '/kapis/logging.gatehouse.io/v1alpha2/namespaces/a%20b/pods/c';
    for (const method of ['GET', 'DELETE'] as const)
      expect(await refusal(path, { method })).toMatchObject({
        code: 410,
        message:
          'this endpoint was removed in release 3.4; use GET /kapis/tenant.gatehouse.io/v1alpha2/logs?namespaces=a%20b&pods=c',
      });
  });
});

describe('discovery', () => {
  const version = { groupVersion: 'resources.gatehouse.io/v1alpha3', version: 'v1alpha3' };
  const group = { name: 'resources.gatehouse.io', versions: [version], preferredVersion: version };
  const nodes = {
    ...{ name: 'nodes', singularName: 'node', namespaced: false, kind: 'Node' },
    ...{ verbs: ['get', 'list', 'watch'], shortNames: ['no'] },
  };
  const namespaces = {
    ...{ name: 'namespaces', singularName: 'namespace', namespaced: false, kind: 'Namespace' },
    ...{ verbs: ['get', 'list', 'watch'], shortNames: ['ns'] },
  };
  const iamVersion = { groupVersion: 'iam.gatehouse.io/v1alpha2', version: 'v1alpha2' };
  const iam = { name: 'iam.gatehouse.io', versions: [iamVersion], preferredVersion: iamVersion };
  test.each([
    ['/kapis', { kind: 'APIGroupList', apiVersion: 'v1', groups: [iam, group] }],
    [GROUP, { kind: 'APIGroup', apiVersion: 'v1', ...group }],
    [
      `${GROUP}/v1alpha3`,
      { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: version.groupVersion, resources: [nodes, namespaces] },
    ],
  ])('%s names what is served', async (path, document) => {
    const { status, headers, text } = await serve().ask(path);
    expect([status, text]).toEqual([200, JSON.stringify(document)]);
    expect(headers).toMatchObject({ ...JSON_TYPE, 'Cache-Control': 'private, no-cache' });
  });
});

describe('health', () => {
  const checks = (reason: string | undefined, counts = true) => ({
    health: [
      { name: 'one', endpoints: ['readyz', 'livez'] as const, check: () => undefined },
      { name: 'two', endpoints: ['readyz'] as const, counts, check: () => reason },
    ],
  });

  test('is one word, and with verbose a line for each check', async () => {
    const { ask } = serve(checks(undefined));
    const { status, headers, text } = await ask('/readyz');
    expect([status, headers, text]).toEqual([
      200,
      { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' },
      'ok',
    ]);
    expect((await ask('/readyz?verbose&exclude=one')).text).toBe(
      '[+]ping ok\n[+]one excluded: ok\n[+]two ok\nreadyz check passed',
    );
    expect((await ask('/livez?verbose')).text).toBe('[+]ping ok\n[+]one ok\nlivez check passed');
    expect((await ask('/readyz/one?verbose')).text).toBe('[+]one ok\nreadyz check passed');
  });

  test('is 503 with the checks that fail, and never with the reason', async () => {
    const { ask, refusal } = serve(checks('canary'));
    expect(await refusal('/readyz')).toMatchObject({
      ...{ code: 503, reason: 'ServiceUnavailable', message: 'readyz check failed' },
      details: { causes: [{ reason: 'CheckFailed', message: 'failed: reason withheld', field: 'two' }] },
    });
    expect((await ask('/readyz?exclude=two')).text).toBe('ok');
    expect((await ask('/livez')).text).toBe('ok');
  });

  test('names the right that is missing, and nothing else of the reason', async () => {
    const missing = checks('canary');
    const [one, two] = missing.health;
    const { refusal } = serve({ health: [one!, { ...two!, missingRight: () => 'who may not do what' }] });
    expect((await refusal('/readyz')).details?.causes).toEqual([
      { reason: 'CheckFailed', message: 'failed: who may not do what', field: 'two' },
    ]);
  });

  test('shows a check that does not count, which fails alone', async () => {
    const { ask, refusal } = serve(checks('canary', false));
    expect((await ask('/readyz?verbose')).text).toBe(
      '[+]ping ok\n[+]one ok\n[-]two failed: reason withheld (does not count)\nreadyz check passed',
    );
    expect((await refusal('/readyz/two')).details?.causes).toMatchObject([{ message: 'failed: reason withheld' }]);
  });

  test.each(['/readyz/three', '/livez/two', '/healthz/one'])('is 404 for a check that %s has not', async (path) => {
    expect(await serve(checks(undefined)).refusal(path)).toMatchObject({ code: 404 });
  });
});

describe('the version', () => {
  test('is the level of the API with our release, and that of the cluster once it is known', async () => {
    const state: { cluster?: Record<string, unknown> } = {};
    const { ask } = serve({ clusterVersion: () => state.cluster });
    const own = {
      ...{ gitVersion: 'v3.4.1+gatehouse.0.4.0', gitMajor: '3', gitMinor: '4', gatehouse: 'v0.4.0' },
      ...{ gitCommit: 'c'.repeat(40), gitTreeState: 'clean', buildDate: '2026-11-01T10:00:00Z' },
      ...{ nodeVersion: 'v26.1.0', platform: 'linux/amd64' },
    };
    const first = await ask('/version');
    expect(first.text).toBe(JSON.stringify(own));
    expect(first.headers).toMatchObject({ ...JSON_TYPE, 'Cache-Control': 'no-cache' });
    state.cluster = { minor: '34' };
    expect((await ask('/kapis/version')).text).toBe(JSON.stringify({ ...own, kubernetes: { minor: '34' } }));
  });
});

describe('nodes', () => {
  test('are sent with how old they are', async () => {
    const { ask } = serve({ lists: listsWith({ age: { staleSeconds: () => 300 } }) });
    const stale = { Age: '300', Warning: '110 - "Response is Stale"' };
    for (const [path, text] of [
      [LIST, listText],
      [`${LIST}/worker-1`, nodeText],
    ] as const) {
      const answer = await ask(path);
      expect([answer.status, answer.text]).toEqual([200, text]);
      expect(answer.headers).toMatchObject({ ...JSON_TYPE, 'Cache-Control': 'private, no-cache', ...stale });
    }
  });

  test('that are not there are 404 by their name', async () => {
    expect(await serve().refusal(`${LIST}/worker-9`)).toMatchObject({
      code: 404,
      message: 'nodes "worker-9" not found',
    });
  });

  test('are not watched in a form that is not offered', async () => {
    expect(await serve().refusal(`${LIST}?watch=1`, { headers: { accept: 'text/html' } })).toMatchObject({
      code: 406,
      message: 'only the following media types are accepted: application/json, text/event-stream',
    });
  });
});

describe('the routes under /oauth', () => {
  const ORIGIN = {
    ...{ source: '192.0.2.1', requestId: 'r-1', ownRequestId: 'r-2' },
    request: expect.objectContaining({ id: 'r-2', status: expect.any(Number) }),
    actorKnown: expect.any(Function),
  };
  const HEADERS = { 'content-type': 'text/x', authorization: 'Basic eA==' };

  test.each([
    [
      'token',
      { ...JSON_TYPE, ...NO_STORE },
      '{"access_token":"aaa","token_type":"Bearer","refresh_token":"rrr","expires_in":7200}',
    ],
    ['introspect', { ...JSON_TYPE, ...NO_STORE }, '{"active":false}'],
    ['revoke', NO_STORE, ''],
  ] as const)(
    'hand a form to %s when its head was judged, and take its place when it has come',
    async (name, headers, text) => {
      const seen: unknown[] = [];
      const server = {
        ...fakeAuthorizationServer,
        checkFormHead: (...head: unknown[]) => void seen.push(head),
        [name]: (request: FormRequest) => {
          seen.push({ ...request, body: request.body.toString() });
          request.actorKnown?.({ user: 'alice' });
          return fakeAuthorizationServer[name](request);
        },
      };
      const answer = await serve({ authorizationServer: server }).ask(`/oauth/${name}?a=b`, {
        ...{ method: 'POST', headers: HEADERS, body: 'c=d' },
      });
      expect(answer).toMatchObject({ status: 200, headers, text, admitted: 1 });
      expect(seen).toEqual([
        [name, 'text/x', 'a=b'],
        {
          ...ORIGIN,
          ...{ authorization: 'Basic eA==', body: 'c=d', signal: expect.any(AbortSignal) },
          ...{ address: '192.0.2.1', userAgent: undefined },
        },
      ]);
      expect(answer.exchange.actor).toEqual({ user: 'alice' });
    },
  );

  test('give the caller of userinfo what its bearer stands for', async () => {
    const seen: unknown[] = [];
    const userinfo: typeof fakeAuthorizationServer.userinfo = (authorization, actorKnown) => {
      seen.push(authorization);
      actorKnown?.({ user: 'alice' });
      return { sub: 'alice', name: 'alice', preferred_username: 'alice' };
    };
    const { ask } = serve({ authorizationServer: { ...fakeAuthorizationServer, userinfo } });
    for (const method of ['GET', 'POST'] as const) {
      const answer = await ask('/oauth/userinfo', { method, headers: HEADERS });
      expect(answer).toMatchObject({ status: 200, headers: { ...JSON_TYPE, ...NO_STORE } });
      expect(JSON.parse(answer.text)).toMatchObject({ sub: 'alice' });
      expect(answer.exchange.actor).toEqual({ user: 'alice' });
    }
    expect(seen).toEqual(['Basic eA==', 'Basic eA==']);
  });

  test.each([
    ['GET', undefined, undefined, undefined],
    ['POST', 'e=f', 'https://there.example.com/', 303],
    ['GET', undefined, 'https://there.example.com/', 302],
    ['POST', undefined, undefined, undefined],
  ] as const)('N-25 sign out by %s with %s, and send the browser to %s', async (method, body, location, status) => {
    const seen: EndSessionRequest[] = [];
    const logout = async (request: EndSessionRequest) => {
      seen.push(request);
      return location === undefined ? {} : { location };
    };
    const { ask } = serve({ authorizationServer: { ...fakeAuthorizationServer, logout } });
    const answer = await ask('/oauth/logout?a=b', {
      method,
      headers: HEADERS,
      ...(body === undefined ? {} : { body }),
    });
    expect(seen).toEqual([
      {
        ...{ ...ORIGIN, method, queryString: 'a=b', authorization: 'Basic eA==' },
        ...(body === undefined ? {} : { form: { contentType: 'text/x', body: Buffer.from(body) } }),
      },
    ]);
    expect([answer.status, answer.headers, answer.text, answer.admitted]).toEqual(
      status === undefined
        ? [200, { ...JSON_TYPE, ...NO_STORE }, '{"message":"success"}', 1]
        : [status, { Location: location, ...NO_STORE }, '', 1],
    );
  });

  test('send keys and metadata, which may be kept for five minutes', async () => {
    const { ask } = serve();
    const paths = ['/oauth/keys', '/.well-known/openid-configuration'];
    for (const [at, path] of paths.entries()) {
      const document = [fakeAuthorizationServer.keys(), fakeAuthorizationServer.metadata()][at];
      const { headers, text } = await ask(path);
      expect(text).toBe(document?.body.toString());
      expect(headers).toMatchObject({ ...JSON_TYPE, 'Cache-Control': 'public, max-age=300', ETag: '"d-1"' });
    }
  });

  test('N-58 hand a review to the webhook when its caller was let in, and take its place when it has come', async () => {
    const seen: unknown[] = [];
    const status = { authenticated: false } as const;
    const tokenReviews: TestParts['tokenReviews'] = {
      checkHead: (head) => {
        seen.push(head);
        return 'bearer';
      },
      review: (body, origin) => {
        seen.push([body.toString(), origin]);
        return { apiVersion: 'v', kind: 'TokenReview', status };
      },
    };
    const { ask } = serve({ tokenReviews });
    const answer = await ask('/oauth/authenticate?timeout=30s', { method: 'POST', headers: HEADERS, body: '{}' });
    expect(answer).toMatchObject({ status: 200, headers: { ...JSON_TYPE, ...NO_STORE }, admitted: 1 });
    expect(answer.text).toBe('{"apiVersion":"v","kind":"TokenReview","status":{"authenticated":false}}');
    const proof = { authorization: 'Basic eA==', certificateNames: [], hasShownCertificate: false };
    expect(seen).toEqual([{ ...ORIGIN, contentType: 'text/x', ...proof }, ['{}', { ...ORIGIN, askedBy: 'bearer' }]]);
  });
});

describe('the description', () => {
  test('is served with our groups, our realm and our release', async () => {
    const platformYaml = 'info:\n  version: 0.0.0\nx: a.gatehouse.io, realm="gatehouse", gatehouse\n';
    const parseYaml = (text: string): unknown => ({ text });
    const { ask } = serve({ platform: 'acme', descriptions: { platformYaml, crdYaml: '', parseYaml } });
    const adapted = 'info:\n  version: 0.4.0\nx: a.acme.io, realm="acme", gatehouse\n';
    expect((await ask('/openapi')).text).toBe(
      '{"paths":["/openapi/platform.json","/openapi/platform.yaml","/openapi/crd.json","/openapi/crd.yaml"]}',
    );
    expect((await ask('/openapi/platform.json')).text).toBe(JSON.stringify({ text: adapted }));
    const yaml = await ask('/openapi/platform.yaml');
    expect([yaml.text, yaml.headers]).toMatchObject([
      adapted,
      { 'Content-Type': 'application/yaml', 'Cache-Control': 'no-cache' },
    ]);
  });
});
