import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { HealthCheck } from '../../../src/http/health.ts';
import { type AppUnderTest, startApp } from './app-under-test.ts';

let app: AppUnderTest;
let cluster: Record<string, unknown> | undefined;
let synced: string | undefined;

const platformYaml = `openapi: 3.1.0
info:
  title: Gatehouse
  version: 0.0.0
  version: kept
x: realm="gatehouse", resources.gatehouse.io, gatehouse.io/alias-name
y: ${'long '.repeat(300)}
`;

beforeAll(async () => {
  const health: HealthCheck[] = [
    { name: 'reflectors', endpoints: ['livez'], check: () => undefined },
    { name: 'nodes-synced', endpoints: ['readyz'], check: () => synced },
    {
      name: 'signing-key',
      endpoints: ['readyz'],
      check: () => {
        if (synced === 'throw') throw new Error('a bug in the check');
        return undefined;
      },
    },
  ];
  const parseYaml = (text: string): unknown => parse(text.replace('  version: kept\n', ''));
  app = await startApp({
    platform: 'acme',
    health,
    clusterVersion: () => cluster,
    descriptions: { platformYaml, crdYaml: 'info:\n  version: 0.0.0\nx: iam.gatehouse.io\n', parseYaml },
  });
});
afterAll(() => app.stop());

const publicly = (path: string, init: RequestInit = {}): Promise<Response> => fetch(app.url + path, init);

describe('health', () => {
  test.each(['/healthz', '/livez', '/readyz', '/readyz/', '/readyz/nodes-synced', '/healthz/ping'])(
    'HH-01 to HH-04 %s is ok',
    async (path) => {
      synced = undefined;
      const answer = await publicly(path);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(await answer.text()).toBe('ok');
    },
  );

  test('?verbose lists the checks and says which were left out', async () => {
    synced = undefined;
    expect(await (await publicly('/readyz?verbose')).text()).toBe(
      '[+]ping ok\n[+]nodes-synced ok\n[+]signing-key ok\nreadyz check passed',
    );
    expect(await (await publicly('/readyz?verbose=1&exclude=nodes-synced&exclude=typo')).text()).toBe(
      '[+]ping ok\n[+]nodes-synced excluded: ok\n[+]signing-key ok\nreadyz check passed',
    );
    expect(await (await publicly('/livez?verbose')).text()).toBe('[+]ping ok\n[+]reflectors ok\nlivez check passed');
  });

  test('a failing check is 503 without its reason, which is a warning at the change', async () => {
    expect((await publicly('/readyz')).status).toBe(200); // so that it changes, whatever failed in other tests
    synced = 'no list yet from 192.0.2.1';
    app.lines.length = 0;
    const answer = await publicly('/readyz');
    expect(answer.status).toBe(503);
    expect(await answer.text()).toBe(
      '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"readyz check failed",' +
        '"reason":"ServiceUnavailable","details":{"causes":[{"reason":"CheckFailed",' +
        '"message":"failed: reason withheld","field":"nodes-synced"}]},"code":503}',
    );
    await publicly('/readyz');
    const told = app.lines.filter((line) => JSON.stringify(line).includes('192.0.2.1'));
    const line = { check: 'nodes-synced', reason: synced };
    expect(told).toMatchObject([
      { level: 'warn', ...line },
      { level: 'debug', ...line },
    ]);
    expect((await publicly('/readyz?exclude=nodes-synced')).status).toBe(200);
    expect((await publicly('/readyz/nodes-synced')).status).toBe(503);
    expect((await publicly('/livez')).status).toBe(200);
    synced = undefined;
    expect((await publicly('/readyz')).status).toBe(200);
    expect(app.lines.some((line) => line['check'] === 'nodes-synced' && line.level === 'info')).toBe(true);
  });

  test('a check that does not count is shown as failing, fails alone, and leaves the endpoint at 200', async () => {
    const old = {
      name: 'nodes-fresh',
      endpoints: ['readyz' as const],
      counts: false,
      check: () => 'no proof for 900 s',
    };
    const gone = { reason: undefined as string | undefined };
    const keys = { name: 'signing-key', endpoints: ['readyz' as const], check: () => gone.reason };
    const own = await startApp({ health: [old, keys] });
    try {
      expect([(await own.get('/readyz')).status, await (await own.get('/readyz')).text()]).toEqual([200, 'ok']);
      expect(await (await own.get('/readyz?verbose')).text()).toBe(
        '[+]ping ok\n[-]nodes-fresh failed: reason withheld (does not count)\n[+]signing-key ok\nreadyz check passed',
      );
      expect(await (await own.get('/readyz?verbose&exclude=nodes-fresh')).text()).toContain(
        '[+]nodes-fresh excluded: ok',
      );
      const alone = await own.get('/readyz/nodes-fresh');
      expect([alone.status, await alone.json()]).toMatchObject([
        503,
        { details: { causes: [{ reason: 'CheckFailed', message: 'failed: reason withheld', field: 'nodes-fresh' }] } },
      ]);
      const gauge = await own.parts.registry.getSingleMetricAsString('gatehouse_readiness_check');
      expect(gauge).toContain('gatehouse_readiness_check{check="nodes-fresh"} 0');
      gone.reason = 'not loaded';
      const causes = [
        { reason: 'CheckFailed', message: 'failed: reason withheld (does not count)', field: 'nodes-fresh' },
        { reason: 'CheckFailed', message: 'failed: reason withheld', field: 'signing-key' },
      ];
      expect(await (await own.get('/readyz')).json()).toMatchObject({ details: { causes } });
    } finally {
      await own.stop();
    }
  });

  test('a check that throws does not hold', async () => {
    synced = 'throw';
    const answer = await publicly('/readyz/signing-key');
    synced = undefined;
    expect(answer.status).toBe(503);
  });

  test('an unknown check is 404; another method 405', async () => {
    expect((await publicly('/readyz/reflectors')).status).toBe(404);
    const answer = await publicly('/healthz', { method: 'POST' });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  });

  test('HEAD has the headers alone', async () => {
    const answer = await publicly('/readyz', { method: 'HEAD' });
    expect(answer.headers.get('content-length')).toBe('2');
    expect(await answer.text()).toBe('');
  });

  test('shows each readiness check as a gauge', async () => {
    synced = 'not yet';
    const text = await app.parts.registry.getSingleMetricAsString('gatehouse_readiness_check');
    synced = undefined;
    expect(text).toContain('gatehouse_readiness_check{check="nodes-synced"} 0');
    expect(text).toContain('gatehouse_readiness_check{check="signing-key"} 1');
  });
});

