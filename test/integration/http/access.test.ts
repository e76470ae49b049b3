import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Authorizer, RequestAttributes, Subject } from '../../../src/authorization/authorizer.ts';
import type { TokenVerifier } from '../../../src/oauth/tokens/identity.ts';
import { serviceUnavailable } from '../../../src/status-error.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { type AppUnderTest, eventually, fakeVerifier, listsWith, startApp } from './app-under-test.ts';

const LIST = '/kapis/resources.gatehouse.io/v1alpha3/nodes';
const LOGS = '/kapis/logging.gatehouse.io/v1alpha2';
const CHALLENGE = 'Bearer realm="gatehouse"';

let app: AppUnderTest;
const asked: [Subject, RequestAttributes][] = [];

beforeAll(async () => {
  const authorizer: Authorizer = {
    authorize: (subject, attributes) => {
      asked.push([subject, attributes]);
      return { allowed: subject.name === 'alice', source: 'review' };
    },
  };
  app = await startApp({ authorizer });
});
afterAll(() => app.stop());

const as = (bearer: string): RequestInit => ({ headers: { Authorization: bearer } });

async function refusal(path: string, init: RequestInit): Promise<unknown[]> {
  const answer = await app.get(path, init);
  const { message, code } = (await answer.json()) as { message: string; code: number };
  expect(code).toBe(answer.status);
  return [answer.status, message, answer.headers.get('www-authenticate')];
}

describe('credentials', () => {
  test.each([
    ['N-27', '', 401, 'Unauthorized: no bearer token was sent', CHALLENGE],
    ['N-27', 'Basic YWxpY2U6cHc=', 401, 'Unauthorized: no bearer token was sent', CHALLENGE],
    ['N-28', 'Bearer old', 401, 'Unauthorized: the access token has expired', `${CHALLENGE}, error="invalid_token"`],
    ['N-34', 'Bearer x', 401, 'Unauthorized: the access token is not valid', `${CHALLENGE}, error="invalid_token"`],
    ['N-33', 'Bearer a,b', 401, 'Unauthorized: the access token is not valid', `${CHALLENGE}, error="invalid_token"`],
    [
      'N-29',
      'Bearer a b',
      400,
      'the request is malformed: its Authorization header is not one bearer token',
      `${CHALLENGE}, error="invalid_request"`,
    ],
  ])('%s answers "%s" by %i', async (_, header, code, message, challenge) => {
    expect(await refusal(LIST, as(header))).toEqual([code, message, challenge]);
  });

  test('a name of 254 characters is 401 without a token, else the 404 of every missing node, without a review', async () => {
    const path = `${LIST}/${'n'.repeat(254)}`;
    expect((await app.get(path, as(''))).status).toBe(401);
    const missing = await app.get(`${LIST}/none`, as('Bearer good'));
    const words = (await missing.text()).replaceAll('none', 'n'.repeat(254));
    const reviews = asked.length;
    for (const bearer of ['good', 'powerless']) {
      const answer = await app.get(path, as(`Bearer ${bearer}`));
      expect(answer.status).toBe(404);
      expect(await answer.text()).toBe(words);
    }
    expect(asked).toHaveLength(reviews);
    expect((await app.get(path.slice(0, -1), as('Bearer powerless'))).status).toBe(403);
  });

  test.each([
    '/kapis/nothing.io/v1/things',
    `/kapis/${'n'.repeat(254)}/v1alpha3/nodes`,
    '/kapis/resources.gatehouse.io/v1/nodes',
    '/kapis/resources.gatehouse.io/v1alpha3/things',
    '/kapis/resources.gatehouse.io/v1alpha3/namespaces/d/pods',
    `${LIST}/worker-1/status`,
  ])('A-49 %s, which no route serves, is 401 without a token, else 404 without a review', async (path) => {
    const before = asked.length;
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
      expect((await app.get(path, { ...as(''), method })).status).toBe(401);
      for (const bearer of ['good', 'powerless']) {
        const answer = await app.get(path, { ...as(`Bearer ${bearer}`), method });
        expect(await answer.json()).toMatchObject({
          message: 'the server could not find the requested resource',
          reason: 'NotFound',
          code: 404,
        });
      }
    }
    expect(asked).toHaveLength(before);
  });

  test('N-30 a token in the query is none', async () => {
    expect((await app.get(`${LIST}?access_token=good`, as(''))).status).toBe(401);
  });

  test('N-30 a token in the query of a good request is refused, and its value is in no log', async () => {
    const answer = await app.get(`${LIST}?access_token=canary-value`);
    expect(answer.status).toBe(400);
    expect(await answer.text()).not.toContain('canary');
    expect(JSON.stringify(app.lines)).not.toContain('canary');
  });

  test.each([
    'X-Remote-User',
    'X-Remote-Group',
    'X-Remote-Extra-Scopes',
    'Impersonate-User',
    'X-Forwarded-User',
    'X-Client-Cert',
    'X-KubeSphere-Authorization',
  ])('A-33 %s is no credential', async (name) => {
    const headers = { Authorization: '', [name]: name.endsWith('Authorization') ? 'Bearer good' : 'alice' };
    expect((await app.get(LIST, { headers })).status).toBe(401);
    const beside = {
      Authorization: 'Bearer powerless',
      [name]: name.endsWith('Authorization') ? 'Bearer good' : 'alice',
    };
    expect((await app.get(LIST, { headers: beside })).status).toBe(403);
  });

  test('N-33 A-20 a token of 8 KiB is verified, one character more is 401 unread, and a header past its limit is 431', async () => {
    const lengths: number[] = [];
    const verify: TokenVerifier['verify'] = (text) => {
      lengths.push(text.length);
      return { fault: 'invalid' };
    };
    const counting = await startApp({ verifier: { verify } });
    try {
      for (const [length, code] of [
        [8_192, 401],
        [8_193, 401],
        [1_000_000, 431],
      ] as const)
        expect((await counting.get(LIST, as(`Bearer ${'a'.repeat(length)}`))).status).toBe(code);
      expect(lengths).toEqual([8_192]);
    } finally {
      await counting.stop();
    }
  });

  test('N-32 the scheme is read in any case', async () => {
    expect((await app.get(LIST, as('bEaReR good'))).status).toBe(200);
  });

  test('a broken bearer on a public path is not looked at', async () => {
    expect((await app.get('/version', as('Bearer a b'))).status).toBe(200);
  });

  test('C-38 a verifier that cannot tell answers 503, not 401', async () => {
    const verify = (): never => {
      throw serviceUnavailable('session data is not available', 5);
    };
    const stale = await startApp({ verifier: { verify } });
    try {
      const answer = await stale.get(LIST);
      expect(answer.status).toBe(503);
      expect(answer.headers.get('retry-after')).toBe('5');
      expect(answer.headers.get('www-authenticate')).toBeNull();
    } finally {
      await stale.stop();
    }
  });
});

