import { globSync, readFileSync } from 'node:fs';

const FOLDER = new URL('../../docs/operations/', import.meta.url);

/** The text of all chapters of docs/operations, in the order of their names. */
export const operationsText = (): string =>
  globSync('*.md', { cwd: FOLDER })
    .toSorted()
    .map((name) => readFileSync(new URL(name, FOLDER), 'utf8'))
    .join('\n');
