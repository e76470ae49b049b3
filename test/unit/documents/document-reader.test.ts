import { getEventListeners } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { DocumentReader } from '../../../src/documents/document-reader.ts';
import { LOGS } from '../../../src/documents/kinds/log-kind.ts';
import { DocumentMetrics } from '../../../src/documents/metrics.ts';
import { QueryParser } from '../../../src/documents/query/parse-query.ts';
import type { DocumentStore, FoundMessage } from '../../../src/documents/store/document-store.ts';
import { StatusError } from '../../../src/status-error.ts';
import { StoreError } from '../../../src/stores/store-error.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const SUBJECT = { name: 'joe', uid: 'u-1', groups: [] };
const REFUSED = new StoreError('refused', 'parsing_exception: so');
const LIMIT_MS = 30_000;

/** Rejects when the signal aborts, and tells so. */
const hang = (signal: AbortSignal, onEnd: () => void): Promise<never> =>
  new Promise((_, reject) =>
    signal.addEventListener('abort', () => {
      onEnd();
      reject(new StoreError('away', 'ended'));
    }),
  );

/** A reader of somebody with two searches: the first namespace of each is `ns-0` and `ns-250`. */
function readerOf(store: Partial<DocumentStore>, exportLimit = 10) {
  const names = Array.from({ length: 251 }, (_, at) => `ns-${at}`);
  const clock = new FakeClock();
  const registry = new Registry();
  const reader = new DocumentReader(
    { kind: LOGS, timeLimitMs: LIMIT_MS, exportLimit },
    {
      store: store as DocumentStore,
      clock,
      metrics: new DocumentMetrics(registry),
      authorizer: {
        authorize: (_, attributes) => ({
          allowed: 'resource' in attributes && attributes.resource.namespace !== undefined,
          source: 'cache',
        }),
      },
      namespaces: () => names.map((name, at) => ({ name, createdAt: at + 1 })),
    },
  );
  return { reader, clock, registry };
}

const isFirst = (search: { readonly namespaces?: { readonly young: readonly { readonly name: string }[] } }): boolean =>
  search.namespaces?.young[0]?.name === 'ns-0';

const query = (text = '') => new QueryParser(LOGS).parse(`start_time=0&interval=1y&${text}`, Date.now());
const { signal } = new AbortController();
const statusOf = (error: unknown): unknown => (error instanceof StatusError ? error.answer.code : error);

describe('several searches of one query', () => {
  test.each(['query', 'statistics', 'histogram'])('of which one fails end together (%s)', async (operation) => {
    let ended = 0;
    const ask = (search: Parameters<typeof isFirst>[0], signal: AbortSignal): Promise<never> =>
      isFirst(search) ? Promise.reject(REFUSED) : hang(signal, () => ended++);
    const { reader, clock } = readerOf({
      find: (search, _, signal) => ask(search, signal),
      count: ask,
      histogram: (search, _, signal) => ask(search, signal),
    });
    const asking = reader.answer(SUBJECT, query(`operation=${operation}`), new AbortController().signal);
    expect(await asking.catch(statusOf)).toBe(502);
    expect([ended, clock.pendingTimers]).toEqual([1, 0]);
  });

  test('of which one fails end together (export)', async () => {
    let ended = 0;
    const { reader, clock } = readerOf({
      async *messages(search, signal): AsyncGenerator<readonly FoundMessage[], void> {
        if (isFirst(search)) throw REFUSED;
        yield await hang(signal, () => ended++);
      },
    });
    const texts = reader.texts(SUBJECT, query('operation=export'), new AbortController().signal);
    expect(await texts.next().catch(statusOf)).toBe(502);
    expect([ended, clock.pendingTimers]).toEqual([1, 0]);
  });
});

