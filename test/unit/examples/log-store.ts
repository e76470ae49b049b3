import assert from 'node:assert/strict';
import { type LogSearch, type LogStore, StoreError } from '../../../src/logs/store/log-store.ts';
import { NO_FILTER } from '../../support/logs/no-filter.ts';

const kept = [{ at: 5_000, record: { log: 'started', namespace: 'shop' } }];
// The caller may read `namespaces` only. A real store applies the filter, the time, the order and the signal as well.
const hits = ({ namespaces }: LogSearch) =>
  kept.filter(({ record }) => namespaces?.whole.includes(record.namespace) ?? true);
const store: LogStore = {
  find: async (asked, { from, size }) => ({ total: hits(asked).length, records: hits(asked).slice(from, from + size) }),
  count: async (asked) => ({ containers: 1, logs: hits(asked).length }),
  histogram: () => Promise.reject(new StoreError('refused', 'this store makes no histograms')),
  async *messages(asked) {
    yield hits(asked).map(({ at, record }) => ({ at, log: record.log }));
  },
};

const search = (name: string) => ({ filter: NO_FILTER, time: {}, namespaces: { whole: [name], young: [] } });
assert.equal((await store.count(search('shop'), AbortSignal.timeout(1_000))).logs, 1);
assert.equal((await store.count(search('kube-system'), AbortSignal.timeout(1_000))).logs, 0);
