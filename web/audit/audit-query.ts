import { type FilterNames, filtersOf, valuesOf } from '../documents/query.ts';

/** The filters of audit records: names that were chosen by a link, and what is typed (docs/contract/events.md, section 3). */
const AUDIT_FILTERS: FilterNames = {
  users: 'user_filter',
  namespaces: 'objectref_namespace_filter',
  names: 'objectref_name_filter',
  user: 'user_search',
  verb: 'verb_filter',
  resource: 'objectref_resource_filter',
  name: 'objectref_name_search',
  namespace: 'objectref_namespace_search',
  source: 'source_ip_search',
  code: 'response_code_filter',
};

/** Those that are compared with parts of a text, which the API takes from two characters on. */
const PARTS = ['user', 'name', 'source'] as const;

type Part = (typeof PARTS)[number];

/** The verbs by which something changes, as one filter. */
export const CHANGES = 'create,update,patch,delete,deletecollection';

interface AuditFilters {
  /** The filters with a value, by the names of parameters of the API. */
  readonly filters: Readonly<Record<string, string>>;
  /** What was left out, because it is one character only: most texts have that. */
  readonly short: readonly Part[];
}

/** The filters of the address. */
export function auditFilters(address: Readonly<Record<string, string>>): AuditFilters {
  const short = PARTS.filter((name) => valuesOf(address[name]).some((value) => [...value].length < 2));
  const used = Object.fromEntries(Object.entries(address).filter(([name]) => !short.includes(name as Part)));
  return { filters: filtersOf(AUDIT_FILTERS, used), short };
}
