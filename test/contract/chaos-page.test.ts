import { describe, expect, test } from 'vitest';
import { expectShown, expectTitled, filesOf, range, readPage, rowsOf, wronglyNotBuilt } from './promise-table.ts';

const rows = rowsOf(readPage('docs/chaos.md'), 'CI');

describe('the tables of docs/chaos.md', () => {
  test('have a row for each promise and each fault, and no row twice', () => {
    expect(rows.map((row) => row.id)).toEqual([...range('I', 1, 8, 1), ...range('C-', 1, 40)]);
  });

  test('name tests, or say what is not built, or waive with a date and a reason', () => {
    for (const row of rows) expectShown(row);
  });

  test.each(rows.filter((row) => filesOf(row).length > 0))(
    '$id is in a title of each test that it names',
    expectTitled,
  );

  test('call nothing "not built" that a test names', () => {
    expect(wronglyNotBuilt(rows)).toEqual([]);
  });
});
