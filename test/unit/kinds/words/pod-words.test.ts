import { describe, expect, test } from 'vitest';
import { listing, object } from './worded-kind.ts';

interface PodParts {
  readonly node?: string;
  readonly phase?: string;
  readonly claims?: readonly string[];
  readonly app?: string;
}

const pod = (key: string, { node, phase = 'Running', claims = [], app }: PodParts = {}) => {
  const volumes = claims.map((claimName) => ({ persistentVolumeClaim: { claimName } }));
  return object(
    key,
    { spec: { ...(node && { nodeName: node }), volumes: [{ emptyDir: {} }, ...volumes] }, status: { phase } },
    app === undefined ? {} : { labels: { app, tier: 'x' } },
  );
};

type Selectors = Record<string, Record<string, string>>;

const withServices = (selectors: Selectors) =>
  listing('pods.', { selectorOf: (namespace, service) => selectors[`${namespace}/${service}`] });

describe('the filters of pods', () => {
  test('KW-01 nodeName and pvcName are exact, and an empty nodeName finds pods without a node', () => {
    const { put, keys } = listing('pods.');
    put(pod('a/one', { node: 'n1', claims: ['data', 'logs'] }), pod('a/two', { node: 'n2' }), pod('b/three'));
    expect([keys('nodeName=n1'), keys('nodeName=n'), keys('nodeName=')]).toEqual(['a/one', '', 'b/three']);
    expect([keys('pvcName=logs'), keys('pvcName=log'), keys('pvcName=')]).toEqual(['a/one', '', '']);
  });

  test('KW-02 phase is one of five, or refused', () => {
    const { put, keys, refusal } = listing('pods.');
    put(pod('a/one', { phase: 'Pending' }), pod('a/two'));
    expect([keys('phase=Pending'), keys('phase=Running'), keys('phase=Unknown')]).toEqual(['a/one', 'a/two', '']);
    expect(refusal('phase=running')).toContain('Pending, Running, Succeeded, Failed, Unknown');
  });

  test('KW-03 status is one of four, or refused', () => {
    const { put, keys, refusal } = listing('pods.');
    put(pod('a/one', { phase: 'Failed' }), pod('a/two'), pod('a/six', { phase: 'Pending' }));
    expect(['Waiting', 'Running', 'Error', 'Completed'].map((word) => keys(`status=${word}`))).toEqual([
      ...['a/six', 'a/two', 'a/one', ''],
    ]);
    expect(refusal('status=')).toContain('Waiting, Running, Error, Completed');
  });

  test("KW-04 serviceName finds what the Service of the pod's namespace selects", () => {
    const { put, keys } = withServices({ 'a/web': { app: 'web', tier: 'x' }, 'b/web': { app: 'other' }, 'a/all': {} });
    put(pod('a/one', { app: 'web' }), pod('b/one', { app: 'web' }), pod('b/two', { app: 'other' }), pod('a/two'));
    expect(keys('serviceName=web')).toBe('b/two a/one');
    expect(keys('serviceName=web&namespace=a')).toBe('a/one');
    expect([keys('serviceName=all'), keys('serviceName=none'), keys('serviceName=')]).toEqual(['', '', '']);
  });

  test('KW-04 a list knows the selector of its moment, though the query is the same', () => {
    const selectors: Selectors = { 'a/web': { app: 'web' } };
    const { put, keys } = withServices(selectors);
    put(pod('a/one', { app: 'web' }), pod('a/two', { app: 'new' }));
    expect(keys('serviceName=web')).toBe('a/one');
    selectors['a/web'] = { app: 'new' };
    expect(keys('serviceName=web')).toBe('a/two');
  });

  test('KW-04 a list asks for each selector once', () => {
    let asked = 0;
    const { put, keys } = listing('pods.', {
      selectorOf: () => {
        asked++;
        return { app: 'web' };
      },
    });
    put(...Array.from({ length: 20 }, (_, at) => pod(`${at % 2 ? 'a' : 'b'}/pod-${at}`, { app: 'web' })));
    expect(keys('serviceName=web').split(' ')).toHaveLength(20);
    expect(asked).toBe(2);
  });
});

