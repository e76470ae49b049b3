import type { DocumentKind } from '../document-kind.ts';
import { EVENTS } from './event-kind.ts';

/** The two spellings of a member, with a capital and with a small letter: stores have both. */
const spelled = (parent: string, member: string): readonly [string, string] => [
  `${parent}.${member}`,
  `${parent}.${member.charAt(0).toLowerCase()}${member.slice(1)}`,
];

/**
 * Audit records of the cluster and of this server, as KubeSphere 3.4 stores them (docs/contract/events.md, section 3). The answer has each as it is
 * stored. `isAsEvents`: the right to list events is enough.
 */
export const auditKind = (platform: string, { isAsEvents }: { readonly isAsEvents: boolean }): DocumentKind => ({
  name: 'audit records',
  operations: ['query', 'statistics', 'histogram'],
  scope: {
    workspace_filter: 'workspaces',
    workspace_search: 'workspaceParts',
    objectref_namespace_filter: 'namespaces',
    objectref_namespace_search: 'namespaceParts',
  },
  conditions: {
    objectref_name_filter: { field: 'name', match: 'exact' },
    objectref_name_search: { field: 'name', match: 'part' },
    objectref_resource_filter: { field: 'resource', match: 'phrase' },
    objectref_subresource_filter: { field: 'subresource', match: 'phrase' },
    level_filter: { field: 'level', match: 'exact' },
    verb_filter: { field: 'verb', match: 'exact' },
    response_status_filter: { field: 'status', match: 'exact' },
    response_code_filter: { field: 'code', match: 'number' },
    user_filter: { field: 'user', match: 'exact' },
    user_search: { field: 'user', match: 'part' },
    group_search: { field: 'group', match: 'part' },
    source_ip_search: { field: 'source', match: 'part' },
  },
  ignored: ['endTime'],
  right: isAsEvents
    ? EVENTS.right
    : { verb: 'list', group: `tenant.${platform}.io`, version: 'v1alpha2', resource: 'auditevents' },
  refusesWithoutRight: true,
  fields: {
    namespace: spelled('ObjectRef', 'Namespace'),
    name: spelled('ObjectRef', 'Name'),
    resource: spelled('ObjectRef', 'Resource'),
    subresource: spelled('ObjectRef', 'Subresource'),
    level: ['Level'],
    verb: ['Verb'],
    status: ['ResponseStatus.status'],
    code: ['ResponseStatus.code'],
    user: spelled('User', 'Username'),
    group: spelled('User', 'Groups'),
    source: ['SourceIPs'],
  },
  namespace: 'namespace',
  time: 'RequestReceivedTimestamp',
  counted: ['AuditID'],
  source: true,
  answer: { counted: 'resources', total: 'events', buckets: 'buckets' },
  toRecord: (source) => source,
});
