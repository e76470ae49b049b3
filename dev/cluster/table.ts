import type { Clock } from '../../src/runtime/clock.ts';
import type { Entry } from './entry.ts';
import { type Form, metadataText, typeText } from './form.ts';
import type { ResourceKind } from './kinds.ts';
import { isRecord, type KubeObject } from './kube-object.ts';

/** A column between name and age. */
interface Column {
  readonly name: string;
  readonly type: string;
  cell(object: KubeObject): string | number;
}

const sizeOf = (value: unknown): number => (isRecord(value) ? Object.keys(value).length : 0);

/** The columns of the kinds that are shown as Tables, by plural. */
const COLUMNS: Readonly<Record<string, readonly Column[]>> = {
  configmaps: [
    // A real server calls it a string, too, and sends a number.
    { name: 'Data', type: 'string', cell: (object) => sizeOf(object['data']) + sizeOf(object['binaryData']) },
  ],
};

const TYPE = typeText('Table', 'meta.k8s.io/v1');

/** `meta.k8s.io/v1` Table, as kubectl asks for it. The descriptions of the columns are left out. */
export function tableForm({ name: kindName }: ResourceKind, clock: Clock): Form {
  const columns = COLUMNS[kindName] ?? [];
  const shown = (name: string, type: string, format = ''): object => ({
    name,
    type,
    format,
    description: '',
    priority: 0,
  });
  const definitions = JSON.stringify([
    shown('Name', 'string', 'name'),
    ...columns.map(({ name, type }) => shown(name, type)),
    shown('Age', 'string'),
  ]);
  const row = (entry: Entry): string => {
    const { name, creationTimestamp } = entry.object.metadata;
    const age = ageText(clock.now() - Date.parse(creationTimestamp));
    const cells = [name, ...columns.map(({ cell }) => cell(entry.object)), age];
    return `{"cells":${JSON.stringify(cells)},"object":${metadataText(entry)}}`;
  };
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

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The age in the largest unit of which there are at least two. A real server adds the next smaller unit to small numbers. */
function ageText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 2 * MINUTE) return `${seconds}s`;
  if (seconds < 2 * HOUR) return `${Math.floor(seconds / MINUTE)}m`;
  return seconds < 2 * DAY ? `${Math.floor(seconds / HOUR)}h` : `${Math.floor(seconds / DAY)}d`;
}
