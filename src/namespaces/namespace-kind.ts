import type { Kind } from '../resources/entries/kind.ts';
import { type FilterReader, statusFilter } from '../resources/query/filter.ts';
import { COMMON_SORT_WORDS } from '../resources/query/list-query.ts';
import { asObject } from '../runtime/text/json-value.ts';

/** The filters that only namespaces have: `status` is `v1.NamespacePhase`. */
const FILTERS = new Map<string, FilterReader>([['status', statusFilter(['Active', 'Terminating'])]]);

/** Describes namespaces to the list engine. */
export const createNamespaceKind = (platform: string): Kind => ({
  platform,
  group: '',
  version: 'v1',
  resource: 'namespaces',
  kind: 'Namespace',
  singularName: 'namespace',
  shortNames: ['ns'],
  namespaced: false,
  sortWords: COMMON_SORT_WORDS,
  filters: FILTERS,
  statusOf(namespace) {
    const { phase } = asObject(namespace['status']);
    return typeof phase === 'string' ? phase : '';
  },
});
