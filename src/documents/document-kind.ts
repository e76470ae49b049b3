import type { ResourceAttributes } from '../authorization/authorizer.ts';

/**
 * How a field is compared with the values of a condition, of which one must match.
 * - `exact`: the whole text.
 * - `part`: a part of the text.
 * - `phrase`: these words in this order; the last one may be a prefix.
 * - `number`: a whole number.
 * - `workload`: the name of a pod of the workload with this name (`query/pod-names.ts`).
 */
export type Match = 'exact' | 'part' | 'phrase' | 'number' | 'workload';

/** A field by its name in `DocumentKind.fields`, and how it is compared. */
interface FieldComparison {
  readonly field: string;
  readonly match: Match;
}

/** A condition on the documents. Values are plain text, without wildcards or other syntax; there is at least one. */
export interface DocumentCondition extends FieldComparison {
  readonly values: readonly string[];
}

/** The members of a query's scope, each a list (`document-query.ts`). */
export type ScopeList = 'namespaces' | 'namespaceParts' | 'workspaces' | 'workspaceParts';

/** What a query may ask for. `export` is a download of messages. */
export type Operation = 'query' | 'statistics' | 'histogram' | 'export';

/**
 * What distinguishes one kind of documents (logs, events, audit records) from the others. Everything else about their queries is the same:
 * times, pages, rights by namespace, stores and limits.
 */
export interface DocumentKind {
  readonly name: 'logs' | 'events' | 'audit records';
  readonly operations: readonly Operation[];
  /** The parameters that choose namespaces. */
  readonly scope: Readonly<Record<string, ScopeList>>;
  /** The parameters that become conditions. */
  readonly conditions: Readonly<Record<string, FieldComparison>>;
  /** Parameters that clients send and that change nothing. */
  readonly ignored: readonly string[];
  /** The right to see the documents of a namespace; without a namespace, of all. */
  readonly right: ResourceAttributes;
  /** Whether a query that names no namespace is refused for a caller without this right in any namespace. By default it finds nothing. */
  readonly refusesWithoutRight?: boolean;
  /** Where the store has each field. A field may have several places, one for each form of the documents. */
  readonly fields: Readonly<Record<string, readonly string[]>>;
  /** The name of one of `fields`. */
  readonly namespace: string;
  /** The place of the time by which documents are found and ordered. */
  readonly time: string;
  /** The places of the ids that `statistics` counts. */
  readonly counted: readonly string[];
  /** The places that the store sends of a document; `true` for the whole one. */
  readonly source: readonly string[] | true;
  /** The names in the answers: what is counted, all documents, the buckets of a histogram. */
  readonly answer: { readonly counted: string; readonly total: string; readonly buckets: string };
  /** A document as the answer has it. */
  toRecord(source: Readonly<Record<string, unknown>>): object;
}