describe('rights', () => {
  test('asks with the identity of the token and the attributes of the request line', async () => {
    asked.length = 0;
    await app.get(`${LIST}/worker-1`);
    expect(asked).toEqual([
      [
        expect.objectContaining({ name: 'alice', uid: 'u-1', groups: ['developers', 'system:authenticated'] }),
        {
          resource: {
            verb: 'get',
            group: 'resources.gatehouse.io',
            version: 'v1alpha3',
            resource: 'nodes',
            name: 'worker-1',
          },
        },
      ],
    ]);
  });

  test('asks for watch when the query does, before a parameter is looked at', async () => {
    asked.length = 0;
    expect((await app.get(`${LIST}?watch=abc`)).status).toBe(400);
    expect(asked[0]?.[1]).toMatchObject({ resource: { verb: 'watch' } });
  });

  test('N-32 the cache is not read before the right is known', async () => {
    let reads = 0;
    const nodes = {
      list: (): never => {
        reads++;
        throw new Error('read');
      },
      get: () => undefined,
    };
    const denied = await startApp({ lists: listsWith({ lister: nodes }) });
    try {
      expect((await denied.get(LIST, as('Bearer powerless'))).status).toBe(403);
      expect(reads).toBe(0);
    } finally {
      await denied.stop();
    }
  });

  test.each(['/kapis', '/kapis/nothing.io', '/kapis/nothing.io/v1', '/nothing', '/api/v1/nodes', '/oauth/nothing'])(
    'asks for no right to %s',
    async (path) => {
      asked.length = 0;
      await app.get(path);
      expect(asked).toEqual([]);
    },
  );

  test('HL-06 an authorizer that does not answer in time is a 504', async () => {
    const clock = new FakeClock();
    let waiting = false;
    const authorize = (): Promise<never> => {
      waiting = true;
      return new Promise(() => {});
    };
    const slow = await startApp({ authorizer: { authorize }, clock });
    const answer = slow.get(LIST);
    await eventually(() => waiting);
    await clock.advance(30_000);
    expect((await answer).status).toBe(504);
    expect(await (await answer).json()).toMatchObject({ reason: 'Timeout', code: 504 });
    await stopWith(slow, clock);
  });

  const OWN_LISTS = ['users', 'globalroles', 'users/alice-2/loginrecords'].map(
    (path) => `/kapis/iam.gatehouse.io/v1alpha2/${path}`,
  );

  test.each([LIST, '/kapis/resources.gatehouse.io/v1alpha3/namespaces', ...OWN_LISTS])(
    'HL-06 a list of %s is 504 when the time is over that its caller waits, a watch is not',
    async (path) => {
      const clock = new FakeClock();
      let waiting = 0;
      const authorize = (): Promise<never> => {
        waiting += 1;
        return new Promise(() => {});
      };
      const slow = await startApp({ authorizer: { authorize }, clock });
      const ask = (query: string): { status?: number; answer: Promise<Response> } => {
        const asked: { status?: number; answer: Promise<Response> } = { answer: slow.get(path + query) };
        void asked.answer.then(({ status }) => Object.assign(asked, { status }));
        return asked;
      };
      const short = ask('?%74imeout=2s');
      const long = ask('?timeout=1h');
      // What belongs to one user is got: there `watch` means nothing.
      const watch = path.includes('alice-2') ? long : ask('?watch=true&timeout=2s');
      await eventually(() => waiting === (watch === long ? 2 : 3));
      await clock.advance(2_000);
      expect((await short.answer).status).toBe(504);
      expect(await (await short.answer).json()).toMatchObject({
        ...{ reason: 'Timeout', code: 504, message: 'the request could not be answered within 2 s' },
      });
      await clock.advance(27_999);
      expect([long.status, watch.status]).toEqual([undefined, undefined]);
      await clock.advance(1);
      expect([(await long.answer).status, (await watch.answer).status]).toEqual([504, 504]);
      await stopWith(slow, clock);
    },
  );

  test.each(['?timeout=10s', '?timeout=10s&pretty=true', '?pretty=true', '?timeout=0&pretty=1'])(
    'lists and single objects are answered with %s',
    async (query) => {
      for (const path of [LIST, `${LIST}/worker-1`, '/kapis/resources.gatehouse.io/v1alpha3/namespaces'])
        expect([path, (await app.get(path + query)).status]).toEqual([path, 200]);
    },
  );
});

