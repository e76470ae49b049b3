import { describe, expect, test } from 'vitest';
import type { ApiClient, ApiRequest, ApiResponse } from '../../../../src/kubernetes/client/api-client.ts';
import {
  createHttpListerWatcher,
  type WatchedResource,
} from '../../../../src/kubernetes/reflector/http-lister-watcher.ts';
import { AnswerTooLong } from '../../../../src/runtime/send-request.ts';
import { TimeSlices } from '../../../../src/runtime/time-slices.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { slowSlices } from '../../../support/steps.ts';

const never = new AbortController().signal;
const ignored = (): void => undefined;

/** The source of one collection, whose answers the test gives. */
function sourceOf(
  answer: (progress: () => void, signal: AbortSignal) => Promise<ApiResponse>,
  resource: Partial<WatchedResource> = {},
) {
  const asked: ApiRequest[] = [];
  const client: Pick<ApiClient, 'json' | 'stream'> = {
    json: (request, signal, progress = ignored) => {
      asked.push(request);
      return answer(progress, signal);
    },
    stream: async (request, sink, signal) => {
      asked.push(request);
      const { status, headers } = await answer(() => sink.start(200, {}), signal);
      sink.start(status, headers);
    },
  };
  const source = createHttpListerWatcher(
    { client: client as ApiClient, slices: new TimeSlices(new FakeClock()) },
    { path: '/api/v1/pods', name: 'pods', ...resource },
  );
  return { source, asked };
}

const answered = (body: unknown, status = 200, headers: ApiResponse['headers'] = {}) => ({
  status,
  headers,
  body,
  bytes: 100,
});
const page = { metadata: { resourceVersion: '7' }, items: [] };
const sink = { accepted: ignored, bytes: ignored, event: () => undefined };

describe('what a list is asked for', () => {
  test.each([
    ['the newest state', { version: '' }, 'limit=500'],
    [
      'a state from a version on',
      { version: { notOlderThan: '7' } },
      'limit=500&resourceVersion=7&resourceVersionMatch=NotOlderThan',
    ],
    ['one version', { version: { exact: '7' } }, 'limit=500&resourceVersion=7&resourceVersionMatch=Exact'],
    ['a further page, whatever the version', { version: { exact: '7' }, continueToken: 'c' }, 'limit=500&continue=c'],
  ] as const)('is %s', async (_, request, query) => {
    const { source, asked } = sourceOf(async () => answered(page));
    await source.list({ limit: 500, ...request }, ignored, never);
    expect(asked).toEqual([{ method: 'GET', path: `/api/v1/pods?${query}`, purpose: 'list' }]);
  });

  test('is names and versions alone where no more is wanted', async () => {
    const { source, asked } = sourceOf(async () => answered(page));
    await source.list({ version: '', limit: 1, metadataOnly: true }, ignored, never);
    expect(asked[0]?.accept).toBe('application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1');
  });

  test('is what the selectors choose', async () => {
    const selectors = { fieldSelector: 'status.phase!=Failed', labelSelector: 'a=b' };
    const { source, asked } = sourceOf(async () => answered(page), selectors);
    await source.list({ version: '', limit: 1 }, ignored, never);
    expect(asked[0]?.path).toBe('/api/v1/pods?fieldSelector=status.phase%21%3DFailed&labelSelector=a%3Db&limit=1');
  });
});

describe('what a watch is asked for', () => {
  test.each([
    [{}, ''],
    [{ initialEvents: true }, '&sendInitialEvents=true&resourceVersionMatch=NotOlderThan'],
  ])('is bookmarks, and the initial events where they are wanted: %j', async (more, query) => {
    const { source, asked } = sourceOf(async () => answered({}));
    await source.watch({ resourceVersion: '7', timeoutSeconds: 300, ...more }, sink, never);
    expect(asked).toEqual([
      {
        method: 'GET',
        path: `/api/v1/pods?watch=true&allowWatchBookmarks=true&timeoutSeconds=300&resourceVersion=7${query}`,
        purpose: 'watch',
      },
    ]);
  });
});

