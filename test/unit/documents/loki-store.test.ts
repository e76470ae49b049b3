import { getEventListeners } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Page } from '../../../src/documents/document-query.ts';
import { lokiLogs } from '../../../src/documents/loki/loki-logs.ts';
import { LokiStore } from '../../../src/documents/loki/loki-store.ts';
import type { DocumentSearch } from '../../../src/documents/store/document-store.ts';
import type { LogStoreClient, LogStoreRequest } from '../../../src/documents/store/store-requests.ts';
import type { StoreAnswer } from '../../../src/stores/store-client.ts';

const NOW = Date.parse('2026-03-09T10:00:00Z');
const labels = { namespace: 'namespace', pod: 'pod', container: 'container' };
/** The hundred seconds before now. */
const time = { start: NOW / 1_000 - 100, end: NOW / 1_000 - 1 };
const searchOf = (namespaces: DocumentSearch['namespaces']): DocumentSearch => ({
  conditions: [],
  time,
  ...(namespaces && { namespaces }),
});
const { signal } = new AbortController();

type Answer = (request: LogStoreRequest) => StoreAnswer | Promise<StoreAnswer>;

/** A store in front of a Loki that answers this, and what that was asked. */
function storeOn(answer: Answer) {
  const asked: LogStoreRequest[] = [];
  const json: LogStoreClient['json'] = async (request) => {
    asked.push(request);
    return answer(request);
  };
  return { store: new LokiStore({ client: { json }, clock: { now: () => NOW }, kind: lokiLogs(labels) }), asked };
}

const good = (result: readonly unknown[]): StoreAnswer => ({
  ...{ status: 200, body: { status: 'success', data: { result } } },
});
const number = (count: number): StoreAnswer => good(count === 0 ? [] : [{ metric: {}, value: [1, `${count}`] }]);

/** A line, so many milliseconds before now. */
interface Line {
  readonly namespace: string;
  readonly ago: number;
  readonly line: string;
}

const nsOf = ({ ago }: Line): bigint => BigInt(NOW - ago) * 1_000_000n;

/** A Loki that has these lines. */
const holding =
  (lines: readonly Line[]): Answer =>
  ({ path, form = {} }) => {
    const { query = '', limit } = form;
    const names = /\{namespace=~"([^"]*)"/.exec(query)?.[1]?.split('|') ?? [];
    const isInstant = path.endsWith('/query');
    const length = BigInt(/\[(\d+)ms\]/.exec(query)?.[1] ?? 0) * 1_000_000n;
    const end = BigInt(form[isInstant ? 'time' : 'end'] ?? 0);
    const start = isInstant ? end - length : BigInt(form['start'] ?? 0);
    const found = lines
      .filter((line) => names.includes(line.namespace) && nsOf(line) >= start && nsOf(line) < end)
      .sort((a, b) => (form['direction'] === 'forward' ? b.ago - a.ago : a.ago - b.ago));
    if (isInstant) return number(found.length);
    const values = found.slice(0, Number(limit));
    return good(
      values.map((one) => ({ stream: { ...labels, namespace: one.namespace }, values: [[`${nsOf(one)}`, one.line]] })),
    );
  };

describe('records of namespaces that are asked for apart', () => {
  const { store } = storeOn(
    holding([
      { namespace: 'shop', ago: 90_000, line: 'a' },
      { namespace: 'young', ago: 60_000, line: 'of a former namespace' },
      { namespace: 'young', ago: 40_000, line: 'b' },
      { namespace: 'shop', ago: 30_000, line: 'c' },
      { namespace: 'young', ago: 20_000, line: 'd' },
      { namespace: 'secret', ago: 10_000, line: 'of nobody' },
    ]),
  );
  const search = searchOf({ whole: ['shop'], young: [{ name: 'young', since: NOW - 50_000 }] });

  test.each<[Page, string]>([
    [{ order: 'desc', from: 0, size: 10 }, 'dcba'],
    [{ order: 'asc', from: 0, size: 10 }, 'abcd'],
    [{ order: 'asc', from: 1, size: 2 }, 'bc'],
    [{ order: 'desc', from: 3, size: 2 }, 'a'],
    [{ order: 'asc', from: 4, size: 2 }, ''],
  ])('L-05, L-07 are pages of one order, and counted together: %o', async (page, lines) => {
    const { total, records } = await store.find(search, page, signal);
    expect([total, records.map(({ record }) => Reflect.get(record, 'log')).join('')]).toEqual([4, lines]);
    for (const { at, record } of records) expect(new Date(at).toISOString()).toBe(Reflect.get(record, 'time'));
  });

  test('L-05, L-10 are one export, the newest first', async () => {
    const texts: string[] = [];
    for await (const piece of store.messages(search, signal)) texts.push(...piece.map(({ log }) => log));
    expect(texts.join('')).toBe('dcba');
  });

  test('L-05 are in one histogram', async () => {
    const { total, buckets } = await store.histogram(search, { count: 1, unit: 'd' }, signal);
    expect([total, buckets]).toEqual([4, [{ time: Date.parse('2026-03-09T00:00:00Z'), count: 4 }]]);
  });
});

