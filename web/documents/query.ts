import type { Span } from './time-range.ts';

/** How the filters of a view are called in the address, and the parameter of the API that each becomes. */
export type FilterNames = Readonly<Record<string, string>>;

type Parameters = Readonly<Record<string, string>>;

/** The filters of the address, as parameters of the API. */
export function filtersOf(names: FilterNames, address: Parameters): Parameters {
  const pairs = Object.entries(names).map(
    ([name, parameter]) => [parameter, valuesOf(address[name]).join(',')] as const,
  );
  return Object.fromEntries(pairs.filter(([, values]) => values !== ''));
}

/** A search, as the query of its address. */
export const queryOf = (filters: Parameters, { start, end }: Span, more: Parameters): string =>
  String(new URLSearchParams({ ...filters, start_time: `${start}`, end_time: `${end}`, ...more }));

/** The values of a filter of the address: commas separate them. */
export const valuesOf = (text = ''): readonly string[] =>
  text
    .split(',')
    .map((value) => value.trim())
    .filter((value) => value !== '');
