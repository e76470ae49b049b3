import { mkdirSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { type Dispatcher, request } from 'undici';
import { describe, expect, test } from 'vitest';
import { readPageFiles } from '../../../src/service/page.ts';
import { startGatehouse } from '../../support/gatehouse.ts';
import { madeUpPage } from '../../support/made-up-page.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { type Service, startCluster, startService } from '../service/stand.ts';

const SCRIPT = '/assets/main-abc123.js';
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; " +
  "manifest-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'; require-trusted-types-for 'script'";
const HEADERS = {
  'content-security-policy': POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

const start = async (config: object = {}): Promise<Service> =>
  startService(await startCluster(), { config: { gateway: { enabled: true }, ...config } });

/** Asks as a browser does, which leaves the decoding to us. */
async function ask(
  { gatehouse }: Service,
  path: string,
  headers: Record<string, string> = {},
  method: Dispatcher.HttpMethod = 'GET',
) {
  const { statusCode: status, headers: all, body } = await request(gatehouse.origin + path, { method, headers });
  return { status, headers: all, bytes: Buffer.from(await body.arrayBuffer()) };
}

const contentOf = (path: string): Buffer => Buffer.from(madeUpPage.get(path) ?? []);

describe('the files of the page', () => {
  test('W-07 the index is at `/`, and at every path below `/ui` that is no path of its own', async () => {
    const service = await start();
    for (const path of [
      '/',
      '/ui',
      '/ui/',
      '/ui/nodes',
      '/ui/resources/pods/shop/cart?q=a%20b',
      '/ui/settings.json/x',
    ]) {
      const { status, headers, bytes } = await ask(service, path);
      expect([path, status, headers['content-type'], headers['cache-control']]).toEqual([
        path,
        200,
        'text/html; charset=utf-8',
        'no-cache',
      ]);
      expect(bytes).toEqual(contentOf('index.html'));
    }
  });

  test('W-07 paths that are no paths of the page are as unknown as before', async () => {
    const service = await start();
    const { access_token: token } = await service.signIn('ada');
    for (const path of ['/nodes', '/uix', '/index.html', '/assets', '/assets/a/b', '/favicon.ico']) {
      const [nobody, ada] = [await service.call(path), await service.call(path, { token })];
      expect([path, nobody.status, ada.status]).toEqual([path, 401, 404]);
    }
    const version = await service.call('/api/v1/namespaces/default', { token });
    expect(version.headers.get('content-type')).toMatch('json');
  });

  test('W-07 with `page.enabled: false` all paths of the page are unknown', async () => {
    const service = await start({ page: { enabled: false } });
    const { access_token: token } = await service.signIn('ada');
    for (const path of ['/', '/ui/nodes', '/ui/settings.json', SCRIPT]) {
      const [nobody, ada] = [await service.call(path), await service.call(path, { token })];
      expect([path, nobody.status, ada.status]).toEqual([path, 401, 404]);
    }
    expect((await service.call('/ui/session', { method: 'POST', token })).status).toBe(404);
  });

  test('W-07 a built page is read with its folders, and a folder without an index is none', () => {
    const { folder, write } = temporaryFolder();
    const url = pathToFileURL(`${folder}/page/`);
    expect(readPageFiles(url)).toBeUndefined();
    mkdirSync(`${folder}/page/assets`, { recursive: true });
    write('page/assets/main-1.js', 'script');
    expect(readPageFiles(url)).toBeUndefined();
    write('page/index.html', 'page');
    const read = [...(readPageFiles(url) ?? [])].map(([path, bytes]) => [path, Buffer.from(bytes).toString()]);
    expect(read.sort()).toEqual([
      ['assets/main-1.js', 'script'],
      ['index.html', 'page'],
    ]);
  });

  test('W-07 without a built page nothing starts, and the error says what to do', async () => {
    const { kubeconfig } = await startCluster();
    await expect(startGatehouse({ kubeconfig: kubeconfig(), page: undefined })).rejects.toThrow(
      /^page\.enabled: the page is not built; run npm run build, or set page\.enabled to false$/,
    );
  });

  test('W-08 a file with a hash in its name is kept for a year, and one that is gone says so in words', async () => {
    const service = await start();
    const types = { js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8', svg: undefined };
    for (const [extension, type] of Object.entries(types)) {
      const { status, headers } = await ask(service, `/assets/main-abc123.${extension}`);
      if (type === undefined) expect(status).toBe(404);
      else
        expect([status, headers['content-type'], headers['cache-control']]).toEqual([
          200,
          type,
          'public, max-age=31536000, immutable',
        ]);
    }
    for (const name of ['main-def456.js', 'constructor', '..%2findex.html']) {
      const { status, headers, bytes } = await ask(service, `/assets/${name}`);
      if (name.startsWith('..')) expect(status).toBe(400);
      else
        expect([status, headers['cache-control'], JSON.parse(bytes.toString()).message]).toEqual([
          404,
          'no-store',
          'this version of the page has no such file; load the page again',
        ]);
    }
  });

  test.each([
    ['br, gzip', 'br', brotliDecompressSync],
    ['gzip, deflate, br, zstd', 'br', brotliDecompressSync],
    ['gzip, br;q=0.5', 'gzip', gunzipSync],
    ['*', 'gzip', gunzipSync],
    ['br;q=0', undefined, (bytes: Buffer) => bytes],
    ['identity, br;q=0.5', undefined, (bytes: Buffer) => bytes],
    [undefined, undefined, (bytes: Buffer) => bytes],
  ])('W-08 a caller who accepts %s gets %s, with an ETag of its own', async (accepted, coding, decode) => {
    const service = await start();
    const asked = accepted === undefined ? {} : { 'Accept-Encoding': accepted };
    for (const path of ['/', SCRIPT]) {
      const { headers, bytes } = await ask(service, path, asked);
      expect([headers['content-encoding'], headers['vary'], Number(headers['content-length'])]).toEqual([
        coding,
        'Accept-Encoding',
        bytes.length,
      ]);
      expect(decode(bytes)).toEqual(contentOf(path === '/' ? 'index.html' : path.slice(1)));
      expect(headers['etag']).toMatch(coding === undefined ? /^"[\w-]{16}"$/ : new RegExp(`^"[\\w-]{16}-${coding}"$`));
      const again = await ask(service, path, { ...asked, 'If-None-Match': String(headers['etag']) });
      expect([again.status, again.bytes.length, again.headers['etag']]).toEqual([304, 0, headers['etag']]);
      const head = await ask(service, path, asked, 'HEAD');
      expect([head.status, head.bytes.length, head.headers['content-length']]).toEqual([
        200,
        0,
        headers['content-length'],
      ]);
    }
  });

  test('W-08 what is short, or compressed in itself, is sent as it is', async () => {
    const service = await start();
    for (const path of ['/assets/main-abc123.css', '/assets/mark-abc123.png']) {
      const { headers, bytes } = await ask(service, path, { 'Accept-Encoding': 'br, gzip' });
      expect([path, headers['content-encoding'], bytes]).toEqual([path, undefined, contentOf(path.slice(1))]);
    }
  });

  test('W-08 metrics have a fixed label for every path of the page', async () => {
    const service = await start();
    for (const path of ['/ui/a', '/ui/b/c', '/assets/none-1.js', SCRIPT])
      await ask(service, path, { 'Accept-Encoding': 'br' });
    const { origin, metricsPort } = service.gatehouse;
    const text = await fetch(origin.replace(/\d+$/, `${metricsPort}/metrics`)).then((answer) => answer.text());
    const routes = new Set(
      [...text.matchAll(/http_requests_total\{[^}]*route="(\/(?:ui|assets)[^"]*)"/g)].map(([, of]) => of),
    );
    expect([...routes].sort()).toEqual(['/assets/{file}', '/ui/*']);
    expect(text).toMatch(/http_response_bytes_total\{route="\/assets\/\{file\}",encoding="br"\} \d/);
  });

  test('W-09 every answer with a part of the page has its policy, whatever the answer is', async () => {
    const service = await start();
    const { headers } = await ask(service, '/');
    const answers = {
      index: await ask(service, '/'),
      'index again': await ask(service, '/', { 'If-None-Match': String(headers['etag']) }),
      view: await ask(service, '/ui/logs'),
      settings: await ask(service, '/ui/settings.json'),
      script: await ask(service, SCRIPT),
      head: await ask(service, SCRIPT, {}, 'HEAD'),
      'a file that is gone': await ask(service, '/assets/main-def456.js'),
    };
    expect(Object.values(answers).map(({ status }) => status)).toEqual([200, 304, 200, 200, 200, 200, 404]);
    for (const [name, answer] of Object.entries(answers))
      expect([name, answer.headers]).toEqual([name, expect.objectContaining(HEADERS)]);
  });

  test('W-09 pages of other origins read nothing of it, and nothing is changed by it', async () => {
    const console = 'https://console.example.com';
    const config = { cors: { origins: [console] } };
    const service = await startService(await startCluster(), { config });
    for (const path of ['/', '/ui/nodes', '/ui/settings.json', '/ui/session', SCRIPT]) {
      const { headers } = await ask(service, path, { Origin: console });
      expect([path, headers['access-control-allow-origin']]).toEqual([path, undefined]);
    }
    for (const path of ['/', '/ui/nodes', SCRIPT]) {
      const { status, headers } = await ask(service, path, {}, 'POST');
      expect([status, headers['allow']]).toEqual([405, 'GET, HEAD, OPTIONS']);
    }
  });
});

describe('the settings of the page', () => {
  const settingsOf = async (platform: string, config: object) => {
    const cluster = await startCluster({ platform });
    const service = await startService(cluster, { config: { ...config, platform } });
    const { status, headers, body } = await service.call('/ui/settings.json');
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-cache']);
    return body;
  };

  test('W-07 say what this server is called, and what it offers', async () => {
    expect(await settingsOf('gatehouse', {})).toEqual({
      ...{ platform: 'gatehouse', version: '0.0.0', header: 'x-gatehouse-page' },
      features: {
        ...{ accounts: false, audit: false, events: false, gateway: false },
        ...{ kinds: true, logs: false, nodeUsage: true, permittedLists: false },
      },
    });
    const all = {
      ...{ accounts: { enabled: true }, gateway: { enabled: true, permittedLists: true } },
      ...{ kinds: { enabled: false }, logging: { host: 'http://127.0.0.1:9' }, nodes: { usage: false } },
      ...{ events: { host: 'http://127.0.0.1:9' }, auditing: { host: 'http://127.0.0.1:9' } },
    };
    expect(await settingsOf('acme', all)).toEqual({
      ...{ platform: 'acme', version: '0.0.0', header: 'x-acme-page' },
      features: {
        ...{ accounts: true, audit: true, events: true, gateway: true },
        ...{ kinds: false, logs: true, nodeUsage: false, permittedLists: true },
      },
    });
  });

  test.each([
    [{ events: { live: true } }, true],
    [{ kinds: { events: true } }, true],
    [{ kinds: { events: true }, events: { live: false } }, false],
    [{ kinds: { enabled: false }, events: { live: true } }, false],
  ])('W-25 say that events can be searched where the path answers: %j', async (config, isOffered) => {
    expect((await settingsOf('gatehouse', config)).features.events).toBe(isOffered);
  });
});
