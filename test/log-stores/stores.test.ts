import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LogDocument } from '../../dev/log-store/stored-record.ts';
import { atEnd } from '../support/at-end.ts';
import { logRecords } from '../support/logs/log-records.ts';
import { tellMeasured } from '../support/measured.ts';
import { LOG_GROUPS, readCases } from '../support/observed/case.ts';
import { type StoreStand, startStoreStand } from './store-stand.ts';
import { STORE_NAMES, type StoreName } from './store-tools.ts';

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
});

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
  for (let count = 0; count < 3; count++) search().catch(() => undefined);
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
