import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AppUnderTest, startApp } from './app-under-test.ts';

const LIST = '/kapis/resources.gatehouse.io/v1alpha3/nodes';

let app: AppUnderTest;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

test.each<[number, string, RequestInit]>([
  [200, LIST, {}],
  [200, '/healthz', {}],
  [200, '/oauth/keys', {}],
  [204, '/oauth/token', { method: 'OPTIONS' }],
  [304, LIST, { headers: { 'If-None-Match': '*' } }],
  [400, `${LIST}?limit=x`, {}],
  [401, LIST, { headers: { Authorization: '' } }],
  [403, LIST, { headers: { Authorization: 'Bearer powerless' } }],
  [404, '/oauth/nothing', {}],
  [404, '/nothing', {}],
  [405, '/oauth/token', {}],
  [413, '/oauth/token', { method: 'POST', body: 'a'.repeat(16_385) }],
])(
  'A-48 an answer of %i to %s may not be framed or sniffed, gives no referrer and names no software',
  async (code, path, init) => {
    const { status, headers } = await app.get(path, init);
    expect(status).toBe(code);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'");
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect([headers.get('x-powered-by'), headers.get('server')]).toEqual([null, null]);
  },
);

test('A-48 nor may one to a request that is no HTTP', async () => {
  const answer = await app.raw('GET /\r\n\r\n');
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  for (const line of ['X-Content-Type-Options: nosniff', 'X-Frame-Options: DENY', 'Referrer-Policy: no-referrer'])
    expect(answer).toContain(`\r\n${line}\r\n`);
});