/** On a fake clock the drain waits for somebody to move it. */
async function stopWith(app: AppUnderTest, clock: FakeClock): Promise<void> {
  const stopped = app.stop();
  await clock.advance(0);
  await clock.advance(1_000);
  await stopped;
}

describe('paths without a route', () => {
  const NOT_FOUND = 'the server could not find the requested resource';
  test.each([
    ['/nothing', 401, 404, {}],
    ['/api/v1/nodes', 401, 404, { kind: 'nodes' }],
    ['/kapis/nothing.io', 401, 404, {}],
    ['/kapis/nothing.io/v1/things', 401, 404, { group: 'nothing.io', kind: 'things' }],
    ['/kapis/resources.gatehouse.io/v1alpha3/foos', 401, 404, { group: 'resources.gatehouse.io', kind: 'foos' }],
    ['/kapis/resources.gatehouse.io/v1alpha3/foos/x', 401, 404, { group: 'resources.gatehouse.io', kind: 'foos' }],
    [
      '/kapis/resources.gatehouse.io/v1alpha3/namespaces/default/nodes',
      401,
      404,
      { group: 'resources.gatehouse.io', kind: 'nodes' },
    ],
    ['/kapis/resources.gatehouse.io/v1alpha2/nodes', 401, 404, { group: 'resources.gatehouse.io', kind: 'nodes' }],
    ['/kapis/metrics', 401, 404, {}],
    ['/metrics', 401, 404, {}],
    ['/kapis/config.gatehouse.io/v1alpha2/configs/theme', 404, 404, {}],
  ])('NE-06 %s is %i without a token, else %i', async (path, anonymous, known, details) => {
    expect((await app.get(path, as(''))).status).toBe(anonymous);
    const answer = await app.get(path);
    expect(answer.status).toBe(known);
    expect(await answer.json()).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: NOT_FOUND,
      reason: 'NotFound',
      details,
      code: 404,
    });
  });

  test('an object of a served kind is 403 before it is 404', async () => {
    expect((await app.get(`${LIST}/nothing`, as('Bearer powerless'))).status).toBe(403);
    expect((await app.get(`${LIST}/nothing`)).status).toBe(404);
    expect((await app.get('/nothing', as('Bearer powerless'))).status).toBe(404);
  });

  test('OPTIONS on it is 404', async () => {
    expect((await app.get('/nothing', { method: 'OPTIONS' })).status).toBe(404);
  });

  test('N-50 an unknown path under /oauth is 404 in the words of OAuth, without a token', async () => {
    const answer = await app.get('/oauth/nothing', as(''));
    expect(answer.status).toBe(404);
    expect(answer.headers.get('pragma')).toBe('no-cache');
    expect(await answer.text()).toBe(
      '{"error":"invalid_request","error_description":"the server could not find the requested resource"}',
    );
  });
});

