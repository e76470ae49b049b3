import type { DocumentCondition, Operation, ScopeList } from './document-kind.ts';
import type { Interval } from './query/interval.ts';
import type { TimeRange } from './query/times.ts';

/**
 * The namespaces of a query: exact names and parts of names (in lower case), and the same of the workspaces that they belong to. An empty
 * list sets no condition; a namespace must match a list of namespaces, if there is one, and a list of workspaces, if there is one.
 */
export type Scope = Readonly<Record<ScopeList, readonly string[]>>;

/** A caller's query (docs/contract/logging.md, section 2). */
export interface DocumentQuery {
  readonly operation: Operation;
  readonly scope: Scope;
  /** A document must match each of them. */
  readonly conditions: readonly DocumentCondition[];
  readonly time: TimeRange;
  readonly interval: Interval;
  readonly page: Page;
}

/** Selects a page of the found records, in the order of time. */
export interface Page {
  readonly order: 'asc' | 'desc';
  readonly from: number;
  readonly size: number;
}
