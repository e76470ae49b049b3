import { Component, type ComponentChildren } from 'preact';
import { Yaml } from '../parts/yaml.tsx';
import { t } from '../texts/text.ts';
import { keyOf } from './record-key.ts';
import { RecordTime } from './record-time.tsx';

/** A column of what is shown of a record. */
export interface RecordColumn<Shown> {
  readonly id: string;
  readonly title: string;
  /** What follows the language of the page has to be a component of its own: a row is drawn once. */
  cell(shown: Shown): ComponentChildren;
}

interface RecordTableProps<Document extends object, Shown> {
  readonly records: readonly Document[];
  /** What to show of a record. */
  read(record: Document): Shown;
  timeOf(shown: Shown): string;
  /** All rows are drawn again when these are others. */
  readonly columns: readonly RecordColumn<Shown>[];
  readonly label: string;
}

/** Records as rows. Each opens to the whole of it. */
export function RecordTable<Document extends object, Shown>(props: RecordTableProps<Document, Shown>) {
  const { records, columns, label } = props;
  return (
    <div class="scrolled">
      <table class="records" aria-label={label}>
        <thead>
          <tr>
            <th scope="col" class="when">
              {t().documents.time}
            </th>
            {columns.map(({ id, title }) => (
              <th key={id} scope="col" class={id}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {records.map((record) => (
            <Row<Document, Shown> key={keyOf(record)} {...props} record={record} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

type RowProps<Document extends object, Shown> = RecordTableProps<Document, Shown> & { readonly record: Document };

/** A record never changes, so it is drawn once, and again when it is opened or closed. */
class Row<Document extends object, Shown> extends Component<
  RowProps<Document, Shown>,
  { readonly isOpen?: boolean | undefined }
> {
  override shouldComponentUpdate(
    { record, columns }: RowProps<Document, Shown>,
    { isOpen }: { readonly isOpen?: boolean | undefined },
  ): boolean {
    return record !== this.props.record || columns !== this.props.columns || isOpen !== this.state.isOpen;
  }

  override render({ record, read, timeOf, columns }: RowProps<Document, Shown>, { isOpen = false }) {
    const shown = read(record);
    const time = timeOf(shown);
    return (
      <>
        <tr class={isOpen ? 'open' : ''}>
          <td class="when">
            <Opener isOpen={isOpen} onToggle={() => this.setState({ isOpen: !isOpen })} />
            <RecordTime time={time} isToSecond />
          </td>
          {columns.map(({ id, cell }) => (
            <td key={id} class={id}>
              {cell(shown)}
            </td>
          ))}
        </tr>
        {isOpen && (
          <tr class="whole">
            <td colSpan={columns.length + 1}>
              <Yaml value={record} label={`YAML: ${time}`} />
            </td>
          </tr>
        )}
      </>
    );
  }
}

interface OpenerProps {
  readonly isOpen: boolean;
  onToggle(): void;
}

function Opener({ isOpen, onToggle }: OpenerProps) {
  return (
    <button
      type="button"
      class="fold"
      aria-expanded={isOpen}
      aria-label={t().documents.wholeRecord}
      title={t().documents.wholeRecord}
      onClick={onToggle}
    />
  );
}
