import { describe, expect, test } from 'vitest';
import { expectShown, expectTitled, filesOf, range, readPage, rowsOf, wronglyNotBuilt } from './promise-table.ts';

const page = readPage('docs/promises.md');
const rows = rowsOf(page, 'N|A');
const measured = rowsOf(page, 'R');
const accounts = rowsOf(page, 'AC|U');
const gateway = rowsOf(page, 'G');
const login = rowsOf(page, 'K');
const logs = rowsOf(page, 'LT|L');
const kinds = rowsOf(page, 'KD');
const idTokens = rowsOf(page, 'ID');
const browsers = rowsOf(page, 'B');
const devices = rowsOf(page, 'D');
const consoles = rowsOf(page, 'CO');
const WANTED = [...range('N-', 1, 61), ...range('A-', 1, 54)];

describe('the tables of docs/promises.md', () => {
  test('have a row for each promise and each attack, and no row twice', () => {
    expect(rows.map((row) => row.id)).toEqual(WANTED);
  });

  test('have a row for each answer of the account API that its contract has', () => {
    const answers = [...readPage('docs/contract/accounts.md').matchAll(/^\| (AC-\d+) \|/gm)].map(([, id]) => id);
    expect(answers.length).toBeGreaterThan(40);
    expect(accounts.map((row) => row.id)).toEqual([...answers, 'U-19']);
  });

  test('have a row for each case of the gateway that its contract has', () => {
    const cases = [...readPage('docs/contract/gateway.md').matchAll(/^\| (G-\d+) \|/gm)].map(([, id]) => id);
    expect(cases).toEqual(range('G-', 1, 31));
    expect(gateway.map((row) => row.id)).toEqual(cases);
  });

  test('have a row for each case of the log query that its contract has', () => {
    const cases = [...readPage('docs/contract/logging.md').matchAll(/^\| (LT?-\d+) \|/gm)].map(([, id]) => id);
    expect(cases).toEqual([...range('LT-', 1, 6), ...range('L-', 1, 14)]);
    expect(logs.map((row) => row.id)).toEqual(cases);
  });

  test('have a row for each case of the kinds that the contracts have', () => {
    const pages = ['docs/contract/kinds.md', 'docs/contract/gateway.md'].map(readPage);
    const cases = pages.flatMap((text) => [...text.matchAll(/^\| (KD-\d+) \|/gm)].map(([, id]) => id));
    expect(cases.length).toBeGreaterThan(5);
    expect(kinds.map((row) => row.id).sort()).toEqual(cases.sort());
  });

  test('have a row for each case of the console that its contract has', () => {
    const cases = [...readPage('docs/contract/console.md').matchAll(/^\| (CO-\d+) \|/gm)].map(([, id]) => id);
    expect(cases.length).toBeGreaterThan(8);
    expect(consoles.map((row) => row.id)).toEqual([...new Set(cases)].sort());
  });

  test('have a row for each rule of the sign-in by browser or on a device, and of ID tokens that their contract has', () => {
    const rules = [...readPage('docs/contract/signin.md').matchAll(/^\| (ID-\d+) \|/gm)].map(([, id]) => id);
    expect(rules).toEqual(range('ID-', 1, 10));
    expect(idTokens.map((row) => row.id)).toEqual(rules);
    const cases = [...readPage('docs/contract/signin.md').matchAll(/^\| (B-\d+) \|/gm)].map(([, id]) => id);
    expect(cases.length).toBeGreaterThan(20);
    expect(browsers.map((row) => row.id)).toEqual(cases);
    const ofDevices = [...readPage('docs/contract/signin.md').matchAll(/^\| (D-\d+) \|/gm)].map(([, id]) => id);
    expect(ofDevices.length).toBeGreaterThan(5);
    expect(devices.map((row) => row.id)).toEqual(ofDevices);
  });

  test('have a row for each promise about signing in from the command line', () => {
    expect(login.map((row) => row.id)).toEqual(range('K-', 1, 13));
  });

  test('name tests, or say what is not built, or waive with a date and a reason', () => {
    for (const row of [
      ...rows,
      ...accounts,
      ...gateway,
      ...logs,
      ...kinds,
      ...browsers,
      ...devices,
      ...idTokens,
      ...login,
      ...consoles,
    ])
      expectShown(row);
  });

  test('name a test or a command for each target that is measured', () => {
    expect(measured.length).toBeGreaterThan(10);
    for (const { id, shownBy } of measured)
      expect([id, shownBy]).toEqual([id, expect.stringMatching(/`(test\/|npm run )/)]);
  });

  test.each(
    [
      ...rows,
      ...accounts,
      ...gateway,
      ...logs,
      ...kinds,
      ...browsers,
      ...devices,
      ...idTokens,
      ...login,
      ...consoles,
      ...measured,
    ].filter((row) => filesOf(row).length > 0),
  )('$id is in a title of each test that it names', expectTitled);

  test('call nothing "not built" that a test names', () => {
    expect(
      wronglyNotBuilt([...rows, ...accounts, ...gateway, ...logs, ...kinds, ...browsers, ...devices, ...idTokens]),
    ).toEqual([]);
  });

  test('are what the attacks of docs/security.md refer to', () => {
    const security = readPage('docs/security.md');
    const attacks = security.slice(security.indexOf('## Attacks'), security.indexOf('## The cluster side'));
    const named = [...attacks.matchAll(/[NA]-\d{2}/g)].map(([id]) => id);
    expect(named.length).toBeGreaterThan(30);
    expect(named.filter((id) => !WANTED.includes(id))).toEqual([]);
  });
});
