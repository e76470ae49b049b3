import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLogger } from '../../../src/observability/logger.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { countedBy } from '../../support/counted.ts';
import { type AppUnderTest, eventually, type LogLine, listText, startApp, type TestParts } from './app-under-test.ts';

const LIST = '/kapis/resources.gatehouse.io/v1alpha3/nodes';

let app: AppUnderTest;

beforeAll(async () => {
  app = await startApp({ corsOrigins: ['https://console.example.com'] });
});
afterAll(() => app.stop());

/** The log line of the request with this id. */
async function lineOf(id: string): Promise<LogLine> {
  const find = (): LogLine | undefined => app.lines.find((line) => line['requestId'] === id);
  await eventually(() => find() !== undefined);
  return find() as LogLine;
}

describe('the log line of a request', () => {
  test('has exactly the named members', async () => {
    const headers = {
      'X-Request-Id': 'line-1',
      'User-Agent': 'a test',
      traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
      'Accept-Encoding': 'identity',
      Cookie: 'session=canary',
    };
    await (await app.get(`${LIST}?limit=1&name=canary`, { headers })).text();
    expect(await lineOf('line-1')).toEqual({
      level: 'info',
      time: expect.any(String),
      msg: 'request',
      requestId: 'line-1',
      ownRequestId: expect.stringMatching(/^[0-9a-f]{16}$/),
      traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
      method: 'GET',
      route: LIST,
      path: LIST,
      queryParameters: ['limit', 'name'],
      status: 200,
      bytes: listText.length,
      durationMs: expect.any(Number),
      source: '127.0.0.1',
      userAgent: 'a test',
      user: 'alice',
      clientId: 'console',
      sid: 's-1',
      verb: 'list',
      group: 'resources.gatehouse.io',
      version: 'v1alpha3',
      resource: 'nodes',
      decision: 'allow',
      decisionSource: 'cache',
    });
  });

  test('leaves out what is absent, and says none where no right was asked for', async () => {
    await app.get('/kapis', { headers: { 'X-Request-Id': 'line-2', 'User-Agent': '' } });
    const line = await lineOf('line-2');
    expect(line).toMatchObject({ verb: 'get', decision: 'none', route: '/kapis' });
    for (const name of ['queryParameters', 'group', 'decisionSource', 'error', 'aborted']) {
      expect(line).not.toHaveProperty(name);
    }
  });

  test.each([
    ['expired', LIST, 'Bearer old'],
    ['invalid', LIST, 'Bearer x'],
    ['absent', LIST, ''],
    ['malformed', LIST, 'Bearer a,b'],
    ['malformed', LIST, 'Bearer a b'],
    ['Forbidden', LIST, 'Bearer powerless'],
    ['NotFound', '/nothing', 'Bearer good'],
    ['invalid_request', '/oauth/nothing', ''],
  ])('says %s of a refusal of %s to "%s"', async (reason, path, Authorization) => {
    const id = `reason-${reason}-${Authorization.length}`;
    await app.get(path, { headers: { 'X-Request-Id': id, Authorization } });
    expect(await lineOf(id)).toMatchObject({ reason });
  });

  test('a probe that fails is for debugging', async () => {
    const failing = await startApp({ health: [{ name: 'x', endpoints: ['readyz'], check: () => 'private' }] });
    try {
      expect((await failing.get('/readyz')).status).toBe(503);
      await eventually(() => failing.lines.some((line) => line['route'] === '/readyz'));
      expect(failing.lines.find((line) => line['route'] === '/readyz')).toMatchObject({ level: 'debug', status: 503 });
    } finally {
      await failing.stop();
    }
  });

  test('A-36 stays under 8 KiB when everything in it is long', async () => {
    const authorizer = { authorize: () => Promise.reject(new Error('"'.repeat(3_000))) };
    const broken = await startApp({ authorizer });
    try {
      const word = encodeURIComponent('漢'.repeat(253));
      const query = `fieldSelector=metadata.name%3D${'%01'.repeat(253)}`;
      const headers = `Authorization: Bearer good\r\nUser-Agent: ${'\t"'.repeat(200)}\r\nConnection: close\r\n`;
      const path = `/kapis/resources.gatehouse.io/v1alpha3/nodes/${word}`;
      const answer = await broken.raw(`GET ${path}?${query} HTTP/1.1\r\nHost: a\r\n${headers}\r\n`);
      expect(answer).toMatch(/^HTTP\/1\.1 500 /);
      await eventually(() => broken.lines.some((line) => line['status'] === 500));
      const line = broken.lines.find((found) => found['status'] === 500);
      expect(Buffer.byteLength(JSON.stringify(line))).toBeLessThan(8_192);
      expect(line).toMatchObject({ user: 'alice', verb: 'get' });
    } finally {
      await broken.stop();
    }
  });

  test('a 404 is no error; health is for debugging', async () => {
    await app.get('/nothing', { headers: { 'X-Request-Id': 'line-3' } });
    expect(await lineOf('line-3')).toMatchObject({ level: 'info', status: 404, route: 'other' });
    await app.get('/readyz', { headers: { 'X-Request-Id': 'line-4' } });
    expect((await lineOf('line-4')).level).toBe('debug');
  });

  test.each(['a b', 'a'.repeat(65), 'a"b'])('X-Request-Id %s is not kept', async (id) => {
    const answer = await app.get('/version', { headers: { 'X-Request-Id': id } });
    expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f]{16}$/);
  });

  test('A-36 stays one line under 8 KiB, whatever is sent', async () => {
    const path = `/${'"'.repeat(6_000)}`;
    const query = Array.from({ length: 100 }, (_, index) => `${'n'.repeat(20)}${index}`).join('&');
    const headers = `Host: a\r\nAuthorization: Bearer good\r\nX-Request-Id: line-5\r\nUser-Agent: ${'\t"'.repeat(2_000)}\r\n`;
    await app.raw(`GET /kapis/x.io/v1/things${path}?${query} HTTP/1.1\r\n${headers}Connection: close\r\n\r\n`);
    const line = await lineOf('line-5');
    expect(Buffer.byteLength(JSON.stringify(line))).toBeLessThan(8_192);
    expect(line['path']).toHaveLength(1_024);
    expect(line['userAgent']).toHaveLength(256);
    expect(line['name']).toHaveLength(256);
  });

  test.each(['json', 'pretty'] as const)(
    'A-36 is one line and moves no cursor in the format %s, whatever is sent',
    async (format) => {
      const written: string[] = [];
      const logger = createLogger({ level: 'info', format }, { write: (text) => void written.push(text) });
      const other = await startApp({ logger });
      const unruly = ['\0', '\t', '\n', '\r', '\x1b', '\x7f', '\x85', '\x9b', '\u2028', '\u2029', '\u202e', '\ufeff'];
      const targets = unruly
        .map(encodeURIComponent)
        .flatMap((text) => [
          `${LIST}?fieldSelector=metadata.name=x${text}y`,
          `${LIST}?fieldSelector=metadata.name%3Dx${text}y&watch=true`,
          `${LIST}?na${text}me=x`,
          ...[`/a${text}b/v1/things/x`, `/a.io/v${text}1/things/x`, `/a.io/v1/th${text}ings/x/status`].map(
            (path) => `/kapis${path}`,
          ),
          ...[`/namespaces/d${text}e/things`, `/things/x${text}y`, `/things/x/st${text}atus`].map(
            (path) => `/kapis/a.io/v1${path}`,
          ),
          `/oauth/x${text}y`,
        ]);
      const raw = ['/x\x85y', '/x\x9by', `${LIST}?a\x85b=c`];
      const agents = ['a\tb', 'a\x85b', 'a\x9b31mb'];
      const lines = (): string[] => written.join('').split('\n').slice(0, -1);
      let sent = 0;
      try {
        for (const target of [...targets, ...raw])
          for (const agent of agents) {
            const headers = `Host: a\r\nAuthorization: Bearer good\r\nUser-Agent: ${agent}\r\nConnection: close\r\n`;
            await other.raw(`GET ${target} HTTP/1.1\r\n${headers}\r\n`);
            sent++;
            await eventually(() => lines().length >= sent);
          }
      } finally {
        await other.stop();
      }
      const requests = lines().filter((line) => /\brequest\b/.test(line));
      expect([requests.length, lines().length]).toEqual([sent, written.length]);
      expect(lines().filter((line) => /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(line))).toEqual([]);
    },
  );

  test('A-36 what is remembered of a caller is no longer than his line', async () => {
    const logger = pino({ level: 'info' }, { write: () => undefined });
    const children: object[] = [];
    const child = logger.child.bind(logger);
    const remembering = Object.assign(logger, {
      child: function (this: typeof logger, ...given: Parameters<typeof child>) {
        children.push(given[0]);
        return child.apply(this, given);
      },
    });
    const other = await startApp({ logger: remembering as unknown as TestParts['logger'] });
    const long = 'a'.repeat(256);
    try {
      for (const rest of ['', 'b', 'c'.repeat(8_000)])
        await other.get(LIST, { headers: { 'User-Agent': `${long}${rest}` } });
      await other.get(LIST, { headers: { 'User-Agent': 'another' } });
    } finally {
      await other.stop(); // a line comes after its answer
    }
    const agents = children.flatMap((part) => ('userAgent' in part ? [part.userAgent] : []));
    expect(agents).toEqual([long, 'another']);
  });

  test('A-36 no credential of any kind is in it', async () => {
    const other = await startApp();
    let sent = 0;
    const get = async (path: string, init?: RequestInit): Promise<void> => {
      await (await other.get(path, init)).text();
      sent++;
    };
    try {
      await get('/oauth/token', {
        method: 'POST',
        headers: { Authorization: 'Basic Y2FuYXJ5OmNhbmFyeQ==' },
        body: 'password=canary&refresh_token=canary',
      });
      for (const query of ['access_token%3Dcanary', 'eyJcanary.canary', 'eyJcanary=', `${'x'.repeat(70)}canary=1`]) {
        await get(`${LIST}?${query}`);
        await get(`/healthz?${query}`);
      }
      await get(`${LIST}?access_token=canary`, { headers: { Authorization: 'Bearer canary' } });
    } finally {
      await other.stop(); // a line comes after its answer
    }
    expect(other.lines.filter(({ msg }) => msg === 'request')).toHaveLength(sent);
    expect(JSON.stringify(other.lines)).not.toMatch(/canary|Y2FuYXJ5/);
  });

  test.each([
    ['/healthz#access_token=canary', '/healthz'],
    ['/healthz?a#canary', '/healthz'],
    ['http://ada:canary@a/healthz?b', 'http://a/healthz'],
    ['//ada:canary@a/healthz', '//a/healthz'],
    ['/canary@a', '/canary@a'],
  ])('A-36 the target %s has the path %s', async (target, path) => {
    const id = `target-${target.length}-${path.length}`;
    await app.raw(`GET ${target} HTTP/1.1\r\nHost: a\r\nX-Request-Id: ${id}\r\nConnection: close\r\n\r\n`);
    expect(await lineOf(id)).toMatchObject({ path });
  });

  test('a refusal by the parser has a line too', async () => {
    await app.raw('GET / HTTP/1.1\r\nHost : a\r\n\r\n');
    await eventually(() => app.lines.some((line) => line['rule'] === 'parser'));
    expect(app.lines.find((line) => line['rule'] === 'parser')).toMatchObject({ route: 'other', status: 400 });
  });
});

