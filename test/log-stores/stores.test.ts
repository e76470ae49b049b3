import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LogDocument } from '../../dev/log-store/stored-record.ts';
import { atEnd } from '../support/at-end.ts';
import { logRecords } from '../support/logs/log-records.ts';
import { tellMeasured } from '../support/measured.ts';
import { LOG_GROUPS, readCases } from '../support/observed/case.ts';
import type { RealStore } from './real-store.ts';
import { type StoreStand, startLogQueries, startStoreStand } from './store-stand.ts';
import { STORE_NAMES, STORES, type StoreName } from './store-tools.ts';

const CASES = LOG_GROUPS.flatMap(readCases).filter(({ needs }) => needs === 'log store');
interface Difference {
  /** The list of its tasks does not tell which are cancelled. */
  readonly hidesCancelled?: true;
  readonly reason: string;
}

/** Where a store is not like the others. None answers a recorded case in its own way. */
const DIFFERENCES: Partial<Record<StoreName, Difference>> = {
  'opensearch-1': {
    hidesCancelled: true,
    reason: 'its list of tasks is that of Elasticsearch 7.10, without the member',
  },
  'elasticsearch-6': { hidesCancelled: true, reason: 'it cancels no search whose client has gone: that came with 7.4' },
};

describe.each(STORE_NAMES)('%s', (name) => {
  const { hidesCancelled = false } = DIFFERENCES[name] ?? {};
  let stand: StoreStand;

  beforeAll(async () => {
    stand = await startStoreStand({ name, records: logRecords() });
  });

  afterAll(() => stand?.stop());

  test.each(CASES)('$id', async (one) => {
    expect(await stand.corpus.problems(one)).toEqual([]);
  });

  if (!hidesCancelled)
    test('cancels a search that waits when its client hangs up', async () => {
      const { store, begin } = stand;
      const busy = keepBusy(store.url);
      await expect.poll(() => searches(stand, 'wildcard'), { interval: 20 }).toHaveLength(BUSY_SEARCHES);
      const word = 'hungup';
      const { request } = await begin('admin', { log_query: word });
      await expect.poll(() => searches(stand, word)).toEqual([{ cancelled: false }]);
      request.destroy();
      const began = performance.now();
      await expect.poll(() => searches(stand, word), { interval: 20 }).toEqual([{ cancelled: true }]);
      tellMeasured('L-11', performance.now() - began, `until ${name} had cancelled a search whose client hung up`);
      busy.abort();
    });

  test('answers words that have a thousand endings each', async () => {
    const { status, text } = await stand.ask('admin', { log_query: '1,2,3,4,5', size: '0' });
    expect({ status, text }).toMatchObject({ status: 200 });
    expect(JSON.parse(text).query.total).toBeGreaterThan(1_000);
  });

  test('keeps no place for an export that its client leaves in the middle', async () => {
    const { store, begin } = stand;
    await expect.poll(() => store.openPlaces()).toBe(0);
    await store.load(largeRecords());
    const { request, response } = await begin('admin', {
      operation: 'export',
      start_time: `${LARGE_AT / 1_000}`,
      end_time: `${LARGE_AT / 1_000 + 86_399}`,
    });
    const answer = await response;
    await once(answer, 'readable');
    await expect.poll(() => store.openPlaces()).toBeGreaterThan(0);
    request.destroy();
    const began = performance.now();
    await expect.poll(() => store.openPlaces(), { interval: 20 }).toBe(0);
    tellMeasured('L-10', performance.now() - began, `until ${name} had back what it kept for an export`);
  });

  test('L-14 finds what is in an index of no day, orders nanoseconds among milliseconds, and shows a number', async () => {
    const { store } = stand;
    await store.load([rolledRecord(2), rolledRecord(4)]);
    await addRolled(store, name);
    atEnd(() => store.ask('DELETE', `/${ROLLED},ks-logstash-log-2026.06.01`));
    const own = await startLogQueries({ logging: { host: store.url, version: STORES[name].dialect } });
    atEnd(own.stop);
    const days = { start_time: `${ROLLED_AT / 1_000}`, end_time: `${ROLLED_AT / 1_000 + 60}` };
    const { text } = await own.ask('admin', { pods: 'rolled-0', ...days });
    expect(JSON.parse(text).query.records.map(({ log }: { log: string }) => log)).toEqual(['4', '3', '2', '1']);
  });

  test('L-14 exports long messages, each once', async () => {
    const { store, ask } = stand;
    await store.load(longRecords());
    atEnd(() => store.ask('DELETE', '/ks-logstash-log-2026.06.02'));
    const days = { start_time: `${LONG_AT / 1_000}`, end_time: `${LONG_AT / 1_000 + 86_399}` };
    const { status, text } = await ask('admin', { operation: 'export', ...days });
    const found = text.split('\n').map((line) => line.split(' ')[0]);
    expect([status, found]).toEqual([200, [...longRecords().map((_, at) => `${LONG_RECORDS - 1 - at}`), '']]);
    await expect.poll(() => store.openPlaces()).toBe(0);
  });
});

