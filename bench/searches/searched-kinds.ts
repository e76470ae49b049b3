import { StoredRecord } from '../../dev/log-store/stored-record.ts';
import type { DocumentKind } from '../../src/documents/document-kind.ts';
import { auditKind } from '../../src/documents/kinds/audit-kind.ts';
import { EVENTS } from '../../src/documents/kinds/event-kind.ts';
import { LOGS } from '../../src/documents/kinds/log-kind.ts';
import { auditDocuments } from '../../test/log-stores/documents/audit-documents.ts';
import { eventDocuments } from '../../test/log-stores/documents/event-documents.ts';
import type { StoredDocument } from '../../test/log-stores/documents/stored-document.ts';
import { logRecords } from '../../test/support/logs/log-records.ts';

/** A kind of documents that is searched, and the search. */
export interface SearchedKind {
  readonly kind: DocumentKind;
  /** The section of the configuration that names its store. */
  readonly section: 'logging' | 'events' | 'auditing';
  readonly path: string;
  readonly indexPrefix: string;
  /** What the search asks for besides the time. All of them are conditions of the kind. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Some 12,000 documents, in the indices of their days. */
  documents(): readonly StoredDocument[];
}

const TENANT = '/kapis/tenant.gatehouse.io/v1alpha2';
/** 308 events and 302 audit records become as many documents as there are logs. */
const COPIES = 40;

const copied = (documents: readonly StoredDocument[]): readonly StoredDocument[] =>
  Array.from({ length: COPIES }, () => documents).flat();

export const SEARCHED_KINDS: readonly SearchedKind[] = [
  {
    kind: LOGS,
    section: 'logging',
    path: `${TENANT}/logs`,
    indexPrefix: 'ks-logstash-log',
    parameters: { log_query: 'payment declined' },
    documents: () =>
      logRecords().map((source) => ({ index: `ks-logstash-log-${new StoredRecord(source).day}`, source })),
  },
  {
    kind: EVENTS,
    section: 'events',
    path: `${TENANT}/events`,
    indexPrefix: 'ks-logstash-events',
    parameters: { type_filter: 'Warning', message_search: 'restarting failed' },
    documents: () => copied(eventDocuments()),
  },
  {
    kind: auditKind('gatehouse', { isAsEvents: false }),
    section: 'auditing',
    path: `${TENANT}/auditing/events`,
    indexPrefix: 'ks-logstash-auditing',
    parameters: { verb_filter: 'create', user_search: 'ada' },
    documents: () => copied(auditDocuments()),
  },
];