describe('the metrics', () => {
  const metric = (name: string): Promise<string> => app.parts.registry.getSingleMetricAsString(name);

  test('count every answer by method, template and code', async () => {
    const before = await metric('gatehouse_http_requests_total');
    const value = (text: string, labels: string): number =>
      Number(new RegExp(`\\{${labels}\\} (\\d+)`).exec(text)?.[1] ?? 0);
    const labels = 'method="GET",route="/kapis/resources\\.gatehouse\\.io/v1alpha3/nodes/\\{name\\}",code="404"';
    await (await app.get(`${LIST}/nobody`, { headers: { 'X-Request-Id': 'count-1' } })).text();
    await lineOf('count-1');
    expect(value(await metric('gatehouse_http_requests_total'), labels)).toBe(value(before, labels) + 1);
  });

  test('A-37 random paths, methods and requests that are none add no series', async () => {
    const series = async (): Promise<number> => (await metric('gatehouse_http_requests_total')).split('\n').length;
    await (await app.get('/first-unknown', { headers: { 'X-Request-Id': 'warm-up' } })).text();
    await lineOf('warm-up');
    const before = await series();
    for (let index = 0; index < 200; index++) await (await app.get(`/random-${index}`)).text();
    await (await app.get('/last-unknown', { headers: { 'X-Request-Id': 'last' } })).text();
    await lineOf('last');
    expect(await series()).toBe(before);
  });

  test('count what is turned away, by rule', async () => {
    await app.raw('GET /a%2fb HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    await app.raw('GET / HTTP/1.1\r\n\r\n');
    await (await app.get(LIST, { headers: { Authorization: '' } })).text();
    await (await app.get(LIST, { headers: { Authorization: 'Bearer a b' } })).text();
    const rejections = await metric('gatehouse_http_rejections_total');
    for (const reason of ['target', 'host', 'parser']) expect(rejections).toContain(`{reason="${reason}"}`);
    const bearers = await metric('gatehouse_token_verifications_total');
    expect(bearers).toMatch(/\{result="absent"\} [1-9]/);
    expect(bearers).toMatch(/\{result="malformed"\} [1-9]/);
  });

  test('count bytes by coding', async () => {
    await (await app.get(LIST, { headers: { 'Accept-Encoding': 'gzip', 'X-Request-Id': 'zipped' } })).text();
    await lineOf('zipped');
    expect(await metric('gatehouse_http_response_bytes_total')).toContain(`{route="${LIST}",encoding="gzip"}`);
  });

  test('show connections and requests in flight', async () => {
    expect(await metric('gatehouse_http_connections')).toMatch(/^gatehouse_http_connections \d+$/m);
    await eventually(() => true);
    expect(await metric('gatehouse_http_requests_in_flight')).toContain('{class="other"} ');
  });
});

describe('CORS', () => {
  const origin = 'https://console.example.com';

  test('N-56 a listed origin may read answers; it is never a wildcard', async () => {
    const answer = await app.get(LIST, { headers: { Origin: origin } });
    expect(answer.headers.get('access-control-allow-origin')).toBe(origin);
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
    expect(answer.headers.get('vary')).toBe('Origin, Accept-Encoding');
  });

  test.each([
    [200, LIST, 'Bearer good'],
    [401, LIST, 'Bearer x'],
    [404, '/nothing', 'Bearer good'],
  ])(
    'N-56 a script of a listed origin may read the headers that an answer is understood by: %i',
    async (status, path, Authorization) => {
      const answer = await app.get(path, { headers: { Origin: origin, Authorization } });
      expect([answer.status, answer.headers.get('access-control-expose-headers')]).toEqual([
        status,
        'ETag, Retry-After, WWW-Authenticate, X-Request-Id, Age, Warning',
      ]);
      const foreign = await app.get(path, { headers: { Origin: 'https://evil.example.com', Authorization } });
      expect(foreign.headers.get('access-control-expose-headers')).toBeNull();
    },
  );

  test('another origin gets nothing but Vary, on errors too', async () => {
    for (const path of [LIST, '/nothing']) {
      const answer = await app.get(path, { headers: { Origin: 'https://evil.example.com' } });
      expect(answer.headers.get('access-control-allow-origin')).toBeNull();
      expect(answer.headers.get('vary')).toContain('Origin');
    }
  });

  test('a preflight may be kept for ten minutes', async () => {
    const headers = { Origin: origin, 'Access-Control-Request-Method': 'GET' };
    const answer = await fetch(app.url + LIST, { method: 'OPTIONS', headers });
    expect(answer.status).toBe(204);
    expect(answer.headers.get('access-control-allow-origin')).toBe(origin);
    expect(answer.headers.get('access-control-allow-methods')).toBe('GET, HEAD, OPTIONS');
    expect(answer.headers.get('access-control-max-age')).toBe('600');
  });
});

describe('A-34 the header of a trusted proxy that cannot be read', () => {
  test('is a warning a minute for each proxy, and counted each time by its header', async () => {
    let later = 0;
    const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + later };
    const trustedProxies = [
      { cidr: '127.0.0.0/8', header: 'X-Forwarded-For' },
      { cidr: '10.0.0.0/8', header: 'X-Real-IP' },
    ];
    const proxied = await startApp({ trustedProxies, clock });
    const warnings = (): unknown[] => proxied.lines.filter(({ level }) => level === 'warn');
    const ask = async (value: string): Promise<void> => {
      await (await proxied.get('/livez', { headers: { 'X-Forwarded-For': value } })).text();
    };
    for (const value of ['203.0.113.7:41234', 'unknown', '_secret', '198.51.100.1']) await ask(value);
    expect(warnings()).toEqual([
      {
        ...{ level: 'warn', time: expect.any(String), proxy: '127.0.0.0/8', header: 'X-Forwarded-For' },
        msg: 'the header of a trusted proxy names no address, so its callers count as the proxy itself',
      },
    ]);
    later = 60_000;
    for (const value of ['unknown', 'unknown']) await ask(value);
    expect(warnings()).toHaveLength(2);
    expect(JSON.stringify(proxied.lines)).not.toContain('_secret');
    expect(await countedBy(proxied.parts.registry, 'gatehouse_forwarded_headers_unreadable_total', 'header')).toEqual({
      'X-Forwarded-For': 4,
    });
    await proxied.stop();
  });
});
