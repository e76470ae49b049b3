import type { ServedSearch } from '../../../src/http/kinds/search-route.ts';
import { ObjectSearch } from '../../../src/kinds/search/object-search.ts';
import { createNodeKind } from '../../../src/nodes/node-kind.ts';
import { ResourceStore } from '../../../src/resources/entries/store.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { TimeSlices } from '../../../src/runtime/time-slices.ts';

/** A search over one node. Of all other kinds nothing is in memory. */
export function searchUnderTest(platform = 'gatehouse'): ServedSearch {
  const slices = new TimeSlices(systemClock);
  const store = new ResourceStore(createNodeKind({ platform, ledger: undefined }), slices);
  store.put(store.toEntry({ metadata: { name: 'x-1', uid: 'u-1', resourceVersion: '7' } }));
  const objects = new ObjectSearch({
    platform,
    always: [{ store, lister: { refresh: () => 1, staleSeconds: () => undefined } }],
    catalog: { kinds: async () => [], denied: async () => [] },
    mirrors: { all: () => [] },
    slices,
  });
  return { objects, scopes: { scopeOf: () => ({ id: 'none', names: new Set(), has: () => false }) } };
}
