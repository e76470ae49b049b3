import assert from 'node:assert/strict';
import { toEntry } from '../../../src/resources/entries/entry.ts';
import type { Kind } from '../../../src/resources/entries/kind.ts';
import { statusFilter } from '../../../src/resources/query/filter.ts';
import { COMMON_SORT_WORDS, createListQueryParser } from '../../../src/resources/query/list-query.ts';
import { asObject } from '../../../src/runtime/text/json-value.ts';

const volumes: Kind = {
  platform: 'gatehouse',
  group: '',
  version: 'v1',
  resource: 'persistentvolumes',
  kind: 'PersistentVolume',
  singularName: 'persistentvolume',
  shortNames: ['pv'],
  namespaced: false,
  sortWords: COMMON_SORT_WORDS,
  filters: new Map([['status', statusFilter(['Available', 'Bound', 'Released', 'Failed'])]]),
  statusOf: ({ status }) => String(asObject(status)['phase'] ?? ''),
};
const volume = { metadata: { name: 'pv-1', uid: 'u-1', resourceVersion: '7' }, status: { phase: 'Bound' } };
assert.equal(createListQueryParser(volumes)('status=Bound').conditions[0]?.(toEntry(volume, volumes)), true);
