import { describe, expect, test } from 'vitest';
import { expectShown, expectTitled, filesOf, range, readPage, rowsOf, wronglyNotBuilt } from './promise-table.ts';

const page = readPage('docs/promises.md');
const rows = rowsOf(page, 'NA');
const measured = rowsOf(page, 'R');
const WANTED = [...range('N-', 1, 61), ...range('A-', 1, 51)];

describe('the tables of docs/promises.md', () => {
  test('have a row for each promise and each attack, and no row twice', () => {
    expect(rows.map((row) => row.id)).toEqual(WANTED);
  });

  test('name tests, or say what is not built, or waive with a date and a reason', () => {
    for (const row of rows) expectShown(row);
  });

  test('name a test or a command for each target that is measured', () => {
    expect(measured.length).toBeGreaterThan(10);
    for (const { id, shownBy } of measured)
      expect([id, shownBy]).toEqual([id, expect.stringMatching(/`(test\/|npm run )/)]);
  });

  test.each([...rows, ...measured].filter((row) => filesOf(row).length > 0))(
    '$id is in a title of each test that it names',
    expectTitled,
  );

  test('call nothing "not built" that a test names', () => {
    expect(wronglyNotBuilt(rows)).toEqual([]);
  });

  test('are what the attacks of docs/security.md refer to', () => {
    const security = readPage('docs/security.md');
    const attacks = security.slice(security.indexOf('## Attacks'), security.indexOf('## The cluster side'));
    const named = [...attacks.matchAll(/[NA]-\d{2}/g)].map(([id]) => id);
    expect(named.length).toBeGreaterThan(30);
    expect(named.filter((id) => !WANTED.includes(id))).toEqual([]);
  });
});
