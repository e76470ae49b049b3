import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { crdDescription } from '../../dev/crd/description.ts';
import { accountNames } from '../../src/accounts/names.ts';
import { createLoginRecordKind } from '../../src/accounts/records/login-record-kind.ts';
import { createRoleKind } from '../../src/accounts/roles/role-kind.ts';
import { createUserKind } from '../../src/accounts/users/user-kind.ts';
import { AnswerWriter } from '../../src/http/answer/answer.ts';
import { createRoutes } from '../../src/http/app.ts';
import { createMetricsServer, metricsRoute } from '../../src/http/connection/metrics-server.ts';
import type { Route } from '../../src/http/exchange.ts';
import type { AuthorizationServer } from '../../src/oauth/authorization-server.ts';
import { loginRequired } from '../../src/oauth/endpoints/refusals.ts';
import { OAuthError } from '../../src/oauth/oauth-error.ts';
import { notOffered } from '../../src/resources/query/filter.ts';
import { listParameters } from '../../src/resources/query/list-query.ts';
import { watchParameters } from '../../src/resources/watch/watch-query.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import {
  type AppUnderTest,
  appParts,
  fakeAuthorizationServer,
  listsWith,
  representationOf,
  startApp,
} from '../integration/http/app-under-test.ts';
import { gatewayUnderTest } from '../integration/http/gateway-under-test.ts';
import { kindsUnderTest, kindValueOf } from '../integration/http/kinds-under-test.ts';
import { defaultLimits } from '../support/default-limits.ts';
import { NODE_KIND } from '../unit/resources/node-objects.ts';
import {
  answerProblems,
  describedOperations,
  descriptionText,
  examples,
  type Operation,
  problems,
  resolve,
} from './description.ts';

const NAMES = accountNames('gatehouse');
const ITEM = { metadata: { name: 'web', selfLink: '/api/v1/x', uid: 'u-1', resourceVersion: '7' } };
const kinds = kindsUnderTest(
  representationOf(JSON.stringify({ items: [ITEM], totalItems: 1 })),
  representationOf(JSON.stringify({ kind: 'X', apiVersion: 'v1', ...ITEM })),
);
const parts = appParts({ kinds });
const metricsOnly = metricsRoute(parts.registry, new AnswerWriter(systemClock, 1_000), systemClock);
const clusterPaths = createRoutes(appParts({ gateway: gatewayUnderTest() })).filter(
  ({ admission }) => admission === 'gateway',
);
const routes: readonly Route[] = [...createRoutes(parts), ...clusterPaths, metricsOnly];
const operations = describedOperations();

/** The kinds with words of their own, and one without. */
const KINDS_WITH_WORDS = [
  ...['pods.', 'persistentvolumes.', 'persistentvolumeclaims.', 'deployments.apps', 'statefulsets.apps', 'jobs.batch'],
  ...[
    'cronjobs.batch',
    'horizontalpodautoscalers.autoscaling',
    'roles.rbac.authorization.k8s.io',
    'widgets.example.com',
  ],
  ...['volumesnapshots', 'volumesnapshotclasses', 'volumesnapshotcontents'].map(
    (name) => `${name}.snapshot.storage.k8s.io`,
  ),
].map((name) => ({ resource: name.split('.')[0] ?? '', group: name.slice(name.indexOf('.') + 1) }));

interface DescribedParameter {
  readonly name: string;
  readonly in: string;
  readonly schema: { readonly enum?: readonly string[] };
}

/** `GET /path` of everything in the route tables of both ports. */
const registered = routes.flatMap((route) =>
  Object.keys(route.methods)
    .filter((method) => method !== 'HEAD')
    .map((method) => `${method} ${route.template}`),
);

let app: AppUnderTest;
let metrics: { url: string; stop(): Promise<void> };

beforeAll(async () => {
  const noEmptyForm = (request: { body: Buffer }) => {
    if (request.body.length > 0) return;
    throw new OAuthError({ ids: [], status: 400, code: 'invalid_request', description: 'a parameter is missing' });
  };
  const authorizationServer: AuthorizationServer = {
    ...fakeAuthorizationServer,
    token: async (request) => {
      noEmptyForm(request);
      return fakeAuthorizationServer.token(request);
    },
    revoke: async (request) => noEmptyForm(request),
    introspect: async (request) => {
      noEmptyForm(request);
      return { active: false };
    },
    userinfo: (authorization) => {
      if (!authorization) throw loginRequired('gatehouse');
      return fakeAuthorizationServer.userinfo(authorization);
    },
    logout: async (request) => {
      if (request.queryString.includes('all=maybe')) {
        throw new OAuthError({ ids: [], status: 400, code: 'invalid_request', description: 'all is not a boolean' });
      }
      return request.queryString.includes('redirect') ? { location: 'https://console.example.com/' } : {};
    },
  };
  const health = [{ name: 'broken', endpoints: ['livez' as const], check: () => 'on purpose' }];
  const descriptions = { platformYaml: descriptionText, crdYaml: crdDescription(), parseYaml: parse };
  const clusterVersion = () => ({ major: '1', minor: '36', gitVersion: 'v1.36.2', platform: 'linux/amd64' });
  app = await startApp({
    authorizationServer,
    health,
    descriptions,
    clusterVersion,
    gateway: gatewayUnderTest(),
    kinds,
  });
  const server = createMetricsServer(
    { address: '127.0.0.1', port: 0, shutdownDelayMs: 0, drainMs: 1_000 },
    { ...app.parts, limits: defaultLimits },
  );
  const { port } = await server.listen();
  const ending = new AbortController();
  const running = server.run(ending.signal);
  metrics = {
    url: `http://127.0.0.1:${port}`,
    stop: async () => {
      ending.abort();
      await running;
    },
  };
});
afterAll(async () => {
  await app.stop();
  await metrics.stop();
});

