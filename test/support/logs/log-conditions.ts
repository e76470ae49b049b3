import type { DocumentCondition } from '../../../src/documents/document-kind.ts';
import { LOGS } from '../../../src/documents/kinds/log-kind.ts';

/** The lists of a log query, by the names of their parameters. */
export type LogLists = Readonly<Partial<Record<keyof typeof LOGS.conditions, readonly string[]>>>;

/** The conditions of a log query with these lists. */
export const logConditions = (lists: LogLists): DocumentCondition[] =>
  Object.entries(lists).map(([name, values]) => ({ ...LOGS.conditions[name as keyof LogLists], values }));
