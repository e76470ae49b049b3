import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from 'vitest';
import { type BrowserPlan, runBrowsers } from '../../../../bench/load/browsers.ts';
import type { Target } from '../../../../bench/load/connection.ts';
import { runVisits } from '../../../../bench/load/visits.ts';

let server: Server | undefined;
afterEach(() => server?.close());

async function serve(listener: RequestListener): Promise<Target> {
  const started = createServer(listener);
  server = started;
  await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve));
  return { port: (started.address() as AddressInfo).port, headers: {} };
}

const PLAN: Omit<BrowserPlan, 'target'> = {
  page: { path: '/authorize' },
  form: { method: 'POST', path: '/form', headers: { origin: 'null' } },
  redemption: { method: 'POST', path: '/token', body: 'grant_type=authorization_code' },
  people: [
    { username: 'ada', password: 'right' },
    { username: 'ada', password: 'wrong' },
  ],
  browsers: 2,
  measureMs: 50,
};

describe('browsers', () => {
  test('send the cookie and the request of their page, then the code, and report how each sign-in ended', async () => {
    let pages = 0;
    const seen = new Set<string>();
    const target = await serve((request, response) => {
      void text(request).then((body) => {
        const form = new URLSearchParams(body);
        if (request.url === '/authorize') {
          response.setHeader('Set-Cookie', `browser=b${++pages}; Path=/; HttpOnly`);
          return response.end(`<input type="hidden" name="request" value="sealed-b${pages}">`);
        }
        if (request.url === '/token') {
          seen.add([...form].join(' '));
          return response.end('{}');
        }
        if (form.get('request') !== `sealed-${request.headers.cookie?.slice('browser='.length)}`) seen.add('mixed up');
        if (form.get('password') === 'wrong') return response.writeHead(400).end();
        const location = 'https://app.example.com/callback?code=c.o-d_e&state=s';
        return response.writeHead(303, { Location: location, 'Content-Length': 0 }).end();
      });
    });
    const { statuses } = await runBrowsers({ ...PLAN, target });
    expect(Object.keys(statuses)).toEqual(['200', '400']);
    expect([...seen]).toEqual(['grant_type,authorization_code code,c.o-d_e']);
    expect((statuses['200'] ?? 0) + (statuses['400'] ?? 0)).toBe(pages);
  });

  test('report a page that is refused, and fail on one without a form', async () => {
    const busy = await serve((_, response) => response.writeHead(429).end());
    expect(Object.keys((await runBrowsers({ ...PLAN, target: busy })).statuses)).toEqual(['429']);
    server?.close();
    const odd = await serve((_, response) => response.setHeader('Set-Cookie', 'a=b').end('no form'));
    await expect(runBrowsers({ ...PLAN, target: odd })).rejects.toThrow('an answer has no name="request"');
  });
});

describe('visits', () => {
  test('are as many as planned, each with a number of its own', async () => {
    const paths: (string | undefined)[] = [];
    const target = await serve((request, response) => {
      paths.push(request.url);
      response.writeHead(paths.length > 15 ? 429 : 200).end();
    });
    const report = await runVisits({ target, pages: [{ path: '/page?state=*' }], connections: 3, visits: 20 });
    expect(new Set(paths)).toEqual(new Set(Array.from({ length: 20 }, (_, nth) => `/page?state=${nth}`)));
    expect(report.statuses).toEqual({ '200': 15, '429': 5 });
  });
});
