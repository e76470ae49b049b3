import { globSync } from 'node:fs';
import { expect, test } from 'vitest';
import { idsInTitles, range, readPage } from './promise-table.ts';

const ids = [...readPage('docs/contract/kinds.md').matchAll(/^\| (K[A-Z]-\d+) \|/gm)].map(([, id = '']) => id);

test('docs/contract/kinds.md has each row once, and a test for each', () => {
  expect(ids).toEqual(expect.arrayContaining([...range('KW-', 1, 20), ...range('KO-', 1, 12)]));
  expect(new Set(ids).size).toBe(ids.length);
  const titled = new Set(globSync('test/**/*.test.ts').flatMap((file) => [...idsInTitles(file)]));
  expect(ids.filter((id) => !titled.has(id))).toEqual([]);
});
