import type { Interval } from './query/interval.ts';
import type { TimeRange } from './query/times.ts';

export type LogOperation = 'query' | 'statistics' | 'histogram' | 'export';

/**
 * What is asked of the records, besides their namespaces and their time. The elements of a list are alternatives, the
 * lists hold together, and an empty list asks nothing. No element is syntax of any kind.
 */
export interface LogFilter {
  /** Names of workloads, matched by the names of the pods that they make (`query/pod-names.ts`). */
  readonly workloads: readonly string[];
  /** Words in this order in the pod's name, the last of them as a beginning. */
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

/** What a caller asks for (docs/contract/logging.md, section 2). */
export interface LogQuery {
  readonly operation: LogOperation;
  /** Exact names; empty: all. */
  readonly namespaces: readonly string[];
  /** Parts of names, in lower case; empty: all. */
  readonly namespaceQueries: readonly string[];
  readonly filter: LogFilter;
  readonly time: TimeRange;
  readonly interval: Interval;
  readonly page: Page;
}

/** Which of the records that were found, in the order of their time. */
export interface Page {
  readonly order: 'asc' | 'desc';
  readonly from: number;
  readonly size: number;
}