describe('the version', () => {
  test('has its members in order, the same at both paths', async () => {
    const answer = await publicly('/version');
    const text = await answer.text();
    expect(text).toBe(
      '{"gitVersion":"v3.4.1+gatehouse.0.4.0","gitMajor":"3","gitMinor":"4","gatehouse":"v0.4.0",' +
        `"gitCommit":"${'c'.repeat(40)}","gitTreeState":"clean","buildDate":"2026-11-01T10:00:00Z",` +
        '"nodeVersion":"v26.1.0","platform":"linux/amd64"}',
    );
    expect(await (await publicly('/kapis/version')).text()).toBe(text);
  });

  test("ends with the cluster's own version, whole, once it is known", async () => {
    cluster = { major: '1', minor: '36', gitVersion: 'v1.36.2', platform: 'linux/amd64' };
    const { kubernetes } = (await (await publicly('/version')).json()) as { kubernetes: unknown };
    cluster = undefined;
    expect(kubernetes).toEqual({ major: '1', minor: '36', gitVersion: 'v1.36.2', platform: 'linux/amd64' });
  });
});

describe('discovery', () => {
  const group = 'resources.acme.io';
  const versions = `"versions":[{"groupVersion":"${group}/v1alpha3","version":"v1alpha3"}],"preferredVersion":{"groupVersion":"${group}/v1alpha3","version":"v1alpha3"}`;
  const iam = 'iam.acme.io';
  const ofIam = `"versions":[{"groupVersion":"${iam}/v1alpha2","version":"v1alpha2"}],"preferredVersion":{"groupVersion":"${iam}/v1alpha2","version":"v1alpha2"}`;
  test.each([
    [
      '/kapis',
      `{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"${iam}",${ofIam}},{"name":"${group}",${versions}}]}`,
    ],
    [
      `/kapis/${iam}/v1alpha2`,
      `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"${iam}/v1alpha2","resources":[{"name":"users","singularName":"user","namespaced":false,"kind":"User","verbs":["create","delete","get","list","update"],"shortNames":[]},{"name":"globalroles","singularName":"globalrole","namespaced":false,"kind":"GlobalRole","verbs":["get","list"],"shortNames":[]}]}`,
    ],
    [`/kapis/${group}`, `{"kind":"APIGroup","apiVersion":"v1","name":"${group}",${versions}}`],
    [
      `/kapis/${group}/v1alpha3`,
      `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"${group}/v1alpha3","resources":[{"name":"nodes","singularName":"node","namespaced":false,"kind":"Node","verbs":["get","list","watch"],"shortNames":["no"]},{"name":"namespaces","singularName":"namespace","namespaced":false,"kind":"Namespace","verbs":["get","list","watch"],"shortNames":["ns"]}]}`,
    ],
  ])('%s answers anybody signed in', async (path, text) => {
    const answer = await app.get(path, { headers: { Authorization: 'Bearer powerless' } });
    expect(answer.status).toBe(200);
    expect(await answer.text()).toBe(text);
    const tag = answer.headers.get('etag') ?? '';
    expect((await app.get(path, { headers: { 'If-None-Match': tag } })).status).toBe(304);
    expect((await publicly(path)).status).toBe(401);
  });
});