/** Real values for the variable segments; every other one may be anything. */
const EXISTING: Record<string, string> = {
  name: 'worker-1',
  check: 'ping',
  user: 'bob',
  role: 'platform-regular',
  file: 'main-abc123.js',
};

/** The kind of each path that serves any. */
const kindIn = (template: string): string =>
  template.endsWith('{resources}/{name}') && !template.includes('{namespace}') ? 'persistentvolumes' : 'pods';

const pathOf = (template: string, values: Record<string, string> = EXISTING): string =>
  template.replace('{resources}', kindIn(template)).replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? 'x');

const FORMS = new Set(['token', 'revoke', 'introspect', 'authorize', 'sign-in'].map((end) => `POST /oauth/${end}`));

/** The bodies of the operations that take JSON. */
const BODIES: Readonly<Record<string, { readonly type: string; readonly body: object }>> = {
  'POST /kapis/iam.gatehouse.io/v1alpha2/users': { type: 'application/json', body: { metadata: { name: 'bob' } } },
  'PUT /kapis/iam.gatehouse.io/v1alpha2/users/{user}': { type: 'application/json', body: {} },
  'PUT /kapis/iam.gatehouse.io/v1alpha2/users/{user}/password': { type: 'application/json', body: {} },
  'PATCH /apis/iam.gatehouse.io/v1alpha2/users/{user}': { type: 'application/json-patch+json', body: [] },
};

function bodyOf(operation: string): { readonly body?: string; readonly type?: string } {
  const known = BODIES[operation];
  if (known) return { body: JSON.stringify(known.body), type: known.type };
  return FORMS.has(operation) ? { body: 'token=x', type: 'application/x-www-form-urlencoded' } : {};
}

function call(operation: string, init: RequestInit & { query?: string; values?: Record<string, string> } = {}) {
  const [method = '', template = ''] = operation.split(' ');
  const base = template === '/metrics' ? metrics.url : app.url;
  const query = init.query ?? (template.endsWith('/search') ? '?q=x' : '');
  const { type, ...body } = bodyOf(operation);
  return fetch(base + pathOf(template, init.values) + query, {
    method,
    redirect: 'manual',
    ...body,
    ...init,
    headers: { Authorization: 'Bearer good', ...(type && { 'Content-Type': type }), ...init.headers },
  });
}