const ROLLED = 'ks-logstash-log-000001';
const ROLLED_AT = Date.parse('2026-06-01T00:00:00Z');

const rolledRecord = (second: number): LogDocument => ({
  log: `${second}`,
  time: new Date(ROLLED_AT + second * 1_000).toISOString(),
  kubernetes: { namespace_name: 'shop', pod_name: 'rolled-0', container_name: 'c', docker_id: '0' },
});

/** Two records whose messages are numbers, in an index of a rollover, with nanoseconds where the store has them. */
async function addRolled(store: RealStore, name: StoreName): Promise<void> {
  const isOld = STORES[name].dialect === '6';
  const properties = { log: { type: 'text' }, time: { type: isOld ? 'date' : 'date_nanos' } };
  await store.ask('PUT', `/${ROLLED}`, { mappings: isOld ? { doc: { properties } } : { properties } });
  for (const second of [1, 3]) {
    const document = { ...rolledRecord(second), log: second };
    await store.ask('PUT', `/${ROLLED}/${isOld ? 'doc' : '_doc'}/${second}?refresh=true`, document);
  }
}

const LONG_AT = Date.parse('2026-06-02T00:00:00Z');
/** 17.5 MB: more than one answer may have. */
const LONG_RECORDS = 70;
const LONG_LINE = 'a quarter of a megabyte '.repeat(10_400);

const longRecords = (): LogDocument[] =>
  Array.from({ length: LONG_RECORDS }, (_, at) => ({
    log: `${at} ${LONG_LINE}\n`,
    time: new Date(LONG_AT + at).toISOString(),
    kubernetes: { namespace_name: 'shop', pod_name: 'db-0', container_name: 'postgres', docker_id: '0' },
  }));

const LARGE_AT = Date.parse('2026-05-01T00:00:00Z');
/** More than the sockets of both sides and Gatehouse hold: 16 MB. */
const LARGE_RECORDS = 4_000;
const LARGE_LINE = `${'four kilobytes of the same line '.repeat(128)}\n`;

const largeRecords = (): LogDocument[] =>
  Array.from({ length: LARGE_RECORDS }, (_, at) => ({
    log: LARGE_LINE,
    time: new Date(LARGE_AT + at).toISOString(),
    kubernetes: { namespace_name: 'shop', pod_name: 'db-0', container_name: 'postgres', docker_id: '0' },
  }));

const BUSY_SEARCHES = 3;

/**
 * Searches that take the store seconds each, one after the other, until the signal of the controller aborts or the test ends:
 * it has a thousand patterns to compare with each of its words.
 */
function keepBusy(url: string): AbortController {
  const controller = new AbortController();
  const should = Array.from({ length: 1_000 }, (_, n) => ({ wildcard: { log: { value: `*${n % 10}*${n}*` } } }));
  const search = () =>
    fetch(`${url}/ks-logstash-log*/_search`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ size: 0, query: { bool: { should } } }),
      signal: controller.signal,
    });
  for (let count = 0; count < BUSY_SEARCHES; count++) search().catch(() => undefined);
  atEnd(() => controller.abort());
  return controller;
}

/** The searches under way whose text has this word. */
async function searches({ store }: StoreStand, word: string): Promise<{ readonly cancelled: boolean }[]> {
  const { nodes } = (await store.ask(
    'GET',
    '/_tasks?actions=indices:data/read/search&detailed=true',
  )) as unknown as Tasks;
  const tasks = Object.values(nodes).flatMap((node) => Object.values(node.tasks));
  return tasks.filter(({ description }) => description.includes(word)).map(({ cancelled }) => ({ cancelled }));
}

interface Tasks {
  readonly nodes: Readonly<Record<string, { readonly tasks: Readonly<Record<string, Task>> }>>;
}

interface Task {
  readonly description: string;
  readonly cancelled: boolean;
}
