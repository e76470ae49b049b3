import { describe, expect, test } from 'vitest';
import { STATUS_REFUSALS } from '../../src/status-error.ts';
import { readPage } from './promise-table.ts';

const PAGES = ['http', 'nodes', 'accounts', 'gateway', 'logging', 'tokens'].map((name) => `docs/contract/${name}.md`);

const statusRefusals = Object.values(STATUS_REFUSALS);
const distinct = <T>(values: Iterable<T>): T[] => [...new Set(values)];
/** What the groups of the pattern match, without repeats. */
const found = (text: string, pattern: RegExp): string[] =>
  distinct([...text.matchAll(pattern)].flatMap(([, ...groups]) => groups.filter((group) => group !== undefined)));

// One id is one HTTP status. A row quotes each reason that a `Status` with this code may have: 409 and 410 have two.
describe('the refusals outside /oauth', () => {
  const rows = [...readPage('docs/contract/http.md').matchAll(/^\| (HE-\d+) \|(.*)$/gm)];

  test('are the rows of docs/contract/http.md, section 4, and each row is one of them', () => {
    const written = rows.map(([, id, row = '']) => ({
      id,
      codes: found(row, /"code":(\d+)/g).map(Number),
      reasons: found(row, /"reason":"(\w+)","(?:details|code)"|the reason `(\w+)`/g),
    }));
    expect(written.length).toBeGreaterThan(15);
    const ids = distinct(statusRefusals.map(({ id }) => id));
    expect(written).toEqual(
      ids.map((id) => {
        const same = statusRefusals.filter((refusal) => refusal.id === id);
        return { id, codes: distinct(same.map(({ code }) => code)), reasons: same.map(({ reason }) => reason) };
      }),
    );
  });

  test('have the codes that all pages of the contract write before their reasons', () => {
    const reasons = new Set<string>(statusRefusals.map(({ reason }) => reason));
    const written = PAGES.flatMap((page) => [...readPage(page).matchAll(/\b([45]\d\d) `?([A-Z]\w+)/g)])
      .map(([, code, word = '']) => ({ code: Number(code), reason: word }))
      .filter(({ reason }) => reasons.has(reason));
    expect(written.length).toBeGreaterThan(40);
    const known = statusRefusals.map(({ code, reason }) => ({ code, reason }));
    for (const one of written) expect(known).toContainEqual(one);
  });
});
