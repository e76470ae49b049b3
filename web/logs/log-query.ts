/**
 * The filters of logs, which are the same in the address and in the API: the names that a search narrows by exactly, and the words that are typed.
 */
export const LOG_FILTERS = Object.fromEntries(
  [
    ...['namespaces', 'workloads', 'pods', 'containers'],
    ...['log_query', 'namespace_query', 'pod_query', 'container_query'],
  ].map((name) => [name, name]),
);
