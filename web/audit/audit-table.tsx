import { useMemo } from 'preact/hooks';
import { Narrow } from '../documents/narrow.tsx';
import { type RecordColumn, RecordTable } from '../documents/record-table.tsx';
import { LogLine } from '../logs/log-line.tsx';
import { withCarets } from '../logs/log-text.ts';
import { State } from '../parts/state.tsx';
import { t } from '../texts/text.ts';
import { type AuditRecord, readAudit } from './audit-record.ts';

/** Who did what, from where, and what the answer was. Each name narrows the search. */
export function AuditTable({ records }: { readonly records: readonly object[] }) {
  const columns = useMemo(columnsOf, [t()]);
  return (
    <RecordTable
      records={records}
      read={readAudit}
      timeOf={({ time }) => time}
      columns={columns}
      label={t().views.audit}
    />
  );
}

function columnsOf(): readonly RecordColumn<AuditRecord>[] {
  const texts = t().audit;
  return [
    {
      id: 'user',
      title: texts.user,
      cell: ({ user, impersonated }) => (
        <>
          <Narrow to={{ users: user }} name={user} />
          {impersonated !== '' && (
            <span class="soft">
              {' '}
              {texts.as} <bdi>{withCarets(impersonated)}</bdi>
            </span>
          )}
        </>
      ),
    },
    { id: 'verb', title: texts.verb, cell: ({ verb }) => <Narrow to={{ verb }} name={verb} /> },
    { id: 'request', title: texts.object, cell: (record) => <Requested record={record} /> },
    { id: 'answer', title: texts.code, cell: (record) => <Answered record={record} /> },
    {
      id: 'source',
      title: texts.sources,
      cell: ({ sources }) => (
        <ul>
          {sources.map((source) => (
            <li key={source}>
              <Narrow to={{ source }} name={source} />
            </li>
          ))}
        </ul>
      ),
    },
  ];
}

interface PartProps {
  readonly record: AuditRecord;
}

/** The object of a request; its address where it has none. */
function Requested({ record: { resource, namespace, name, address } }: PartProps) {
  if (resource === '') return <LogLine text={address} wanted={undefined} />;
  const [plural = ''] = resource.split('/');
  return (
    <>
      <Narrow to={{ resource: plural }} name={resource} /> <Narrow to={{ namespaces: namespace }} name={namespace} />
      {namespace !== '' && name !== '' && <span class="slash">/</span>}
      <Narrow to={{ namespaces: namespace, names: name }} name={name} />
    </>
  );
}

/** The status of the answer. A refusal and a failure have a shape of their own. */
function Answered({ record: { code, status } }: PartProps) {
  if (code === 0) return status === '' ? <span class="soft">{t().none}</span> : <bdi>{withCarets(status)}</bdi>;
  const shown = <Narrow to={{ code: `${code}` }} name={`${code}`} />;
  return code < 400 ? shown : <State tone={code < 500 ? 'warn' : 'bad'}>{shown}</State>;
}