describe('the answer to a list', () => {
  const listed = (answer: Parameters<typeof sourceOf>[0], signal = never) =>
    sourceOf(answer).source.list({ version: '', limit: 1 }, ignored, signal);

  test.each([
    [
      { ...page, items: [1] },
      { items: [1], continueToken: '' },
    ],
    [
      { metadata: { resourceVersion: '7', continue: 'c' }, items: [] },
      { items: [], continueToken: 'c' },
    ],
    [
      { metadata: { resourceVersion: '7', continue: 5 }, items: null },
      { items: [], continueToken: '' },
    ],
  ])('%j is a page', async (body, expected) => {
    expect(await listed(async () => answered(body))).toEqual({
      kind: 'page',
      resourceVersion: '7',
      bytes: 100,
      ...expected,
    });
  });

  test.each([undefined, null, 'text', {}, { items: [] }, { metadata: { resourceVersion: '7' } }])(
    '%j is unreadable',
    async (body) => {
      expect(await listed(async () => answered(body))).toEqual({
        kind: 'unreadable',
        detail: 'the answer is no list',
      });
    },
  );

  test.each([
    [410, {}, { kind: 'expired' }],
    [429, { 'retry-after': '7' }, { kind: 'throttled', retryAfterMs: 7_000 }],
    [429, { 'retry-after': ['7', '8'] }, { kind: 'throttled', retryAfterMs: 0 }],
    [500, {}, { kind: 'refused' }],
  ])('with status %i and %j is its failure', async (status, headers, expected) => {
    expect(await listed(async () => answered({}, status, headers))).toMatchObject(expected);
  });

  test.each([
    ['of a list', 200, { isTooLong: true }],
    ['of a refusal', 500, {}],
  ])('that is too long is unreadable, and a smaller page may do where it is that %s', async (_, status, more) => {
    const failure = await listed(async () => {
      throw new AnswerTooLong(status, 10);
    });
    expect(failure).toEqual({ kind: 'unreadable', detail: 'the answer is longer than 10 bytes', ...more });
  });

  test('that breaks off is a reset once it has begun, and a refusal before', async () => {
    const broken = Object.assign(new Error('cut'), { code: 'ECONNRESET' });
    const begun = await listed(async (progress) => {
      progress();
      throw broken;
    });
    const never_ = await listed(async () => {
      throw new Error('nobody');
    });
    expect([begun, never_]).toEqual([
      { kind: 'reset', detail: 'ECONNRESET cut' },
      { kind: 'refused', detail: 'nobody' },
    ]);
  });

  test('that is given up is no failure of the cluster', async () => {
    const failure = await listed(async () => {
      throw new Error('aborted');
    }, AbortSignal.abort());
    expect(failure).toEqual({ kind: 'aborted' });
  });

  test('tells of each part that comes', async () => {
    let heard = 0;
    const { source } = sourceOf(async (progress) => {
      progress();
      progress();
      return answered(page);
    });
    await source.list({ version: '', limit: 1 }, () => heard++, never);
    expect(heard).toBe(2);
  });
});

describe('the answer to a watch', () => {
  const request = { resourceVersion: '7', timeoutSeconds: 1 };

  test('ends as it was ended, or as a refusal', async () => {
    const closed = await sourceOf(async () => answered({})).source.watch(request, sink, never);
    const gone = await sourceOf(async () => answered({}, 410)).source.watch(request, sink, never);
    expect([closed.kind, gone.kind]).toEqual(['closed', 'expired']);
  });

  test.each(['breaks off', 'ends'])('that %s has ended when all that came of it is read', async (end) => {
    const line = (name: string): string => `{"type":"ADDED","object":{"metadata":{"name":"${name}"}}}\n`;
    const client: Pick<ApiClient, 'stream'> = {
      stream: async (_, received) => {
        received.start(200, {});
        void received.data(Buffer.from(line('a') + line('b') + line('c')));
        if (end === 'breaks off') throw new Error('cut');
      },
    };
    let events = 0;
    const counted = { ...sink, event: () => void events++ };
    const parts = { client: client as ApiClient, slices: slowSlices() };
    const source = createHttpListerWatcher(parts, { path: '/api/v1/pods', name: 'pods' });
    const { kind } = await source.watch(request, counted, never);
    expect([kind, events]).toEqual([end === 'ends' ? 'closed' : 'reset', 3]);
  });

  test('that breaks off is a reset once it has begun, and a refusal before', async () => {
    const ends = [true, false].map((begins) =>
      sourceOf(async (begin) => {
        if (begins) begin();
        throw new Error('cut');
      }).source.watch(request, sink, never),
    );
    expect((await Promise.all(ends)).map(({ kind }) => kind)).toEqual(['reset', 'refused']);
  });

  test.each(['before', 'after'])('is given up with its signal, whether that aborts %s it begins', async (when) => {
    const stop = new AbortController();
    if (when === 'before') stop.abort();
    const ended = sourceOf((_begin, signal) => {
      if (signal.aborted) return Promise.reject(new Error('aborted'));
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('aborted')));
      });
    }).source.watch(request, sink, stop.signal);
    stop.abort();
    expect(await ended).toEqual({ kind: 'aborted' });
  });
});
