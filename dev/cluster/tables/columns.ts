import { isRecord, type KubeObject } from '../kube-object.ts';
import { ageText } from './age.ts';

export type Cell = string | number | boolean | null;

/** A column of a Table. */
export interface Column {
  readonly name: string;
  readonly type: string;
  readonly format?: string | undefined;
  readonly description?: string;
  /** 1: shown by `kubectl get -o wide` only. Default 0. */
  readonly priority?: number | undefined;
  cell(object: KubeObject, now: number): Cell;
}

const AGE: Column = {
  name: 'Age',
  type: 'string',
  cell: ({ metadata }, now) => ageText(now - Date.parse(metadata.creationTimestamp)),
};

const sizeOf = (value: unknown): number => (isRecord(value) ? Object.keys(value).length : 0);

/** The columns between name and age, by the name of the kind. */
const BETWEEN: Readonly<Record<string, readonly Column[]>> = {
  configmaps: [
    // A real server calls it a string, too, and sends a number.
    { name: 'Data', type: 'string', cell: (object) => sizeOf(object['data']) + sizeOf(object['binaryData']) },
  ],
};

/** The columns of a built-in kind; name and age, if it has no columns of its own here. */
export const columnsFor = (kind: string, name: Column): readonly Column[] => [name, ...(BETWEEN[kind] ?? []), AGE];
