import { StoreError } from '../../stores/store-error.ts';
import type { DocumentCondition } from '../document-kind.ts';
import type { LokiEntry } from './loki-answer.ts';
import type { Slice } from './loki-slice.ts';

/** Questions to Loki about one slice of a search. */
export interface LokiQuestions {
  /** The number that a query in LogQL has at the end of the slice. */
  number(slice: Slice, query: string): Promise<number>;
  /** The labels of the streams of a selector. */
  streams(slice: Slice, selector: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
}

/** How Loki has the documents of one kind. */
export interface LokiKind {
  /** The label with the namespace. */
  readonly namespaceLabel: string;
  /** A LogQL query for the lines of these namespaces that match the conditions; without `namespaces`, for all lines of this kind. */
  toLogQuery(conditions: readonly DocumentCondition[], namespaces: readonly string[] | undefined): string;
  /** Counts the different ids (`Statistics.counted`) in a slice. */
  countIds(slice: Slice, questions: LokiQuestions): Promise<number>;
  /** A line as the answer has it. */
  recordOf(entry: LokiEntry): object;
}

/** Loki counts at most 500 groups in one query by default (`max_query_series`). */
export const isTooManySeries = (error: unknown): boolean =>
  error instanceof StoreError && error.kind === 'refused' && /number of series/.test(error.message);