describe('the orders of pods', () => {
  const shown = (key: string, reason: string, restartCount: number, nodeName?: string) =>
    object(key, {
      spec: { nodeName },
      status: {
        phase: 'Running',
        containerStatuses: [{ state: { waiting: { reason } }, restartCount }],
      },
    });

  test('KW-21 are by the reason that kubectl prints, by node, and by the number of restarts', () => {
    const { put, keys } = listing('pods.');
    put(shown('a/one', 'ImagePullBackOff', 10, 'n1'), shown('b/two', 'CrashLoopBackOff', 9, 'n2'));
    put(shown('a/six', 'Error', 2), pod('a/new', { phase: 'Pending' }));
    expect(keys('sortBy=status')).toBe('a/new a/one a/six b/two');
    expect(keys('sortBy=nodeName')).toBe('b/two a/one a/six a/new');
    expect(keys('sortBy=restarts')).toBe('a/one b/two a/six a/new');
    expect(keys('sortBy=restarts&ascending=true')).toBe('a/new a/six b/two a/one');
    expect(keys('sortBy=restarts&namespace=a&limit=2')).toBe('a/one a/six');
  });

  test('KW-21 KO-12 are by name and namespace where the value is the same, and follow every change', () => {
    const { put, keys } = listing('pods.');
    put(shown('a/one', 'Error', 1), shown('b/one', 'Error', 1), shown('a/two', 'Error', 1));
    expect(keys('sortBy=restarts')).toBe('a/two b/one a/one');
    expect(keys('sortBy=status&ascending=true')).toBe('a/one b/one a/two');
    put(shown('a/one', 'Error', 2, 'n1'));
    expect([keys('sortBy=restarts'), keys('sortBy=nodeName')]).toEqual(['a/one a/two b/one', 'a/one a/two b/one']);
    put(shown('a/one', 'Completing', 2, 'n1'));
    expect(keys('sortBy=status')).toBe('a/two b/one a/one');
  });

  test('KW-21 have no other word', () => {
    const { refusal } = listing('pods.');
    const words = 'name, createTime, creationTimestamp, startTime, updateTime, status, nodeName, restarts';
    for (const word of ['node', 'Status', 'phase', 'ready']) expect(refusal(`sortBy=${word}`)).toContain(words);
    expect(listing('services.').refusal('sortBy=restarts')).toContain('startTime, updateTime');
  });
});

describe('KW-20 a watch of pods', () => {
  test.each([
    ['nodeName=n1', { node: 'n1' }, { node: 'n2' }],
    ['phase=Running', { phase: 'Running' }, { phase: 'Pending' }],
    ['status=Running', { phase: 'Running' }, { phase: 'Failed' }],
    ['pvcName=data', { claims: ['logs', 'data'] }, { claims: ['logs', 'dat'] }],
    ['serviceName=web', { app: 'web' }, { app: 'other' }],
  ])('by %s tells when a pod begins and ceases to match', (query, matching: PodParts, other: PodParts) => {
    const { put, watch } = withServices({ 'a/web': { app: 'web' } });
    put(pod('a/one', matching), pod('a/two', other));
    const events = watch(query);
    expect(events()).toEqual(['ADDED a/one']);
    put(pod('a/one', other), pod('a/two', matching));
    expect(events()).toEqual(['DELETED a/one', 'ADDED a/two']);
    put(pod('a/one', other));
    expect(events()).toEqual([]);
    put(pod('a/two', matching));
    expect(events()).toEqual(['MODIFIED a/two']);
  });

  test('keeps the selector of its start, so that it can tell what no longer matches', () => {
    const selectors: Selectors = { 'a/web': { app: 'web' } };
    const { put, watch } = withServices(selectors);
    put(pod('a/one', { app: 'web' }));
    const first = watch('serviceName=web');
    expect(first()).toEqual(['ADDED a/one']);
    selectors['a/web'] = { app: 'new' };
    const second = watch('serviceName=web');
    expect(second()).toEqual([]);
    put(pod('a/one', { app: 'new' }));
    expect([first(), second()]).toEqual([['DELETED a/one'], ['ADDED a/one']]);
  });
});

test('pods of one node and state share what filters and orders read, and one that moves gets its own', () => {
  const { put, store } = listing('pods.');
  put(pod('a/one', { node: 'n1' }), pod('b/two', { node: 'n1' }), pod('b/six', { node: 'n1', claims: ['data'] }));
  const own = (key: string) => store.get(key)?.own;
  expect(own('a/one')).toBe(own('b/two'));
  expect(own('b/six')).not.toBe(own('b/two'));
  put(pod('a/one', { node: 'n2' }));
  expect([own('a/one'), own('b/two')]).toMatchObject([{ nodeName: 'n2' }, { nodeName: 'n1' }]);
});
