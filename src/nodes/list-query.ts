import { badRequest, type StatusCause } from '../status-error.ts';
import { LIST_PARAMETERS, type Setting } from './list-parameters.ts';
import { parseQueryString, type QueryParameters } from './query-string.ts';
import { cut, quoted } from './quoted.ts';
import type { Selector } from './selector.ts';

export type NodeStatusWord = 'running' | 'warning' | 'unschedulable';

/** A list request's parameters, parsed once. Absent conditions match everything. */
export interface NodeListQuery {
  /** -1: all. Exact integers up to 64 bits. */
  readonly limit: bigint;
  /** From 1. */
  readonly page: bigint;
  readonly sortBy: 'name' | 'creationTimestamp';
  readonly ascending: boolean;
  readonly filters: NodeFilters;
}

export interface NodeFilters {
  readonly labelSelector?: Selector;
  readonly label?: Selector;
  readonly annotation?: Selector;
  readonly name?: string;
  readonly names?: readonly string[];
  readonly alias?: string;
  readonly uid?: string;
  readonly namespace?: string;
  readonly ownerReference?: string;
  readonly ownerKind?: string;
  readonly status?: NodeStatusWord;
}

/**
 * Reads the text behind the `?` (empty when there is none). Throws one 400 that names every bad parameter in query order.
 * A parameter given twice is refused whatever its values, so that no proxy and no reader can disagree on which one counts.
 */
export function parseNodeListQuery(queryString: string): NodeListQuery {
  const parameters = parseQueryString(queryString);
  const causes: StatusCause[] = [];
  let query: NodeListQuery = { limit: -1n, page: 1n, sortBy: 'creationTimestamp', ascending: false, filters: {} };
  for (const name of parameters.values.keys()) {
    const setting = readParameter(name, parameters);
    if ('reason' in setting) causes.push(setting);
    else if ('filter' in setting) query = { ...query, filters: { ...query.filters, ...setting.filter } };
    else query = { ...query, ...setting };
  }
  if (causes[0]) throw badRequest(causes[0].message, causes);
  return query;
}

function readParameter(name: string, { values, repeated }: QueryParameters): Setting | StatusCause {
  const read = LIST_PARAMETERS.get(name);
  // Never the value: an unknown parameter may be a credential in the wrong place.
  if (!read) return refusal('FieldValueForbidden', `unknown query parameter ${quoted(name)}`, name);
  if (repeated.has(name)) {
    return refusal('FieldValueDuplicate', `query parameter "${name}" is given more than once`, name);
  }
  return read(values.get(name) ?? '', name);
}

const refusal = (reason: string, message: string, name: string): StatusCause => ({
  reason,
  message,
  field: cut(name),
});
