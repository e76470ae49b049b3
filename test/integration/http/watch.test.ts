import { afterEach, describe, expect, test } from 'vitest';
import type { Verification } from '../../../src/oauth/tokens/identity.ts';
import { serviceUnavailable } from '../../../src/status-error.ts';
import { defaultLimits } from '../../support/default-limits.ts';
import { makeCache, makeNode } from '../../unit/resources/node-objects.ts';
import { type AppUnderTest, eventually, fakeVerifier } from './app-under-test.ts';
import { advance, LIST, lineOf, metric, open, start, watching } from './watch-under-test.ts';

describe('the answer to a watch', () => {
  test('has no length and no tag, and is the last one on its connection', async () => {
    const { app } = await start();
    const { status, response } = await open(app);
    expect(status).toBe(200);
    expect(response.headers).toEqual({
      'cache-control': 'private, no-cache',
      connection: 'close',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'content-type': 'application/json',
      date: expect.any(String),
      'referrer-policy': 'no-referrer',
      'transfer-encoding': 'chunked',
      vary: 'Accept, Accept-Encoding',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'x-request-id': expect.any(String),
    });
  });

  test('to HEAD is its headers, and no watch', async () => {
    const { app } = await start();
    const watcher = await open(app, '', {}, 'HEAD');
    await eventually(() => watcher.ending !== undefined);
    expect([watcher.status, watcher.response.headers['content-type'], watcher.ending]).toEqual([
      200,
      'application/json',
      'complete',
    ]);
    expect(await metric(app, 'gatehouse_watches')).toBe('gatehouse_watches 0');
  });

  test.each(['text/event-stream', 'text/event-stream, */*;q=0.5', 'application/json;q=0.5, text/event-stream'])(
    'comes as server-sent events for Accept: %s',
    async (accept) => {
      const { app } = await start();
      const watcher = await open(app, '', { accept });
      await eventually(() => watcher.text.includes('id: 1.2.0.0\n\n'), watcher);
      expect(watcher.response.headers['content-type']).toBe('text/event-stream');
      expect(watcher.text).toMatch(
        /\nevent: ADDED\ndata: \{"type":"ADDED","object":\{"kind":"Node","apiVersion":"v1","metadata":\{"name":"node-b",/,
      );
    },
  );

  test.each(['application/json, */*', 'application/json;stream=watch', '*/*', 'text/event-stream;q=0, */*'])(
    'comes as JSON lines for Accept: %s',
    async (accept) => {
      const { app } = await start();
      expect((await open(app, '', { accept })).response.headers['content-type']).toBe('application/json');
    },
  );

  test.each([
    ['application/json', /^\{"type":"ADDED","object":\{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io\/v1",/],
    ['text/event-stream', /\ndata: \{"type":"ADDED","object":\{"kind":"PartialObjectMetadata",/],
  ])('tells metadata alone, with the status word, for Accept: %s;as=PartialObjectMetadata', async (type, expected) => {
    const { app } = await start();
    const watcher = await open(app, '', { accept: `${type};as=PartialObjectMetadata;g=meta.k8s.io;v=v1` });
    await eventually(() => watcher.text.includes('BOOKMARK'), watcher);
    expect(watcher.response.headers['content-type']).toBe(type);
    expect(watcher.text).toMatch(expected);
    expect(watcher.text.match(/"node\.gatehouse\.io\/status":"running"/g)).toHaveLength(2);
    expect(watcher.text).not.toContain('"status":{');
  });

  test('is 406 for a caller that takes neither', async () => {
    const { app } = await start();
    const answer = await app.get(`${LIST}?watch=1`, { headers: { Accept: 'application/yaml' } });
    expect([answer.status, await answer.json()]).toMatchObject([
      406,
      { message: 'only the following media types are accepted: application/json, text/event-stream' },
    ]);
  });

  test.each([
    ['GET', undefined],
    ['GET', 300],
    ['HEAD', 300],
  ])('tells at its opening how old the data is: %s, %s s', async (method, seconds) => {
    const { app } = await start({}, { age: { staleSeconds: () => seconds } });
    const watcher = await open(app, '', {}, method);
    const { age, warning } = watcher.response.headers;
    expect([age, warning]).toEqual(
      seconds === undefined ? [undefined, undefined] : ['300', '110 - "Response is Stale"'],
    );
  });

  test('N-32 is 403 without the right to watch, whatever is watched', async () => {
    const read = (): never => {
      throw new Error('read');
    };
    const { app } = await start({}, { watches: { refresh: read, watch: read } });
    const answer = await app.get(`${LIST}?watch=1&foo=1`, { headers: { Authorization: 'Bearer powerless' } });
    expect([answer.status, await answer.json()]).toMatchObject([
      403,
      {
        message:
          'nodes.resources.gatehouse.io is forbidden: User "joe" cannot watch resource "nodes" in API group "resources.gatehouse.io" at the cluster scope',
      },
    ]);
  });
});

describe('an open watch', () => {
  test('says something every 45 s that nothing changes', async () => {
    const { app, clock } = await start();
    const watcher = await watching(app);
    const bare = await open(app, '&allowWatchBookmarks=false', { accept: 'text/event-stream' });
    await advance(clock, 44_000);
    expect(watcher.story).toEqual(['ADDED node-b', 'ADDED node-a', 'BOOKMARK']);
    await advance(clock, 2_000);
    await eventually(() => watcher.story.length === 4 && bare.text.endsWith('\n\n:\n\n'), watcher);
    expect(watcher.events[3]).toEqual({
      type: 'BOOKMARK',
      object: { kind: 'Node', apiVersion: 'v1', metadata: { resourceVersion: '1.2.0.0' } },
    });
  });

  test('tells all of 300 watchers of a change', async () => {
    const { app, cache, clock } = await start({ limits: { ...defaultLimits, maxWatchesPerUser: 300 } });
    const watchers = await Promise.all(Array.from({ length: 300 }, () => watching(app)));
    cache.putNode(makeNode('node-a', { resourceVersion: '2' }));
    await clock.advance(100);
    await eventually(() => watchers.every(({ story }) => story.at(-1) === 'MODIFIED node-a'));
    expect(await metric(app, 'gatehouse_watches')).toBe('gatehouse_watches 300');
    expect(await metric(app, 'gatehouse_watch_fanout_seconds_count')).toMatch(/ 1$/);
  });

  test('ends after timeoutSeconds with the version to go on from, and is logged then', async () => {
    const { app, cache, clock } = await start();
    const watcher = await watching(app, '&timeoutSeconds=5');
    await advance(clock, 3_000);
    cache.putNode(makeNode('node-c'));
    await advance(clock, 3_000);
    await eventually(() => watcher.ending !== undefined && lineOf(app) !== undefined);
    expect(watcher.ending).toBe('complete');
    expect(watcher.story.slice(3)).toEqual(['ADDED node-c', 'BOOKMARK']);
    expect(watcher.version).toBe('1.3.0.0');
    expect(lineOf(app)).toMatchObject({
      msg: 'request',
      level: 'info',
      status: 200,
      verb: 'watch',
      durationMs: 5_000,
      bytes: watcher.text.length,
      reason: 'timeout',
      queryParameters: ['watch', 'timeoutSeconds'],
    });
    expect(lineOf(app)?.['aborted']).toBeUndefined();
    expect(await metric(app, 'gatehouse_watches_ended_total{end="timeout"}')).toMatch(/ 1$/);
    const route = `method="GET",route="${LIST}"`;
    expect(await metric(app, `gatehouse_http_request_duration_seconds_bucket{le="0.001",${route}}`)).toMatch(/ 1$/);
  });

  test('ends after half an hour at the soonest by itself', async () => {
    const { app, clock } = await start();
    const watcher = await watching(app);
    await advance(clock, 1_799_000);
    expect(watcher.ending).toBeUndefined();
    await advance(clock, 2_000);
    await eventually(() => watcher.ending === 'complete');
  });

  test('that its client leaves is logged as aborted, and gives its place back', async () => {
    const { app } = await start({ limits: { ...defaultLimits, maxWatches: 1 } });
    const watcher = await watching(app);
    watcher.close();
    await eventually(() => lineOf(app) !== undefined);
    expect(lineOf(app)).toMatchObject({ status: 200, aborted: true });
    expect(await metric(app, 'gatehouse_watches_ended_total{end="client"}')).toMatch(/ 1$/);
    expect((await open(app)).status).toBe(200);
  });

  test('HL-05 takes no place of the requests in flight, and has a limit of its own', async () => {
    const { app } = await start({ limits: { ...defaultLimits, maxRequestsInFlight: 1, maxWatches: 2 } });
    await watching(app);
    await watching(app);
    expect((await app.get(LIST)).status).toBe(200);
    const refused = await app.get(`${LIST}?watch=1`);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
    expect(await metric(app, 'gatehouse_http_rejections_total{reason="watches"}')).toMatch(/ 1$/);
  });
});

describe('the watches of one user', () => {
  /** Everybody may watch; a bearer reads `user/session`. */
  const startForTwo = () =>
    start({
      limits: { ...defaultLimits, maxWatches: 3, maxWatchesPerUser: 2 },
      authorizer: { authorize: () => ({ allowed: true, source: 'cache' }) },
      verifier: {
        verify: (text) => {
          const [name = '', sid = ''] = text.split('/');
          return { identity: { name, uid: name, groups: [], clientId: sid, sid }, cached: true };
        },
      },
    });
  const watchAs = (app: AppUnderTest, bearer: string, method = 'GET') =>
    open(app, '', { authorization: `Bearer ${bearer}` }, method);

  test('HL-05 are limited, over all of its sessions; the refusal says so', async () => {
    const { app } = await startForTwo();
    await watchAs(app, 'ann/1');
    await watchAs(app, 'ann/2');
    const refused = await watchAs(app, 'ann/3');
    await eventually(() => refused.ending === 'complete');
    expect([refused.status, refused.response.headers['retry-after'], refused.text]).toEqual([
      429,
      '1',
      '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"User \\"ann\\" has 2 watches open and may have no more.","reason":"TooManyRequests","details":{"retryAfterSeconds":1},"code":429}',
    ]);
    expect((await watchAs(app, 'ann/3', 'HEAD')).status).toBe(429);
    expect(await metric(app, 'gatehouse_http_rejections_total{reason="watches_per_user"}')).toMatch(/ 2$/);
  });

  test('leave a place to another user, until everybody together has as many as may be', async () => {
    const { app } = await startForTwo();
    for (const bearer of ['ann/1', 'ann/1', 'ann/1']) await watchAs(app, bearer);
    expect((await watchAs(app, 'ben/1')).status).toBe(200);
    const refused = await watchAs(app, 'ben/1');
    await eventually(() => refused.ending === 'complete');
    expect([refused.status, refused.text]).toEqual([
      429,
      expect.stringContaining('"Too many requests, please try again later."'),
    ]);
    expect(await metric(app, 'gatehouse_http_rejections_total{reason="watches"}')).toMatch(/ 1$/);
    expect(await metric(app, 'gatehouse_watches')).toBe('gatehouse_watches 3');
  });

  test('give their place back each time one ends, by its client or by itself', async () => {
    const { app, clock } = await startForTwo();
    const staying = await watchAs(app, 'ann/1');
    for (let round = 0; round < 3; round++) {
      const leaving = await watchAs(app, 'ann/1');
      expect([leaving.status, (await watchAs(app, 'ann/1')).status]).toEqual([200, 429]);
      leaving.close();
      await eventually(() => app.lines.filter(({ aborted }) => aborted).length === round + 1);
    }
    await advance(clock, 1_802_000);
    await eventually(() => staying.ending === 'complete');
    expect([(await watchAs(app, 'ann/1')).status, (await watchAs(app, 'ann/1')).status]).toEqual([200, 200]);
  });
});

describe('a watch whose caller may no longer', () => {
  const faults: Record<string, Verification> = {};
  const verifier = { verify: (text: string) => faults[text] ?? fakeVerifier.verify(text) };
  afterEach(() => {
    delete faults['good'];
  });

  test.each([
    ['expired', 'the access token has expired'],
    ['revoked', 'the access token has been revoked'],
  ] as const)('ends within 10 s with the reason: its token is %s', async (fault, sentence) => {
    const { app, clock } = await start({ verifier });
    const watcher = await watching(app);
    await advance(clock, 20_000);
    expect(watcher.ending).toBeUndefined();
    faults['good'] = { fault };
    await advance(clock, 10_200);
    await eventually(() => watcher.ending !== undefined && lineOf(app) !== undefined);
    expect(watcher.ending).toBe('complete');
    expect(watcher.text.split('\n').at(-2)).toBe(
      `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Unauthorized: ${sentence}","reason":"Unauthorized","code":401}}`,
    );
    expect(lineOf(app)).toMatchObject({ status: 200, reason: 'unauthorized' });
    expect(await metric(app, 'gatehouse_watches_ended_total{end="unauthorized"}')).toMatch(/ 1$/);
  });

  test('ends within 40 s with the reason: its right was withdrawn', async () => {
    const rights = { allowed: true };
    const authorizer = { authorize: () => ({ ...rights, source: 'cache' as const }) };
    const { app, clock } = await start({ authorizer });
    const watcher = await watching(app);
    await advance(clock, 60_000);
    expect(watcher.ending).toBeUndefined();
    rights.allowed = false;
    await advance(clock, 31_000);
    await eventually(() => watcher.ending === 'complete');
    expect(watcher.events.at(-1)).toMatchObject({ type: 'ERROR', object: { code: 403, reason: 'Forbidden' } });
    expect(await metric(app, 'gatehouse_watches_ended_total{end="forbidden"}')).toMatch(/ 1$/);
  });

  test('I6 goes on for 10 min after the last decision, as set, then ends with 503', async () => {
    const cluster = { away: false };
    const authorize = () =>
      cluster.away
        ? Promise.reject(serviceUnavailable('authorization is not available', 5))
        : { allowed: true, source: 'cache' as const };
    const { app, clock } = await start({ authorizer: { authorize } });
    const watcher = await watching(app);
    cluster.away = true;
    await advance(clock, 599_000);
    expect(watcher.ending).toBeUndefined();
    await advance(clock, 40_000);
    await eventually(() => watcher.ending === 'complete');
    expect(watcher.events.at(-1)).toMatchObject({
      type: 'ERROR',
      object: { code: 503, message: 'authorization is not available', details: { retryAfterSeconds: 5 } },
    });
  });

  test.each([
    ['opens', 'stale' as const, 60_000],
    ['goes on', 'cache' as const, 620_000],
  ])(
    'I6 a known answer that is given for want of a new one counts from when it was new: %s',
    async (_, atOpening, heldMs) => {
      const cluster = { source: atOpening as 'stale' | 'cache', away: false };
      const authorize = () =>
        cluster.away
          ? Promise.reject(serviceUnavailable('authorization is not available', 5))
          : { allowed: true, source: cluster.source };
      const { app, clock } = await start({ authorizer: { authorize } });
      const watcher = await watching(app);
      cluster.source = 'stale';
      await advance(clock, heldMs);
      expect(watcher.ending).toBeUndefined(); // the answer still holds
      cluster.away = true;
      await advance(clock, 31_000);
      await eventually(() => watcher.ending === 'complete');
      expect(watcher.events.at(-1)).toMatchObject({ type: 'ERROR', object: { code: 503 } });
    },
  );

  test('ends at once with 503 when nobody can say whether its token was revoked', async () => {
    const sessions = { known: true };
    const verify: typeof fakeVerifier.verify = (text) => {
      if (!sessions.known) throw serviceUnavailable('sessions are not known', 1);
      return fakeVerifier.verify(text);
    };
    const { app, clock } = await start({ verifier: { verify } });
    const watcher = await watching(app);
    sessions.known = false;
    await advance(clock, 10_200);
    await eventually(() => watcher.ending === 'complete');
    expect(watcher.events.at(-1)).toMatchObject({ type: 'ERROR', object: { code: 503 } });
  });
});

describe('a watch of what cannot be told any more', () => {
  test('ends with 503 when the data is too old', async () => {
    const cache = makeCache();
    const age = { tooOld: false };
    const refresh = (): number => {
      if (age.tooOld) throw serviceUnavailable('nodes are not available: data is older than 12m0s', 30);
      return cache.lister.refresh();
    };
    const watches = { refresh, watch: cache.lister.watch.bind(cache.lister) };
    const { app, clock } = await start({}, { watches });
    const watcher = await watching(app);
    age.tooOld = true;
    await advance(clock, 300);
    await eventually(() => watcher.ending === 'complete');
    expect(watcher.events.at(-1)).toMatchObject({
      type: 'ERROR',
      object: { code: 503, message: 'nodes are not available: data is older than 12m0s' },
    });
    expect(await metric(app, 'gatehouse_watches_ended_total{end="unavailable"}')).toMatch(/ 1$/);
  });

  test('ends with 500 and a line in the log when a bug of ours breaks it', async () => {
    const broken = {
      isBehind: true,
      isBeginning: false,
      next: (): never => {
        throw new Error('private cause');
      },
      bookmark: () => undefined,
      keepAlive: () => undefined,
    };
    const { app, clock } = await start({}, { watches: { refresh: () => 1, watch: () => broken } });
    const watcher = await open(app);
    await advance(clock, 300);
    await eventually(() => watcher.ending === 'complete' && lineOf(app) !== undefined);
    expect(watcher.events).toMatchObject([{ type: 'ERROR', object: { code: 500, reason: 'InternalError' } }]);
    expect(watcher.text).not.toContain('private');
    expect(lineOf(app)).toMatchObject({
      status: 200,
      reason: 'failed',
      error: expect.stringContaining('private cause'),
    });
  });
});
