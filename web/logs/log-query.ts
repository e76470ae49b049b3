import type { Span } from './time-range.ts';

/** The names that a search narrows by exactly, with those of their typed words. They are the same in the address and in the API. */
export const EXACT = ['namespaces', 'workloads', 'pods', 'containers'] as const;
const TYPED = ['log_query', 'namespace_query', 'pod_query', 'container_query'] as const;

/** The filters of the address, as parameters of the API. */
export function filtersOf(parameters: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const pairs = [...EXACT, ...TYPED].map((name) => [name, parameters[name] ?? ''] as const);
  return Object.fromEntries(pairs.filter(([, value]) => value !== ''));
}

/** A search, as the query of its address. */
export const queryOf = (
  filters: Readonly<Record<string, string>>,
  { start, end }: Span,
  more: Readonly<Record<string, string>>,
): string => String(new URLSearchParams({ ...filters, start_time: `${start}`, end_time: `${end}`, ...more }));
