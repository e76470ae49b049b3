import { Component } from 'preact';
import { address, hrefTo } from '../app/address.ts';
import { t } from '../texts/text.ts';
import { LogLine } from './log-line.tsx';
import type { LogRecord } from './log-records.ts';
import { withoutLineEnd } from './log-text.ts';
import { LogTime } from './log-time.tsx';

interface RecordListProps {
  readonly records: readonly LogRecord[];
  readonly wanted: RegExp | undefined;
}

/** Records with when and where they were written. Each of these narrows the search. */
export function RecordList({ records, wanted }: RecordListProps) {
  return (
    <ol class="log" aria-label={t().logs.recordsTitle}>
      {records.map((record) => (
        <Row key={keyOf(record)} record={record} wanted={wanted} />
      ))}
    </ol>
  );
}

const numbers = new WeakMap<LogRecord, number>();
let last = 0;

/** A name for each record that was read: two may be equal in all that they say. */
function keyOf(record: LogRecord): number {
  const number = numbers.get(record) ?? ++last;
  numbers.set(record, number);
  return number;
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
        <LogTime time={time} />
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

/** A name that narrows the search to it. */
function Narrow({ to, name }: { readonly to: Readonly<Record<string, string>>; readonly name: string }) {
  if (name === '') return null;
  const { parts, parameters } = address.value;
  return (
    <a href={hrefTo(parts, { ...parameters, ...to })} title={name}>
      <bdi>{name}</bdi>
    </a>
  );
}
