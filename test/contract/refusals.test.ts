import { describe, expect, test } from 'vitest';
import { INVALID_REQUESTS, OAUTH_REFUSALS } from '../../src/oauth/endpoints/refusals.ts';
import { OAUTH_ERROR_CODES } from '../../src/oauth/oauth-error.ts';
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

/** A row of docs/contract/tokens.md or signin.md, a status and an error code, and the description if the row has it. */
interface OAuthCase {
  readonly id: string;
  readonly answer: string;
  readonly description?: string;
}

const CASE = new RegExp(`\\b([45]\\d\\d)\\*{0,2} \`(${OAUTH_ERROR_CODES.join('|')})\`(?: \\(\`([^\`]+)\`\\))?`, 'g');

/** The answers with an OAuth error in the column of each table that says what Gatehouse answers, or of the rule. */
function oauthCases(page: string): OAuthCase[] {
  let column = 0;
  return page.split('\n').flatMap((line) => {
    const cells = line.split(' | ');
    const [, ids] = /^\| ((?:[A-Z]-\d+(?:, )?)+)$/.exec(cells[0] ?? '') ?? [];
    if (cells[0] === '| id') column = cells.findIndex((cell) => /^(?:Gatehouse|answer|rule)/.test(cell));
    if (ids === undefined) return [];
    return [...(cells[column] ?? '').matchAll(CASE)].flatMap(([, status, code, description]) =>
      ids.split(', ').map((id) => ({ id, answer: `${status} ${code}`, ...(description && { description }) })),
    );
  });
}

// A row has one refusal for each status with its code: several of its cases may have different descriptions. Cases that must not be told
// apart, and failures of ours, are several rows of one refusal.
describe('the refusals under /oauth', () => {
  const written = ['tokens', 'signin'].flatMap((page) => oauthCases(readPage(`docs/contract/${page}.md`)));
  const refusals = [
    ...Object.values(OAUTH_REFUSALS),
    ...Object.entries(INVALID_REQUESTS).map(([text, ids]) => [ids, 400, 'invalid_request', text] as const),
  ].flatMap(([ids, status, code, description]) => ids.map((id) => ({ id, answer: `${status} ${code}`, description })));
  const keys = (cases: readonly OAuthCase[]): string[] =>
    distinct(cases.map(({ id, answer }) => `${id} ${answer}`)).sort();
  /** Methods and sizes are refused before an endpoint is called: with the statuses of docs/contract/http.md, section 4. */
  const isOfEveryPath = ({ answer }: OAuthCase): boolean => /^(?:405|413) /.test(answer);

  test('are the answers of the rows of docs/contract/tokens.md and signin.md, and each such answer is one of them', () => {
    expect(keys(refusals).length).toBeGreaterThan(30);
    expect(keys(written.filter((one) => !isOfEveryPath(one)))).toEqual(keys(refusals));
    const statuses = new Set(statusRefusals.map(({ code }) => `${code} invalid_request`));
    expect(written.filter((one) => isOfEveryPath(one) && !statuses.has(one.answer))).toEqual([]);
  });

  test('have the descriptions that the rows quote', () => {
    const quoted = written.filter(({ description }) => description !== undefined);
    expect(quoted.length).toBeGreaterThan(4);
    for (const one of quoted) expect(refusals).toContainEqual(one);
  });
});