describe('the description of the platform', () => {
  test('describes every registered method and path, and no other', () => {
    expect([...operations.keys()].sort()).toEqual([...registered].sort());
  });

  test('says of each operation whether it is public as the route table does', () => {
    for (const route of routes) {
      for (const [method, operation] of operationsOf(route)) {
        const demanded = operation.security === undefined;
        expect(demanded, `${method} ${route.template}`).toBe(route.access !== 'public');
      }
    }
  });

  test('describes exactly the parameters that the node list and its watch read', () => {
    const list = operations.get('GET /kapis/resources.gatehouse.io/v1alpha3/nodes') as Operation;
    const described = list.parameters?.map((parameter) => resolve<{ name: string }>(parameter as never).name);
    expect(described).toEqual([...watchParameters(NODE_KIND).keys(), 'Last-Event-ID']);
  });

  test.each([
    '/kapis/resources.gatehouse.io/v1alpha3/{resources}',
    '/kapis/resources.gatehouse.io/v1alpha3/namespaces/{namespace}/{resources}',
  ])('describes at %s exactly the parameters and orders that a kind reads, and none twice', (path) => {
    const list = operations.get(`GET ${path}`) as Operation;
    const described = list.parameters
      ?.map((parameter) => resolve<DescribedParameter>(parameter as never))
      .filter((parameter) => parameter.in !== 'path');
    const names = described?.map(({ name }) => name) ?? [];
    const read = KINDS_WITH_WORDS.map(kindValueOf).flatMap((kind) => [...watchParameters(kind).keys()]);
    expect(new Set(names).size).toBe(names.length);
    expect([...names].sort()).toEqual([...new Set([...read, 'Last-Event-ID'])].sort());
    const orders = KINDS_WITH_WORDS.map(kindValueOf).flatMap(({ sortWords }) => [...sortWords.keys()]);
    const words = described?.find(({ name }) => name === 'sortBy')?.schema.enum ?? [];
    expect([...words].sort()).toEqual([...new Set(['', ...orders])].sort());
  });

  test.each([
    ['users', createUserKind(NAMES)],
    ['users/{user}/loginrecords', createLoginRecordKind(NAMES)],
    ['globalroles', createRoleKind(NAMES)],
  ])('describes exactly the parameters that the list of %s reads', (path, kind) => {
    const list = operations.get(`GET /kapis/iam.gatehouse.io/v1alpha2/${path}`) as Operation;
    const described = list.parameters
      ?.map((parameter) => resolve<{ name: string; in: string }>(parameter as never))
      .filter((parameter) => parameter.in === 'query');
    const offered = [...listParameters(kind)].filter(([name]) => kind.filters.get(name) !== notOffered);
    expect(described?.map(({ name }) => name)).toEqual(offered.map(([name]) => name));
  });

  test('describes the variable segments of every path', () => {
    for (const [key, operation] of operations) {
      const names = [...key.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
      const described = (operation.parameters ?? [])
        .map((parameter) => resolve<{ name: string; in: string }>(parameter as never))
        .filter((parameter) => parameter.in === 'path');
      expect(described.map((parameter) => parameter.name).sort(), key).toEqual(names.sort());
    }
  });

  test.each(examples().map((example) => [example.at, example] as const))(
    'has an example that validates at %s',
    (_, example) => {
      expect(problems(example.schema, example.value)).toEqual([]);
    },
  );

  test.each([
    ['/kapis/resources.gatehouse.io/v1alpha3/nodes', {}],
    ['/kapis/resources.gatehouse.io/v1alpha3/nodes', { 'If-None-Match': '*' }],
    ['/kapis/resources.gatehouse.io/v1alpha3/nodes/{name}', {}],
    ['/kapis/resources.gatehouse.io/v1alpha3/nodes/{name}', { 'If-None-Match': '*' }],
  ])('describes the age of an answer from old data: %s %o', async (template, headers) => {
    const old = await startApp({ lists: listsWith({ age: { staleSeconds: () => 61 } }) });
    const operation = operations.get(`GET ${template}`) as Operation;
    const answer = await old.get(pathOf(template), { headers });
    const described = resolve<{ headers: object }>(operation.responses[String(answer.status)] as never).headers;
    for (const name of ['Age', 'Warning'])
      expect([name, name in described, answer.headers.has(name)]).toEqual([name, true, true]);
    expect(await answerProblems(operation, answer)).toEqual([]);
    await old.stop();
  });

  test('refuses an answer that it does not describe', async () => {
    const operation = operations.get('GET /version') as Operation;
    const wrong = new Response('{"gitVersion":1}', { headers: { 'Content-Type': 'application/json' } });
    expect((await answerProblems(operation, wrong)).length).toBeGreaterThan(3);
  });
});

describe.each([...operations])('%s', (key, operation) => {
  test('answers as described', async () => {
    expect(await answerProblems(operation, await call(key))).toEqual([]);
  });

  test('refuses as described', async () => {
    expect(await answerProblems(operation, await refused(key))).toEqual([]);
  });
});

/** One refusal of each operation: the one that is most its own. */
function refused(key: string): Promise<Response> {
  if (key.startsWith('PATCH /apis/iam.')) return call(key, { headers: { Authorization: '' } }); // another type is the cluster's
  if (key in BODIES) return call(key, { headers: { 'Content-Type': 'text/plain' } });
  if (key.includes('/nodes/{name}')) return call(key, { values: { name: 'zzz' } });
  if (/\/(nodes|search)$/.test(key)) return call(key, { query: '?foo=1' });
  if (key.endsWith('{file}')) return call(key, { values: { file: 'unknown' } });
  if (key.endsWith('{check}')) return call(key, { values: { check: 'unknown' } });
  if (/\/(authorize|sign-in)$/.test(key)) return call(key, { headers: { 'Sec-Fetch-Dest': 'image' } });
  if (FORMS.has(key)) return call(key, { body: '' });
  if (key.endsWith('/oauth/userinfo')) return call(key, { headers: { Authorization: '' } });
  if (key === 'POST /oauth/authenticate') return call(key, { headers: { Authorization: '' } });
  if (key.includes('/oauth/logout')) return call(key, { query: '?all=maybe' });
  if (key.includes('/kapis') && !key.endsWith('/version')) return call(key, { headers: { Authorization: '' } });
  if (/ \/(apis?|openapi\/v[23])(\/\*)?$/.test(key)) return call(key, { headers: { Authorization: '' } });
  if (key === 'GET /livez') return call(key);
  return call(key, { method: 'DELETE' });
}

function operationsOf(route: Route): [string, Operation][] {
  return Object.keys(route.methods)
    .filter((method) => method !== 'HEAD')
    .map((method) => [method, operations.get(`${method} ${route.template}`) as Operation]);
}
