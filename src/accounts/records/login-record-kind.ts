import type { Kind } from '../../resources/entries/kind.ts';
import type { FilterReader } from '../../resources/query/filter.ts';
import { COMMON_SORT_WORDS } from '../../resources/query/list-query.ts';
import { asObject } from '../../runtime/text/json-value.ts';
import type { AccountNames } from '../names.ts';
import { shownMetadata } from '../shown-object.ts';

/** The filters that only login records have. `own` is the record's type. */
const FILTERS = new Map<string, FilterReader>([
  [
    'type',
    (text) =>
      ({ own }) =>
        own === text,
  ],
]);

/** Describes login records to the list engine. */
export function createLoginRecordKind({ platform, group, version }: AccountNames): Kind {
  const type = { group, version, resource: 'loginrecords', kind: 'LoginRecord' };
  return {
    ...type,
    platform,
    singularName: 'loginrecord',
    shortNames: [],
    namespaced: false,
    sortWords: COMMON_SORT_WORDS,
    filters: FILTERS,
    statusOf: () => '',
    project: (record) => asObject(record['spec'])['type'],
    answered: { ...type, show: (record) => ({ ...record, metadata: shownMetadata(record) }) },
  };
}
