import { describe, expect, test } from 'vitest';
import { filesOf, type Promised, readPage, rowsOf } from './promise-table.ts';

const [, part = ''] = readPage('docs/security.md').split('\n### RFC 9700, section by section\n');
const table = part.split(/\n##+ /)[0] ?? '';
const promises = new Map(rowsOf(readPage('docs/promises.md'), 'N|A|B|ID|R').map((row) => [row.id, row]));

interface Practice {
  readonly sections: readonly string[];
  /** The rows of docs/promises.md. */
  readonly promised: readonly (Promised | undefined)[];
  readonly files: readonly string[];
  readonly isDeviation: boolean;
}

const rows: readonly Practice[] = [
  ...table.matchAll(/^\| (\d[\d., ]+) \| [^|]+ \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$/gm),
].map(([, sections = '', does = '', ids = '', shownBy = '']) => ({
  sections: sections.split(', '),
  promised: [...ids.matchAll(/[A-Z]+-\d+/g)].map(([id]) => promises.get(id)),
  files: filesOf({ id: '', promise: '', shownBy }),
  isDeviation: /^(deviates|does not apply): /.test(does),
}));

/** The recommendations (2), and the attacks with their countermeasures (4). */
const SECTIONS = [
  ...['2.1', '2.1.1', '2.1.2', '2.2.1', '2.2.2', '2.3', '2.4', '2.5', '2.6'],
  ...Array.from({ length: 17 }, (_, index) => `4.${index + 1}`),
];

describe('the table of RFC 9700 in docs/security.md', () => {
  test('has every section once, and every row of it can be read', () => {
    expect(rows.length).toBe([...table.matchAll(/^\| \d/gm)].length);
    expect(rows.flatMap(({ sections }) => sections).sort()).toEqual(SECTIONS.sort());
  });

  test.each(rows)('section $sections names promises and their tests, or says why it is not so', (row) => {
    expect(row.promised).not.toContain(undefined);
    const shown = row.promised.flatMap((promise) => (promise ? filesOf(promise) : []));
    expect(row.files.filter((file) => !shown.includes(file))).toEqual([]);
    expect(row.isDeviation || row.files.length > 0).toBe(true);
  });
});
