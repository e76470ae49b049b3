import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSwitches } from '../../imports/switches.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const sources = new Map(
  globSync('src/**/*.ts', { cwd: ROOT }).map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]),
);

test('each switch over words of ours ends in `satisfies never`; those over error codes of Node, which may get more, do not', () => {
  expect(openSwitches(sources).sort()).toEqual([
    'src/http/connection/client-error.ts: code',
    'src/http/connection/server.ts: error.code',
  ]);
});

test('a switch without an end, or with another default, is found', () => {
  const [closed, other, none] = [
    '    default:\n      return a satisfies never;\n',
    '    default:\n      return 0;\n',
    '',
  ];
  const source = (end: string): string => `  switch (a) {\n    case 'b':\n      return 1;\n${end}  }\n`;
  const planted = new Map([
    ['src/a.ts', source(closed)],
    ['src/b.ts', source(other)],
    ['src/c.ts', source(none)],
  ]);
  expect(openSwitches(planted)).toEqual(['src/b.ts: a', 'src/c.ts: a']);
});
