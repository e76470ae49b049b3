import type { Interval } from './query/interval.ts';
import type { TimeRange } from './query/times.ts';

export const LOG_OPERATIONS = ['query', 'statistics', 'histogram', 'export'] as const;

export type LogOperation = (typeof LOG_OPERATIONS)[number];

/**
 * The conditions on the records besides namespace and time. The elements of a list are alternatives, and a record must match every list
 * that is not empty. Elements are plain text, without wildcards or other syntax.
 */
export interface LogFilter {
  /** Names of workloads, matched by the names of their pods (`query/pod-names.ts`). */
  readonly workloads: readonly string[];
  /** The pod's name contains these words in this order; the last one may be a prefix. */
  readonly workloadQueries: readonly string[];
  readonly podQueries: readonly string[];
  /** Like `podQueries`, in the container's name. */
  readonly containerQueries: readonly string[];
  /** Exact names. */
  readonly pods: readonly string[];
  readonly containers: readonly string[];
  /** Like `podQueries`, in the message. */
  readonly phrases: readonly string[];
}

/** A caller's query (docs/contract/logging.md, section 2). */
export interface LogQuery {
  readonly operation: LogOperation;
  /** Exact names; empty: all namespaces. */
  readonly namespaces: readonly string[];
  /** Parts of names, in lower case; empty: all namespaces. */
  readonly namespaceQueries: readonly string[];
  readonly filter: LogFilter;
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
