import type { FilterNames } from '../documents/query.ts';

/** The filters of events: names that were chosen by a link, and what is typed (docs/contract/events.md, section 2). */
export const EVENT_FILTERS: FilterNames = {
  namespaces: 'involved_object_namespace_filter',
  names: 'involved_object_name_filter',
  namespace: 'involved_object_namespace_search',
  kind: 'involved_object_kind_filter',
  name: 'involved_object_name_search',
  reason: 'reason_filter',
  type: 'type_filter',
  message: 'message_search',
};
