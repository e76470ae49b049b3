import { withCarets } from '../logs/log-text.ts';
import type { Block, Row } from './kept-rows.ts';

/** What the reader wants to see of what is kept. One that changed is another object. */
export interface RowFilter {
  /** What a line must have; `undefined`: anything. */
  readonly wanted: RegExp | undefined;
  readonly hiddenPods: ReadonlySet<string>;
  readonly hiddenContainers: ReadonlySet<string>;
}

const shown = new WeakMap<Block, { readonly filter: RowFilter; readonly rows: readonly Row[] }>();

/** The rows of a block that the filter lets through. Each block is looked through once a filter. */
export function shownRows(block: Block, filter: RowFilter): readonly Row[] {
  const known = shown.get(block);
  if (known?.filter === filter) return known.rows;
  const found = block.rows.filter((row) => isShown(row, filter));
  const rows = found.length === block.rows.length ? block.rows : found;
  shown.set(block, { filter, rows });
  return rows;
}

function isShown(row: Row, { wanted, hiddenPods, hiddenContainers }: RowFilter): boolean {
  if (row.type === 'note') return true;
  if (hiddenPods.has(row.pod) || (row.container !== undefined && hiddenContainers.has(row.container))) return false;
  return row.type !== 'line' || wanted === undefined || row.text.search(wanted) >= 0;
}

/** Rows as lines of a text file. Control characters are visible, so that a terminal that prints the file obeys none of them. */
export function fileText(blocks: readonly Block[]): string[] {
  return blocks.map(({ rows }) => rows.map((row) => `${textOf(row)}\n`).join(''));
}

function textOf(row: Row): string {
  if (row.type === 'line') return [row.time, row.pod, row.container, withCarets(row.text)].join(' ');
  if (row.type === 'note') return `--- ${row.event} ${row.seconds} s`;
  return ['---', row.event, row.pod, row.container ?? '', withCarets(row.message)]
    .filter((part) => part !== '')
    .join(' ');
}
