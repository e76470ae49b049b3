import { Component } from 'preact';
import { Narrow } from '../documents/narrow.tsx';
import { keyOf } from '../documents/record-key.ts';
import { RecordTime } from '../documents/record-time.tsx';
import { t } from '../texts/text.ts';
import { LogLine } from './log-line.tsx';
import type { LogRecord } from './log-records.ts';
import { withoutLineEnd } from './log-text.ts';

interface RecordListProps {
  readonly records: readonly LogRecord[];
  readonly wanted: RegExp | undefined;
}

/** Records with when and where they were written. Each of these narrows the search. */
export function RecordList({ records, wanted }: RecordListProps) {
  return (
    <ol class="log" aria-label={t().documents.recordsTitle}>
      {records.map((record) => (
        <Row key={keyOf(record)} record={record} wanted={wanted} />
      ))}
    </ol>
  );
}

interface RowProps {
  readonly record: LogRecord;
  readonly wanted: RegExp | undefined;
}

/** A record never changes, so it is drawn once for all that it is marked for. */
class Row extends Component<RowProps> {
  override shouldComponentUpdate({ record, wanted }: RowProps): boolean {
    return record !== this.props.record || wanted !== this.props.wanted;
  }

  override render({ record, wanted }: RowProps) {
    const { log = '', time, namespace = '', pod = '', container = '' } = record;
    return (
      <li>
        <RecordTime time={time} />
        <span class="where">
          <Narrow to={{ namespaces: namespace }} name={namespace} />
          <Narrow to={{ namespaces: namespace, pods: pod }} name={pod} />
          <Narrow to={{ namespaces: namespace, pods: pod, containers: container }} name={container} />
        </span>
        <span class="text">
          <LogLine text={withoutLineEnd(log)} wanted={wanted} />
        </span>
      </li>
    );
  }
}