describe('Accept', () => {
  test.each(['application/yaml', 'text/html', 'application/vnd.kubernetes.protobuf', 'application/json;as=Table;v=v1'])(
    'NE-08 %s is 406',
    async (accept) => {
      const answer = await app.get(LIST, { headers: { Accept: accept } });
      expect(answer.status).toBe(406);
      expect(await answer.json()).toMatchObject({
        message: 'only the following media types are accepted: application/json',
        reason: 'NotAcceptable',
      });
    },
  );

  test('is looked at after the right and before the parameters', async () => {
    const headers = { Accept: 'text/html' };
    expect((await app.get(`${LIST}?limit=x`, { headers })).status).toBe(406);
    expect((await app.get(LIST, { headers: { ...headers, Authorization: 'Bearer powerless' } })).status).toBe(403);
  });
});

describe('withdrawn paths', () => {
  const removed = 'this endpoint was removed in release 3.4; ';
  const logs = `${removed}use GET /kapis/tenant.gatehouse.io/v1alpha2/logs`;
  test.each([
    ['GET', '/workspaces/w', logs],
    ['GET', '/namespaces/a', `${logs}?namespaces=a`],
    ['GET', '/namespaces/a/workloads/b', `${logs}?namespaces=a&workloads=b`],
    ['GET', '/namespaces/a/pods/b', `${logs}?namespaces=a&pods=b`],
    ['DELETE', '/namespaces/a/pods/b', `${logs}?namespaces=a&pods=b`],
    ['POST', '/fluentbit/outputs', `${removed}log collection is configured in the cluster, not through this server`],
    ['PUT', '/fluentbit/outputs/o', `${removed}log collection is configured in the cluster, not through this server`],
  ])('%s %s is 410 to anybody signed in', async (method, path, message) => {
    const answer = await app.get(LOGS + path, { method, headers: { Authorization: 'Bearer powerless' } });
    expect(answer.status).toBe(410);
    expect(await answer.json()).toMatchObject({ message, reason: 'Gone', code: 410 });
    expect((await app.get(LOGS + path, { method, headers: { Authorization: '' } })).status).toBe(401);
  });

  test.each(['/cluster', '/namespaces/a/pods/b/containers/c'])('GET %s was never withdrawn: 404', async (path) => {
    expect((await app.get(LOGS + path)).status).toBe(404);
  });
});

describe('failures of ours', () => {
  test('HE-500 tells a request id and nothing else; the log tells the rest once', async () => {
    const nodes = {
      list: (): never => {
        throw new TypeError('cannot read /etc/passwd');
      },
      get: () => undefined,
    };
    const broken = await startApp({ lists: listsWith({ lister: nodes }), verifier: fakeVerifier });
    try {
      const answer = await broken.get(LIST, { headers: { 'X-Request-Id': 'my.id-1' } });
      expect(answer.status).toBe(500);
      expect(answer.headers.get('x-request-id')).toBe('my.id-1');
      expect(await answer.text()).toBe(
        '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",' +
          '"message":"Internal error occurred: see the server log for request my.id-1","reason":"InternalError","code":500}',
      );
      await eventually(() => broken.lines.some((line) => line['requestId'] === 'my.id-1'));
      const lines = broken.lines.filter((line) => JSON.stringify(line).includes('/etc/passwd'));
      expect(lines).toHaveLength(1);
      expect(lines[0]).toMatchObject({ level: 'error', requestId: 'my.id-1', status: 500 });
    } finally {
      await broken.stop();
    }
  });
});
