import type { LogFilter } from '../../../src/logs/log-query.ts';

/** A filter that every record passes. */
export const NO_FILTER: LogFilter = {
  workloads: [],
  workloadQueries: [],
  podQueries: [],
  containerQueries: [],
  pods: [],
  containers: [],
  phrases: [],
};