test('L-02 a histogram asks for all buckets but the first and the last in one question, by their ends', async () => {
  const at = (time: string): bigint => BigInt(Date.parse(`2026-03-09T${time}Z`)) * 1_000_000n;
  const seconds = (time: string): number => Date.parse(`2026-03-09T${time}Z`) / 1_000;
  const { store, asked } = storeOn(({ path, form = {} }) => {
    if (path.endsWith('/query_range')) return good([{ metric: {}, values: [[seconds('09:59:30'), '3']] }]);
    const { time: end, query = '' } = form;
    return number(query.includes('[100000ms]') ? 6 : end === `${at('09:58:30')}` ? 1 : 2);
  });
  const { total, buckets } = await store.histogram(searchOf(undefined), { count: 30, unit: 's' }, signal);
  const bucket = (time: string, count: number) => ({ time: seconds(time) * 1_000, count });
  expect([total, buckets]).toEqual([6, [bucket('09:58:00', 1), bucket('09:59:00', 3), bucket('09:59:30', 2)]]);
  expect(asked.flatMap(({ path, form }) => (path.endsWith('/query_range') ? [form] : []))).toEqual([
    {
      query: 'sum(count_over_time({namespace=~".+"}[30000ms] offset 1ms))',
      ...{ start: `${at('09:59:00')}`, end: `${at('09:59:30')}`, step: '30' },
    },
  ]);
});

test('L-02 a histogram of two buckets asks for each by itself, and for none between them', async () => {
  const { store, asked } = storeOn(({ path, form = {} }) => {
    if (path.endsWith('/query_range')) throw new Error('there is nothing between them');
    return number(form['query']?.includes('[40000ms]') ? 1 : form['query']?.includes('[60000ms]') ? 2 : 3);
  });
  const { total, buckets } = await store.histogram(searchOf(undefined), { count: 1, unit: 'm' }, signal);
  expect([total, buckets.map(({ count }) => count), asked.length]).toEqual([3, [1, 2], 3]);
});

test('a search that is over listens no more for its caller to leave', async () => {
  const caller = new AbortController();
  const { store } = storeOn(() => number(0));
  await store.find(searchOf(undefined), { order: 'desc', from: 0, size: 10 }, caller.signal);
  expect(getEventListeners(caller.signal, 'abort')).toEqual([]);
});

describe('the lines that are asked for at first', () => {
  const limitsOf = async (young: number, page: Omit<Page, 'order'>): Promise<Set<unknown>> => {
    const { store, asked } = storeOn(() => number(0));
    const spans = Array.from({ length: young }, (_, at) => ({ name: `n-${at}`, since: NOW - 50_000 }));
    const search = searchOf(young === 0 ? undefined : { whole: [], young: spans });
    await store.find(search, { order: 'desc', ...page }, signal);
    return new Set(asked.flatMap(({ form }) => form?.['limit'] ?? []));
  };

  // One more than wanted each time: `pagesOf` says why.
  test.each([
    ['all of the page in a single span', 0, 1_000, 1_001],
    ['a share of 500 in each of several', 4, 1_000, 126],
    ['20 in each of many', 100, 1_000, 21],
    ['no more than the page has', 4, 10, 11],
  ])('are %s', async (_, spans, records, limit) => {
    const from = records / 2;
    expect(await limitsOf(spans, { from, size: records - from })).toEqual(new Set([`${limit}`]));
  });
});

describe('the containers of a search', () => {
  const isOfContainers = ({ form }: LogStoreRequest): boolean => form?.['query']?.startsWith('count(') === true;
  const pathsOf = (asked: readonly LogStoreRequest[]): string[] =>
    asked.map(({ path }) => path.split('/').at(-1) ?? '');

  test('that Loki does not count for another reason than their number are refused for that reason, and its pods are not asked for', async () => {
    const text = 'the query time range exceeds the limit';
    const { store, asked } = storeOn((request) =>
      isOfContainers(request) ? { status: 400, body: undefined, text } : number(1),
    );
    await expect(store.count(searchOf(undefined), signal)).rejects.toMatchObject({ kind: 'refused', message: text });
    expect(pathsOf(asked)).toEqual(['query', 'query']);
  });

  test('that are too many are counted 250 at a time, all of a pod together', async () => {
    const containersOf = (pod: string, count: number) =>
      Array.from({ length: count }, (_, at) => ({ namespace: 'shop', pod, container: `c-${at}` }));
    const counts: Readonly<Record<string, number>> = { a: 100, b: 150, c: 1, d: 250, e: 249 };
    const streams = Object.entries(counts).flatMap(([pod, count]) => containersOf(pod, count));
    const text = 'maximum number of series (500) reached for a single query';
    const groups: string[] = [];
    const { store } = storeOn((request) => {
      if (request.path.endsWith('/series')) return { status: 200, body: { status: 'success', data: streams } };
      if (!isOfContainers(request)) return number(7);
      const pods = /,pod=~"([^"]*)"/.exec(request.form?.['query'] ?? '')?.[1];
      if (pods === undefined) return { status: 400, body: undefined, text };
      groups.push(pods);
      return number(pods.split('|').reduce((sum, pod) => sum + (counts[pod] ?? 0), 0));
    });
    expect(await store.count(searchOf(undefined), signal)).toEqual({ counted: 750, total: 7 });
    expect(groups).toEqual(['a|b', 'c', 'd', 'e']);
  });
});

test('L-06 eight questions of one search are under way at a time, 32 of all, and the others follow', async () => {
  const open: (() => void)[] = [];
  const { store, asked } = storeOn(() => new Promise((resolve) => open.push(() => resolve(number(1)))));
  const young = Array.from({ length: 20 }, (_, at) => ({ name: `n-${at}`, since: NOW - 50_000 }));
  const find = () => store.find(searchOf({ whole: [], young }), { order: 'desc', from: 0, size: 0 }, signal);
  const searches = [find()];
  await turn();
  expect(asked.length).toBe(8);
  searches.push(...Array.from({ length: 5 }, find));
  await turn();
  expect(asked.length).toBe(32);
  while (open.length > 0) {
    for (const answer of open.splice(0)) answer();
    await turn();
  }
  expect((await Promise.all(searches)).map(({ total }) => total)).toEqual(Array(6).fill(20));
});
