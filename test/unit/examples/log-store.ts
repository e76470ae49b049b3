import assert from 'node:assert/strict';
import type { DocumentSearch, DocumentStore } from '../../../src/documents/store/document-store.ts';
import { StoreError } from '../../../src/stores/store-error.ts';

const kept = [{ at: 5_000, record: { log: 'started', namespace: 'shop' } }];
// The caller may read `namespaces` only. A real store applies the filter, the time, the order and the signal as well.
const hits = ({ namespaces }: DocumentSearch) =>
  kept.filter(({ record }) => namespaces?.whole.includes(record.namespace) ?? true);
const store: DocumentStore = {
  find: async (asked, { from, size }) => ({ total: hits(asked).length, records: hits(asked).slice(from, from + size) }),
  count: async (asked) => ({ counted: 1, total: hits(asked).length }),
  histogram: () => Promise.reject(new StoreError('refused', 'this store makes no histograms')),
  async *messages(asked) {
    yield hits(asked).map(({ at, record }) => ({ at, log: record.log }));
  },
};

const search = (name: string) => ({ conditions: [], time: {}, namespaces: { whole: [name], young: [] } });
assert.equal((await store.count(search('shop'), AbortSignal.timeout(1_000))).total, 1);
assert.equal((await store.count(search('kube-system'), AbortSignal.timeout(1_000))).total, 0);
