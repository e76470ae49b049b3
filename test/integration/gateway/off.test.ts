import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AppUnderTest, startApp } from '../http/app-under-test.ts';

const PATHS = ['/api', '/api/v1/nodes', '/apis', '/apis/apps/v1/deployments', '/openapi/v2', '/openapi/v3'];

let app: AppUnderTest;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

describe('G-21 without the gateway', () => {
  test.each(PATHS)('%s is 404 with a token, and 401 without', async (path) => {
    const nobody = { headers: { Authorization: '' } };
    expect([(await app.get(path)).status, (await app.get(path, nobody)).status]).toEqual([404, 401]);
  });

  test('an upgrade is none: it runs as a request, and is 404', async () => {
    const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\n';
    const head = 'Host: a\r\nAuthorization: Bearer good\r\n';
    const path = '/api/v1/namespaces/a/pods/p/exec';
    const answer = await app.raw(`GET ${path} HTTP/1.1\r\n${head}${upgrade}\r\n`, /"code":404/);
    expect(answer).toMatch(/^HTTP\/1\.1 404 /);
  });
});
