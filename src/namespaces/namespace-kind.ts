import type { Kind } from '../resources/entries/kind.ts';
import { type Condition, type FilterReader, notOneOf, statusFilter } from '../resources/query/filter.ts';
import { COMMON_SORT_WORDS } from '../resources/query/list-query.ts';
import { parseBooleanWord } from '../runtime/text/boolean-word.ts';
import { asObject } from '../runtime/text/json-value.ts';
import type { StatusCause } from '../status-error.ts';

/** The filters that only namespaces have: `status` is `v1.NamespacePhase`. */
const FILTERS = new Map<string, FilterReader>([
  ['status', statusFilter(['Active', 'Terminating'])],
  ['permitted', readPermitted],
]);

/** Whether callers without the right to all namespaces want those that they may see. The rights decide, so it chooses no objects. */
function readPermitted(text: string, name: string): Condition | StatusCause {
  return parseBooleanWord(text) === undefined ? notOneOf(name, text, ['true', 'false']) : () => true;
}

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
