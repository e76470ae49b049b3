import { existsSync, globSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';

const ROOT = new URL('../../', import.meta.url);

/** A row of a table of promises: an id, what is promised, and how it is shown. Further columns are not read. */
export interface Promised {
  readonly id: string;
  readonly promise: string;
  readonly shownBy: string;
}

export const readPage = (name: string): string => readFileSync(new URL(name, ROOT), 'utf8');

export const range = (prefix: string, first: number, last: number, digits = 2): string[] =>
  Array.from({ length: last - first + 1 }, (_, index) => `${prefix}${String(first + index).padStart(digits, '0')}`);

/** The rows whose id is one of these families, as `A|N`, and a number. */
export const rowsOf = (page: string, families: string): Promised[] =>
  [...page.matchAll(new RegExp(`^\\| ((?:${families})-?\\d+) \\| ([^|]+) \\| ([^|]+) \\|`, 'gm'))].map(
    ([, id = '', promise = '', shownBy = '']) => ({ id, promise, shownBy }),
  );

export const filesOf = ({ shownBy }: Promised): string[] =>
  [...shownBy.matchAll(/`(test\/[^`]+)`/g)].map(([, file = '']) => file);

/** The ids at the start of a text in quotes: a test's title, or a row of the table that its title is made from. */
export function idsInTitles(file: string): ReadonlySet<string> {
  const starts = [...readPage(file).matchAll(/['"`]((?:(?:[A-Z]{1,2}-\d{2,}|I\d)(?:, |[ '"`]))+)/g)];
  return new Set(starts.flatMap(([, start = '']) => start.match(/[A-Z]{1,2}-\d{2,}|I\d/g) ?? []));
}

export function expectShown({ id, shownBy }: Promised): void {
  const tests = /^`test\/\S+\.test\.ts`(, `test\/\S+\.test\.ts`)*$/;
  const others = /^(not built: \w.+|waived \d{4}-\d{2}-\d{2}: \w.+)$/;
  expect([id, tests.test(shownBy) || others.test(shownBy)]).toEqual([id, true]);
}

export function expectTitled(row: Promised): void {
  for (const file of filesOf(row)) {
    expect([file, existsSync(new URL(file, ROOT))]).toEqual([file, true]);
    expect([file, idsInTitles(file).has(row.id)]).toEqual([file, true]);
  }
}

/** The ids of the rows that are called "not built" and that a test names all the same. */
export function wronglyNotBuilt(rows: readonly Promised[]): string[] {
  const tests = globSync('test/**/*.test.ts', { cwd: ROOT });
  expect(tests.length).toBeGreaterThan(100);
  const named = new Set(tests.flatMap((file) => [...idsInTitles(file)]));
  const missing = rows.filter(({ shownBy }) => shownBy.startsWith('not built')).map(({ id }) => id);
  return missing.filter((id) => named.has(id));
}