describe('descriptions', () => {
  test('/openapi lists what is there', async () => {
    expect(await (await publicly('/openapi')).text()).toBe(
      '{"paths":["/openapi/platform.json","/openapi/platform.yaml","/openapi/crd.json","/openapi/crd.yaml"]}',
    );
    expect((await app.get('/openapi/other.yaml')).status).toBe(404);
  });

  test('of the custom resources carry the same names', async () => {
    expect(await (await publicly('/openapi/crd.yaml')).text()).toBe('info:\n  version: 0.4.0\nx: iam.acme.io\n');
    expect(await (await publicly('/openapi/crd.json')).json()).toEqual({
      info: { version: '0.4.0' },
      x: 'iam.acme.io',
    });
  });

  test('carry the name of the platform and the release', async () => {
    const answer = await publicly('/openapi/platform.yaml');
    expect(answer.headers.get('content-type')).toBe('application/yaml');
    const text = await answer.text();
    expect(text).toContain('  version: 0.4.0\n  version: kept\n');
    expect(text).toContain('x: realm="acme", resources.acme.io, acme.io/alias-name\n');
  });

  test('are read once, when the first one asks for JSON', async () => {
    let reads = 0;
    const parseYaml = (text: string): unknown => {
      reads++;
      return { text };
    };
    const fresh = await startApp({ descriptions: { platformYaml: 'a', crdYaml: 'b', parseYaml } });
    try {
      await fresh.get('/openapi');
      await fresh.get('/openapi/platform.yaml');
      expect(reads).toBe(0);
      for (let call = 0; call < 3; call++)
        expect(await (await fresh.get('/openapi/platform.json')).text()).toBe('{"text":"a"}');
      expect(reads).toBe(1);
    } finally {
      await fresh.stop();
    }
  });

  test('are the same as JSON, and compressed on demand', async () => {
    const document = (await (await publicly('/openapi/platform.json')).json()) as { info: { version: string } };
    expect(document.info.version).toBe('0.4.0');
    const raw = await app.raw(
      'GET /openapi/platform.json HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n',
    );
    expect(raw).toMatch(/\r\nETag: "[\w-]{16}-gzip"\r\n/);
    const body = Buffer.from(raw.slice(raw.indexOf('\r\n\r\n') + 4), 'latin1');
    expect(JSON.parse(gunzipSync(body).toString())).toEqual(document);
  });
});
