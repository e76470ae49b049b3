import type { DocumentKind } from '../document-kind.ts';

/**
 * Events of the cluster, as exporters store them (docs/contract/events.md): in the form of `v1` and in that of `events.k8s.io/v1`, whose
 * fields have other names. The answer has each as it is stored.
 */
export const EVENTS = {
  name: 'events',
  operations: ['query', 'statistics', 'histogram'],
  scope: {
    workspace_filter: 'workspaces',
    workspace_search: 'workspaceParts',
    involved_object_namespace_filter: 'namespaces',
    involved_object_namespace_search: 'namespaceParts',
  },
  conditions: {
    involved_object_name_filter: { field: 'name', match: 'exact' },
    involved_object_name_search: { field: 'name', match: 'phrase' },
    involved_object_kind_filter: { field: 'kind', match: 'phrase' },
    reason_filter: { field: 'reason', match: 'phrase' },
    reason_search: { field: 'reason', match: 'part' },
    message_search: { field: 'message', match: 'phrase' },
    type_filter: { field: 'type', match: 'phrase' },
  },
  ignored: ['endTime'],
  right: { verb: 'list', group: '', version: 'v1', resource: 'events' },
  fields: {
    namespace: ['involvedObject.namespace', 'regarding.namespace'],
    name: ['involvedObject.name', 'regarding.name'],
    kind: ['involvedObject.kind', 'regarding.kind'],
    reason: ['reason'],
    message: ['message', 'note'],
    type: ['type'],
  },
  namespace: 'namespace',
  time: 'lastTimestamp',
  counted: ['involvedObject.uid', 'regarding.uid'],
  source: true,
  answer: { counted: 'resources', total: 'events', buckets: 'buckets' },
  toRecord: (source) => source,
} as const satisfies DocumentKind;
