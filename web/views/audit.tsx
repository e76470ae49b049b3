import { useMemo } from 'preact/hooks';
import { address } from '../app/address.ts';
import { AuditFilters } from '../audit/audit-filters.tsx';
import { auditFilters } from '../audit/audit-query.ts';
import { readAudit } from '../audit/audit-record.ts';
import { AuditTable } from '../audit/audit-table.tsx';
import { DocumentSearch } from '../documents/document-search.ts';
import { Results } from '../documents/results.tsx';
import { SearchPage, type SearchProps } from '../documents/search-page.tsx';
import { t } from '../texts/text.ts';

/** `statistics` counts requests, which are the records: there is nothing more to say, and each question leaves a line in the audit trail. */
const AUDIT = { path: 'auditing/events', buckets: 'buckets' };

/** Searches the audit records in the store. */
export function Audit() {
  const { filters } = auditFilters(address.value.parameters);
  return (
    <SearchPage title={t().views.audit} filters={filters} search={Search}>
      <AuditFilters />
    </SearchPage>
  );
}

function Search({ filters, sort, span, onAgain }: SearchProps) {
  const search = useMemo(() => new DocumentSearch<object>(AUDIT, { filters, span, sort }), []);
  return (
    <Results
      search={search}
      none={`${t().documents.none} ${t().audit.noneWhose}`}
      timeOf={(record) => readAudit(record).time}
      list={(records) => <AuditTable records={records} />}
      onAgain={onAgain}
    />
  );
}
