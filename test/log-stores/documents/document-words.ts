/** How a parameter is compared, in the words of docs/contract/events.md, section 1. */
export type Comparison = 'exact' | 'phrase' | 'part' | 'number';

/** What docs/contract/events.md says of the search of one kind of documents. */
export interface DocumentWords {
  readonly path: string;
  /** Comparison and places, separated by spaces. */
  readonly conditions: Readonly<Record<string, readonly [Comparison, string]>>;
  /** The names of the parameters that choose namespaces. */
  readonly scope: {
    readonly namespaces: string;
    readonly namespaceParts: string;
    readonly workspaces: 'workspace_filter';
    readonly workspaceParts: 'workspace_search';
  };
  /** Whether a caller without a right in any namespace is refused, rather than found nothing for. */
  readonly isForbiddenWithoutRight: boolean;
  readonly namespace: string;
  readonly time: string;
  /** The places of the ids that statistics count. */
  readonly counted: string;
}

const WORKSPACES = { workspaces: 'workspace_filter', workspaceParts: 'workspace_search' } as const;

/** docs/contract/events.md, section 2. */
export const EVENT_WORDS: DocumentWords = {
  path: 'events',
  isForbiddenWithoutRight: false,
  conditions: {
    involved_object_name_filter: ['exact', 'involvedObject.name regarding.name'],
    involved_object_name_search: ['phrase', 'involvedObject.name regarding.name'],
    involved_object_kind_filter: ['phrase', 'involvedObject.kind regarding.kind'],
    reason_filter: ['phrase', 'reason'],
    type_filter: ['phrase', 'type'],
    reason_search: ['part', 'reason'],
    message_search: ['phrase', 'message note'],
  },
  scope: {
    namespaces: 'involved_object_namespace_filter',
    namespaceParts: 'involved_object_namespace_search',
    ...WORKSPACES,
  },
  namespace: 'involvedObject.namespace regarding.namespace',
  time: 'lastTimestamp',
  counted: 'involvedObject.uid regarding.uid',
};

/** docs/contract/events.md, section 3. */
export const AUDIT_WORDS: DocumentWords = {
  path: 'auditing/events',
  isForbiddenWithoutRight: true,
  conditions: {
    objectref_name_filter: ['exact', 'ObjectRef.Name ObjectRef.name'],
    objectref_name_search: ['part', 'ObjectRef.Name ObjectRef.name'],
    objectref_resource_filter: ['phrase', 'ObjectRef.Resource ObjectRef.resource'],
    objectref_subresource_filter: ['phrase', 'ObjectRef.Subresource ObjectRef.subresource'],
    level_filter: ['exact', 'Level'],
    verb_filter: ['exact', 'Verb'],
    response_status_filter: ['exact', 'ResponseStatus.status'],
    response_code_filter: ['number', 'ResponseStatus.code'],
    user_filter: ['exact', 'User.Username User.username'],
    user_search: ['part', 'User.Username User.username'],
    group_search: ['part', 'User.Groups User.groups'],
    source_ip_search: ['part', 'SourceIPs'],
  },
  scope: { namespaces: 'objectref_namespace_filter', namespaceParts: 'objectref_namespace_search', ...WORKSPACES },
  namespace: 'ObjectRef.Namespace ObjectRef.namespace',
  time: 'RequestReceivedTimestamp',
  counted: 'AuditID',
};
