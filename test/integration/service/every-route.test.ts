import { describe, expect, test } from 'vitest';
import { createRoutes } from '../../../src/http/app.ts';
import { appParts } from '../http/app-under-test.ts';
import { type Answer, CLIENT, passwordOf, type Service, startCluster, startService } from './stand.ts';

const BASIC = (pair: string): string => `Basic ${Buffer.from(pair).toString('base64')}`;
const DOCUMENTS = /\/\.well-known\/|^\/oauth\/keys$|^\/openapi/;
const RESOURCES = /^\/kapis\/resources\.gatehouse\.io\/v1alpha3\/\w/;

/** What may stand in `Authorization`: nothing, and what no route takes. */
const CREDENTIALS: Readonly<Record<string, string | undefined>> = {
  nothing: undefined,
  'a client of a wrong secret': BASIC('gatehouse:wrong'),
  'a client that nobody knows': BASIC('nobody:wrong'),
  'a bearer that is none': 'Bearer garbage',
  'a bearer of two words': 'Bearer a b',
  'another scheme': 'Digest username="ada"',
};

interface Way {
  readonly method: string;
  readonly path: string;
}

/** Every method of every route of the table, and the watch where there is one. */
const WAYS: readonly Way[] = createRoutes(appParts()).flatMap(({ template, methods, watch }) => {
  const path = template.replaceAll(/\{\w+\}/g, 'node-a');
  const paths = watch ? [path, `${path}?watch=true`] : [path];
  return paths.flatMap((one) => Object.keys(methods).map((method) => ({ method, path: one })));
});

interface Asked extends Way {
  readonly authorization?: string | undefined;
  readonly form?: Readonly<Record<string, string>>;
}

/** Head and, unless it is a stream, body of one answer. */
async function ask(service: Service, { method, path, authorization, form }: Asked): Promise<Omit<Answer, 'body'>> {
  const stop = new AbortController();
  const answer = await fetch(service.gatehouse.origin + path, {
    method,
    redirect: 'manual',
    signal: stop.signal,
    headers: authorization ? { authorization } : {},
    ...(method === 'POST' ? { body: new URLSearchParams(form ?? { token: 'x' }) } : {}),
  });
  const text = path.includes('watch=') && answer.status === 200 ? '' : await answer.text();
  stop.abort();
  return { status: answer.status, headers: answer.headers, text };
}

const start = async (): Promise<Service> => startService(await startCluster());

describe('every way to every route', () => {
  test.each(Object.entries(CREDENTIALS))(
    'N-32 a 401 to %s has a challenge, watches included',
    async (_, authorization) => {
      const service = await start();
      const unchallenged: string[] = [];
      let refused = 0;
      for (const way of WAYS) {
        const { status, headers } = await ask(service, { ...way, authorization });
        if (status !== 401) continue;
        refused++;
        if (!/^(Bearer|Basic) realm="gatehouse"/.test(headers.get('www-authenticate') ?? ''))
          unchallenged.push(`${way.method} ${way.path}`);
      }
      expect(unchallenged).toEqual([]);
      expect(refused).toBeGreaterThan(authorization === 'Bearer a b' ? 1 : 10);
    },
  );

  test('N-57 no shared cache keeps what a caller got with a token, watches included', async () => {
    const service = await start();
    const authorization = `Bearer ${(await service.signIn('ada')).access_token}`;
    const kept: string[] = [];
    let asked = 0;
    for (const way of WAYS.filter(({ path, method }) => path.startsWith('/kapis') && /GET|HEAD/.test(method))) {
      const { status, headers } = await ask(service, { ...way, authorization });
      const control = headers.get('cache-control');
      const isPublic = /^\/kapis\/(?:version|config\.[^/]+\/v1alpha2\/configs\/(?:configz|oauth))$/.test(way.path);
      if (!isPublic && control !== (status === 200 ? 'private, no-cache' : 'no-store'))
        kept.push(`${way.method} ${way.path}: ${status} ${control}`);
      if (status === 200 && RESOURCES.test(way.path)) asked++;
    }
    expect(kept).toEqual([]);
    expect(asked).toBe(12); // both lists, their watches, one node and the summary, by GET and by HEAD
  });

  test.each(Object.entries(CREDENTIALS))(
    'N-57 nobody keeps an answer under /oauth to %s, refusals included',
    async (_, authorization) => {
      const service = await start();
      for (const way of WAYS.filter(({ path }) => path.startsWith('/oauth/') && !DOCUMENTS.test(path))) {
        for (const method of new Set([way.method, 'GET', 'DELETE', 'POST'])) {
          const { headers } = await ask(service, { ...way, method, authorization });
          const caching = [way.path, headers.get('cache-control'), headers.get('pragma')];
          expect(caching).toEqual([way.path, 'no-store', 'no-cache']);
        }
      }
    },
  );

  test('N-57 everybody may keep keys and metadata for five minutes, and nothing that was refused', async () => {
    const service = await start();
    for (const { path } of WAYS.filter(({ path: one }) => one.startsWith('/oauth/') && DOCUMENTS.test(one))) {
      const good = await ask(service, { method: 'GET', path });
      expect([path, good.headers.get('cache-control')]).toEqual([path, 'public, max-age=300']);
      const bad = await ask(service, { method: 'DELETE', path });
      expect([path, bad.headers.get('cache-control')]).toEqual([path, 'no-store']);
    }
  });
});

describe('a form', () => {
  const FORMS = ['/oauth/token', '/oauth/revoke', '/oauth/introspect'];
  const TYPES = [undefined, 'application/json', 'multipart/form-data; boundary=x', 'text/plain'];
  const BODY = new URLSearchParams({ client_id: 'gatehouse', client_secret: 'gatehouse', token: 'x', grant_type: 'x' });

  test.each(FORMS)('N-02 of another type is 400 at %s, before anything in it is looked at', async (path) => {
    const service = await start();
    for (const type of TYPES) {
      const answer = await fetch(service.gatehouse.origin + path, {
        method: 'POST',
        body: Buffer.from(BODY.toString()), // fetch gives bytes no type of its own
        headers: type === undefined ? {} : { 'content-type': type },
      });
      expect([type, answer.status, await answer.json()]).toEqual([
        type,
        400,
        { error: 'invalid_request', error_description: 'the body must be application/x-www-form-urlencoded in UTF-8' },
      ]);
    }
  });

  test('N-05 may have parameters that nobody knows', async () => {
    const service = await start();
    const form = { grant_type: 'password', ...CLIENT, username: 'ada', password: passwordOf('ada'), foo: 'bar', x: '' };
    expect((await service.call('/oauth/token', { form })).status).toBe(200);
  });
});