describe('a page of several searches', () => {
  const records = (namespace: string, times: readonly number[]) =>
    times.map((at) => ({ at, record: { namespace, log: `${at}` } }));
  const readPage = async (text: string) => {
    const asked: unknown[] = [];
    const { reader } = readerOf({
      find: async (search, page) => {
        asked.push(page);
        const found = isFirst(search) ? records('a', [1, 4, 6]) : records('b', [2, 3, 5]);
        return { total: 50, records: page.order === 'asc' ? found : found.toReversed() };
      },
    });
    const { query: found } = (await reader.answer(SUBJECT, query(text), signal)) as {
      query: { total: number; records: { log: string }[] };
    };
    return { asked, total: found.total, logs: found.records.map(({ log }) => log) };
  };

  test.each([
    ['sort=desc&from=0&size=4', { order: 'desc', from: 0, size: 4 }, ['6', '5', '4', '3']],
    ['sort=asc&from=2&size=3', { order: 'asc', from: 0, size: 5 }, ['3', '4', '5']],
    ['from=2&size=0', { order: 'desc', from: 0, size: 0 }, []],
  ])('L-06, L-07 has as many records of each as it may need, from the first one on: %s', async (text, page, logs) => {
    expect(await readPage(text)).toEqual({ asked: [page, page], total: 100, logs });
  });
});

describe('an export', () => {
  const pieces = async function* (log: string[]): AsyncGenerator<readonly FoundMessage[], void> {
    try {
      for (let at = 100; at > 0; at -= 3) {
        log.push('piece');
        yield [at, at - 1, at - 2].map((one) => ({ at: one, log: `${one}` }));
      }
    } finally {
      log.push('closed');
    }
  };

  // The two searches have the same messages, three in a piece: the limit is at the end of a piece, and one or more before it.
  test.each([1, 2, 5, 6, 7, 10])('L-10 ends at the limit of %i exactly, and its sources with it', async (limit) => {
    const log: string[] = [];
    const { reader } = readerOf({ messages: (search) => pieces(isFirst(search) ? log : []) }, limit);
    let text = '';
    for await (const one of reader.texts(SUBJECT, query('operation=export'), new AbortController().signal)) text += one;
    expect(text.split('\n').length - 1).toBe(limit);
    expect(log.at(-1)).toBe('closed');
  });

  test('L-10 asks for no piece while its reader does not', async () => {
    const log: string[] = [];
    const { reader } = readerOf({ messages: (search) => pieces(isFirst(search) ? log : []) });
    const texts = reader.texts(SUBJECT, query('operation=export'), new AbortController().signal);
    await texts.next();
    for (let at = 0; at < 10; at++) await turn();
    expect(log).toEqual(['piece']);
    await texts.return();
    expect(log).toEqual(['piece', 'closed']);
  });

  test('has no time limit while it is the turn of its reader', async () => {
    const { reader, clock } = readerOf({ messages: () => pieces([]) });
    const texts = reader.texts(SUBJECT, query('operation=export'), new AbortController().signal);
    await texts.next();
    await clock.advance(10 * LIMIT_MS);
    expect((await texts.next()).done).toBe(false);
    await texts.return();
    expect(clock.pendingTimers).toBe(0);
  });
});

test('a caller who leaves has nothing asked any more', async () => {
  let asked = 0;
  const leaving = new AbortController();
  const { reader } = readerOf({
    find: (_, __, signal) => {
      asked++;
      return hang(signal, () => asked--);
    },
  });
  const asking = reader.answer(SUBJECT, query(), leaving.signal);
  for (let at = 0; at < 10; at++) await turn();
  expect(asked).toBe(2);
  leaving.abort();
  expect(await asking.catch((error: Error) => error.message)).toBe('the client has left');
  expect(asked).toBe(0);
});

test.each([
  ['refused', 502, 'refused'],
  ['away', 503, 'unavailable'],
  ['slow', 504, 'timeout'],
] as const)('a failure of the kind %s is %i, and counted', async (kind, code, result) => {
  const { reader, registry } = readerOf({ find: () => Promise.reject(new StoreError(kind, 'so')) });
  expect(await reader.answer(SUBJECT, query(), new AbortController().signal).catch(statusOf)).toBe(code);
  expect(await registry.metrics()).toContain(`gatehouse_log_queries_total{operation="query",result="${result}"} 1`);
});

test.each(['query', 'export'])('a %s that is over listens no more for its caller to leave', async (operation) => {
  const { signal } = new AbortController();
  const { reader } = readerOf({
    find: async () => ({ total: 0, records: [] }),
    async *messages() {
      yield [{ at: 1, log: 'x' }];
    },
  });
  if (operation === 'query') await reader.answer(SUBJECT, query(), signal);
  else for await (const text of reader.texts(SUBJECT, query('operation=export'), signal)) expect(text).toContain('x');
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});
