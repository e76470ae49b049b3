import type { Clock } from '../../../src/runtime/clock.ts';
import { printerOf } from '../custom/printed-cells.ts';
import type { Entry } from '../entry.ts';
import { type Form, metadataText, typeText } from '../form.ts';
import type { ResourceKind } from '../kinds.ts';
import type { KubeObject } from '../kube-object.ts';
import { type Cell, type Column, columnsFor } from './columns.ts';

const NAME: Column = { name: 'Name', type: 'string', format: 'name', cell: ({ metadata }) => metadata.name };

const TYPE = typeText('Table', 'meta.k8s.io/v1');

/** The columns that the definition of a custom kind names, after that of the name. */
const definedColumns = ({ columns = [] }: ResourceKind): readonly Column[] => [
  NAME,
  ...columns.map((column): Column => {
    const print = printerOf(column);
    const { name, type, format, priority } = column;
    const description =
      column.description ?? `Custom resource definition column (in JSONPath format): ${column.jsonPath}`;
    return { name, type, format, priority, description, cell: print };
  }),
];

/** `meta.k8s.io/v1` Table, as kubectl asks for it. Most descriptions of columns are left out. */
export function tableForm(kind: ResourceKind, clock: Clock): Form {
  const columns = kind.columns ? definedColumns(kind) : columnsFor(kind.name, NAME);
  const definitions = JSON.stringify(
    columns.map(({ name, type, format = '', description = '', priority = 0 }) => ({
      name,
      type,
      format,
      description,
      priority,
    })),
  );
  const cellsOf = (object: KubeObject): readonly Cell[] => columns.map(({ cell }) => cell(object, clock.now()));
  const row = (entry: Entry): string =>
    `{"cells":${JSON.stringify(cellsOf(entry.object))},"object":${metadataText(entry)}}`;
  const list: Form['list'] = (metadata, rows) =>
    `{${TYPE},"metadata":${JSON.stringify(metadata)},"columnDefinitions":${definitions},"rows":[${rows.join(',')}]}`;
  return {
    item: row,
    list,
    object: (entry) => list({ resourceVersion: entry.object.metadata.resourceVersion }, [row(entry)]),
    bookmark: (revision, annotations) =>
      list({ resourceVersion: String(revision), ...(annotations && { annotations }) }, []),
  };
}
