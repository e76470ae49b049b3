import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AppUnderTest, startApp } from './app-under-test.ts';
import { HEAD, LIST, parseAnswer, statusText } from './raw-answer.ts';

let app: AppUnderTest;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

const answerTo = async (text: string) => parseAnswer(await app.raw(text));

describe('the request target', () => {
  test('A-07 an absolute target of the same authority is served', async () => {
    const answer = await answerTo(`GET http://A${LIST} HTTP/1.1\r\n${HEAD}Connection: close\r\n\r\n`);
    expect(answer.status).toBe(200);
  });

  test('A-07 an absolute target of another authority is 400', async () => {
    const answer = await answerTo(`GET http://b${LIST} HTTP/1.1\r\n${HEAD}Connection: close\r\n\r\n`);
    expect(answer.body).toBe(
      statusText(400, 'BadRequest', 'the request is malformed: the request target names another host'),
    );
  });

  test.each([
    '/api/../kapis',
    '/api/%2e%2e/kapis',
    '/api/.%2E/kapis',
    '/healthz/../kapis',
    '/api/./v1',
    '/a%2fb',
    '/a%5cb',
    '/a\\b',
    '//kapis',
    '/kapis//x',
    '/kapis/x//',
    '/a%00b',
    '/a%0ab',
    '/a%7fb',
    '/a%zz',
    '/a%',
    '/a%ff',
    '/a#b',
    '*',
  ])('A-25 the target %s is 400', async (target) => {
    const answer = await answerTo(`GET ${target} HTTP/1.1\r\n${HEAD}Connection: close\r\n\r\n`);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatch(/^\{"kind":"Status".*"message":"the request is malformed: the (path|request target) /);
  });

  test('A-25 raw UTF-8 is 400', async () => {
    const answer = await answerTo(`GET /caf\xc3\xa9 HTTP/1.1\r\n${HEAD}Connection: close\r\n\r\n`);
    expect(answer.status).toBe(400);
  });

  test('A-25 a refused target under /oauth is answered as OAuth', async () => {
    const answer = await answerTo(`GET /oauth/../x HTTP/1.1\r\n${HEAD}Connection: close\r\n\r\n`);
    expect(answer.body).toBe(
      '{"error":"invalid_request","error_description":"the request is malformed: the path has a dot segment"}',
    );
  });

  test('A-25 a refused absolute target under /oauth is answered as OAuth', async () => {
    const answer = await answerTo(`GET http://a/oauth/../x HTTP/1.1\r\n${HEAD}Connection: close\r\n\r\n`);
    expect(JSON.parse(answer.body)).toMatchObject({ error: 'invalid_request' });
  });

  test('A-25 a semicolon is part of its segment', async () => {
    const answer = await answerTo(`GET ${LIST};x=y HTTP/1.1\r\n${HEAD}Connection: close\r\n\r\n`);
    expect(answer.status).toBe(404);
  });

  test('A-25 an encoded letter means the letter', async () => {
    const encoded = LIST.replace('nodes', 'n%6fdes');
    const answer = await answerTo(`GET ${encoded} HTTP/1.1\r\n${HEAD}Connection: close\r\n\r\n`);
    expect(answer.status).toBe(200);
  });

  const REWRITES = {
    'X-HTTP-Method-Override': 'DELETE',
    'X-HTTP-Method': 'DELETE',
    'X-Method-Override': 'DELETE',
    'X-Original-URL': '/healthz',
    'X-Rewrite-URL': '/healthz',
    'X-Forwarded-Uri': '/healthz',
    'X-Forwarded-Prefix': '/oauth',
  };

  test.each(Object.entries(REWRITES))(
    'A-26 %s changes neither what is authorised nor what is served',
    async (name, value) => {
      const asked: unknown[] = [];
      const authorize: (typeof app.parts.authorizer)['authorize'] = (subject, attributes) => {
        asked.push(attributes);
        return { allowed: subject.name === 'alice', source: 'cache' };
      };
      const judged = await startApp({ authorizer: { authorize } });
      try {
        const served = await judged.get(LIST, { headers: { [name]: value } });
        expect([served.status, ((await served.json()) as { totalItems: number }).totalItems]).toEqual([200, 12]);
        const refused = await judged.get(LIST, { headers: { [name]: value, Authorization: 'Bearer powerless' } });
        expect(refused.status).toBe(403);
        const question = { verb: 'list', group: 'resources.gatehouse.io', version: 'v1alpha3', resource: 'nodes' };
        expect(asked).toEqual(Array(2).fill({ resource: question }));
      } finally {
        await judged.stop();
      }
    },
  );

  test('A-35 the port of the API has no metrics, and the probes end where they say', async () => {
    expect((await app.get('/metrics')).status).toBe(404);
    expect((await app.get('/metrics', { headers: { Authorization: '' } })).status).toBe(401);
    for (const target of ['/healthz/../kapis', '/healthz/%2e%2e/kapis', '/healthz//kapis'])
      expect((await answerTo(`GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)).status).toBe(400);
  });

  test('A-35 no right comes from an agent or a query', async () => {
    const answer = await fetch(`${app.url}${LIST}?allowed`, { headers: { 'User-Agent': 'kube-probe/1.36' } });
    expect(answer.status).toBe(401);
  });
});
