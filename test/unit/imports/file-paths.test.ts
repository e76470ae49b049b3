import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..', '..');

/** The part of a file URL that looks like a path has %20 for a blank and %C3%A4 for an umlaut. `import.meta.dirname` is a path. */
const takesUrlForPath = (source: string): boolean => /import\.meta\.url/.test(source) && /\bpathname\b/.test(source);

test('no file takes a part of its own URL for a path', () => {
  const files = globSync(['{src,dev,bench,test,.ci}/**/*.{ts,mts,js,mjs}', '*.{ts,mjs}'], { cwd: ROOT });
  expect(files).toContain('.ci/count.mjs');
  expect(files.filter((file) => takesUrlForPath(readFileSync(join(ROOT, file), 'utf8')))).toEqual([]);
});

const OWN_URL = ['import', 'meta', 'url'].join('.'); // this file is read, too

test.each([
  [`const main = new URL('../main.ts', ${OWN_URL}).pathname;`, true],
  [`const { pathname } = new URL(${OWN_URL});`, true],
  [`readFileSync(new URL('../main.ts', ${OWN_URL}));`, false],
  ['const path = new URL(request.url, origin).pathname;', false],
])('%s: %s', (source, expected) => {
  expect(takesUrlForPath(source)).toBe(expected);
});
