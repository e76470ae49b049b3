import { existsSync, globSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

const ROOT = new URL('../../', import.meta.url);
const page = readFileSync(new URL('docs/security.md', ROOT), 'utf8');

interface Row {
  readonly id: string;
  readonly promise: string;
  readonly shownBy: string;
}

/** The table of promises: an id, a promise, and how it is shown. */
const rows: readonly Row[] = [...page.matchAll(/^\| ([NA]-\d{2}) \| (.+) \| (.+) \|$/gm)].map(
  ([, id = '', promise = '', shownBy = '']) => ({ id, promise, shownBy }),
);

const range = (prefix: string, first: number, last: number): string[] =>
  Array.from({ length: last - first + 1 }, (_, index) => `${prefix}-${String(first + index).padStart(2, '0')}`);

const WANTED = [...range('N', 1, 61), ...range('A', 16, 24), ...range('A', 40, 48)];

const filesOf = ({ shownBy }: Row): string[] => [...shownBy.matchAll(/`(test\/[^`]+)`/g)].map(([, file = '']) => file);

/** The ids at the start of a text in quotes: a test's title, or a row of the table that its title is made from. */
function idsInTitles(file: string): ReadonlySet<string> {
  const source = readFileSync(new URL(file, ROOT), 'utf8');
  const starts = [...source.matchAll(/['"`]((?:[A-Z]{1,2}-\d{2,}(?:, |[ '"`]))+)/g)].map(([, start = '']) => start);
  return new Set(starts.flatMap((start) => start.match(/[A-Z]{1,2}-\d{2,}/g) ?? []));
}

describe('the table of docs/security.md', () => {
  test('has a row for each promise about tokens, sign-in and HTTP, and no row twice', () => {
    expect(rows.map((row) => row.id)).toEqual(WANTED);
  });

  test('names tests, or says what is not built, or waives with a date and a reason', () => {
    const tests = /^`test\/\S+\.test\.ts`(, `test\/\S+\.test\.ts`)*$/;
    const others = /^(not built: \w.+|waived \d{4}-\d{2}-\d{2}: \w.+)$/;
    for (const { id, shownBy } of rows) expect([id, tests.test(shownBy) || others.test(shownBy)]).toEqual([id, true]);
  });

  test.each(rows.filter((row) => filesOf(row).length > 0))('$id is in a title of each test that it names', (row) => {
    for (const file of filesOf(row)) {
      expect([file, existsSync(new URL(file, ROOT))]).toEqual([file, true]);
      expect([file, idsInTitles(file).has(row.id)]).toEqual([file, true]);
    }
  });

  test('calls nothing "not built" that a test names', () => {
    const tests = globSync('test/**/*.test.ts', { cwd: ROOT });
    expect(tests.length).toBeGreaterThan(100);
    const named = new Set(tests.flatMap((file) => [...idsInTitles(file)]));
    const missing = rows.filter(({ shownBy }) => shownBy.startsWith('not built')).map(({ id }) => id);
    expect(missing.filter((id) => named.has(id))).toEqual([]);
  });

  test('is what the attacks refer to', () => {
    const attacks = page.slice(page.indexOf('## Attacks'), page.indexOf('## The cluster side'));
    const named = [...attacks.matchAll(/[NA]-\d{2}/g)].map(([id]) => id);
    expect(named.length).toBeGreaterThan(30);
    expect(named.filter((id) => !WANTED.includes(id))).toEqual([]);
  });
});
