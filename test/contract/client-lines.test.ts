import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** A block of code below a comment with the name of the program that it stands in. */
const BLOCK = /<!-- (test\/clients\/\S+) -->\n+```\w+\n([\s\S]*?)```/g;

interface Block {
  readonly page: string;
  readonly program: string;
  readonly code: string;
}

const blocksOf = (page: string): Block[] =>
  [...read(page).matchAll(BLOCK)].map(([, program = '', code = '']) => ({ page, program, code }));

const BLOCKS = ['docs/tokens.md', 'docs/watch.md'].flatMap(blocksOf);

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);

/** The first of these lines that the program does not have after those before it. */
function missing(code: string, program: string): string | undefined {
  const lines = linesOf(program);
  let from = 0;
  for (const line of linesOf(code)) {
    const at = lines.indexOf(line, from);
    if (at < 0) return line;
    from = at + 1;
  }
  return undefined;
}

test.each(BLOCKS)('what $page tells users of $program is what that program does', ({ code, program }) => {
  expect(missing(code, read(program))).toBe(undefined);
});

test('both pages have such blocks', () => {
  expect(new Set(BLOCKS.map(({ page }) => page)).size).toBe(2);
});

test.each([
  ['a\nb', 'a\nx\n  b', undefined],
  ['a\nb', 'b\na', 'b'],
  ['a\na', 'a', 'a'],
])('of the lines %j the program %j lacks %j', (code, program, lacks) => {
  expect(missing(code, program)).toBe(lacks);
});
