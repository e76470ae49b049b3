import { describe, expect, test } from 'vitest';
import { expectShown, expectTitled, filesOf, range, readPage, rowsOf, wronglyNotBuilt } from './promise-table.ts';

const page = readPage('docs/security.md');
const rows = rowsOf(page, 'NA');
const WANTED = [...range('N-', 1, 61), ...range('A-', 1, 51)];

describe('the table of docs/security.md', () => {
  test('has a row for each promise and each attack, and no row twice', () => {
    expect(rows.map((row) => row.id)).toEqual(WANTED);
  });

  test('names tests, or says what is not built, or waives with a date and a reason', () => {
    for (const row of rows) expectShown(row);
  });

  test.each(rows.filter((row) => filesOf(row).length > 0))(
    '$id is in a title of each test that it names',
    expectTitled,
  );

  test('calls nothing "not built" that a test names', () => {
    expect(wronglyNotBuilt(rows)).toEqual([]);
  });

  test('is what the attacks refer to', () => {
    const attacks = page.slice(page.indexOf('## Attacks'), page.indexOf('## The cluster side'));
    const named = [...attacks.matchAll(/[NA]-\d{2}/g)].map(([id]) => id);
    expect(named.length).toBeGreaterThan(30);
    expect(named.filter((id) => !WANTED.includes(id))).toEqual([]);
  });
});
