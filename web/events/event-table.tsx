import { useMemo } from 'preact/hooks';
import { type EventRecord, readEvent } from '../api/events.ts';
import { type KindResource, useKinds } from '../app/kinds.ts';
import { settings } from '../app/settings.ts';
import { Narrow } from '../documents/narrow.tsx';
import { type RecordColumn, RecordTable } from '../documents/record-table.tsx';
import { LogLine } from '../logs/log-line.tsx';
import { withCarets } from '../logs/log-text.ts';
import { State } from '../parts/state.tsx';
import { number } from '../texts/number.ts';
import { t } from '../texts/text.ts';
import { EventObject } from './event-object.tsx';

interface EventTableProps {
  readonly events: readonly object[];
  /** What to mark in the messages. */
  readonly wanted: RegExp | undefined;
}

/** Events with a link to what they are about, as far as this page shows it. */
export function EventTable(props: EventTableProps) {
  return settings().features.kinds ? <WithAllKinds {...props} /> : <Rows {...props} kinds={NO_KINDS} />;
}

const NO_KINDS: readonly KindResource[] = [];

function WithAllKinds(props: EventTableProps) {
  return <Rows {...props} kinds={useKinds().value.value?.resources ?? NO_KINDS} />;
}

function Rows({ events, wanted, kinds }: EventTableProps & { readonly kinds: readonly KindResource[] }) {
  const columns = useMemo(() => columnsOf(wanted, kinds), [wanted, kinds, t()]);
  return (
    <RecordTable
      records={events}
      read={readEvent}
      timeOf={({ last }) => last}
      columns={columns}
      label={t().views.events}
    />
  );
}

function columnsOf(wanted: RegExp | undefined, kinds: readonly KindResource[]): readonly RecordColumn<EventRecord>[] {
  const texts = t().eventSearch;
  return [
    {
      id: 'type',
      title: texts.type,
      cell: ({ type }) => type !== '' && <State tone={type === 'Warning' ? 'warn' : 'idle'}>{withCarets(type)}</State>,
    },
    {
      id: 'about',
      title: texts.object,
      cell: (event) => (
        <EventObject
          event={event}
          kinds={kinds}
          where={<Narrow to={{ namespaces: event.namespace }} name={event.namespace} />}
        />
      ),
    },
    {
      id: 'reason',
      title: texts.reason,
      cell: ({ reason }) => <Narrow to={{ reason }} name={reason} />,
    },
    {
      id: 'message',
      title: texts.message,
      cell: ({ message }) => <LogLine text={message} wanted={wanted} />,
    },
    { id: 'number', title: texts.times, cell: ({ times }) => number(times) },
  ];
}
