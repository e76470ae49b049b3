import { describe, expect, test } from 'vitest';
import {
  expectShown,
  expectTitled,
  filesOf,
  type Promised,
  range,
  readPage,
  rowsOf,
  wronglyNotBuilt,
} from './promise-table.ts';

const page = readPage('docs/chaos.md');
const rows = rowsOf(page, 'C|I');
const faults = rows.filter(({ id }) => id.startsWith('C'));
const MODEL = 'test/model/rows.test.ts';

/** What stands in the last column of each fault: how long it took. */
const times = new Map(
  [...page.matchAll(/^\| (C-\d+) \|.*\| ([^|]+) \|$/gm)].map(([, id = '', time = '']) => [id, time]),
);

/** Whether a test that the row names tells this row's time. */
const isTold = (row: Promised): boolean =>
  filesOf(row).some((file) => new RegExp(`tellMeasured\\(\\s*'${row.id}'`).test(readPage(file)));

describe('the tables of docs/chaos.md', () => {
  test('have a row for each promise and each fault, and no row twice', () => {
    expect(rows.map((row) => row.id)).toEqual([...range('I', 1, 8, 1), ...range('C-', 1, 42)]);
  });

  test('name tests, or say what is not built, or waive with a date and a reason', () => {
    for (const row of rows) expectShown(row);
  });

  test.each(rows.filter((row) => filesOf(row).length > 0))(
    '$id is in a title of each test that it names',
    expectTitled,
  );

  test('tell a time for each fault that is built, from the model or from a test of the row', () => {
    for (const row of faults) {
      const time = times.get(row.id) ?? '';
      if (filesOf(row).length === 0) expect([row.id, time]).toEqual([row.id, '–']);
      else if (filesOf(row).includes(MODEL))
        expect([row.id, time]).toEqual([row.id, expect.stringMatching(/^[\d.]+ s$/)]);
      else {
        expect([row.id, time]).toEqual([row.id, expect.stringMatching(/^once .*\d s \((real|test clock)\)/)]);
        expect([row.id, isTold(row)]).toEqual([row.id, true]);
      }
    }
  });

  test('call nothing "not built" that a test names', () => {
    expect(wronglyNotBuilt(rows)).toEqual([]);
  });
});
