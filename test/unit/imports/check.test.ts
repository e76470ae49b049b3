import { describe, expect, test } from 'vitest';
import { findingsIn, staleNames } from '../../imports/check.ts';
import { moduleOf } from '../../imports/read.ts';
import type { ImportTable } from '../../imports/table.ts';

const SMALL: ImportTable = {
  base: ['src/clock.ts', 'src/random.ts'],
  ours: {
    'src/*.ts': ['src'],
    'src/low': [],
    'src/high': ['src/low/door.ts'],
    'src/high/room': ['src/low'],
    test: ['src'],
  },
  libraries: {
    express: ['src/high'],
    'prom-client': ['src/*/metrics.ts'],
    'type prom-client': ['src/high'],
    '*': ['test'],
  },
  oneWay: ['src'],
  strict: ['src'],
  unsplit: ['src/high/room'],
};

const modulesOf = (sources: Readonly<Record<string, string>>) =>
  Object.entries(sources).map(([file, source]) => moduleOf(file, source));
const found = (sources: Readonly<Record<string, string>>, table = SMALL): string[] =>
  findingsIn(modulesOf(sources), table);

describe('the import check says file, line, import and row of', () => {
  test.each([
    [
      'a folder that is not allowed',
      'src/low/a.ts',
      "\nimport '../high/b.ts';",
      'src/low/a.ts:2 imports src/high/b.ts: the row src/low allows the base',
    ],
    [
      'a file beside the one that is allowed',
      'src/high/a.ts',
      "import '../low/b.ts';",
      'src/high/a.ts:1 imports src/low/b.ts: the row src/high allows src/low/door.ts, the base',
    ],
    [
      'what composes the folders',
      'src/high/a.ts',
      "import '../main.ts';",
      'src/high/a.ts:1 imports src/main.ts: the row src/high allows src/low/door.ts, the base',
    ],
    [
      'what is beside src',
      'src/main.ts',
      "import '../test/a.ts';",
      'src/main.ts:1 imports test/a.ts: the row src/*.ts allows src, the base',
    ],
    [
      'a folder that the base imports',
      'src/clock.ts',
      "import './low/a.ts';",
      'src/clock.ts:1 imports src/low/a.ts: the row src/clock.ts allows the base',
    ],
    [
      'what is outside the project',
      'src/high/a.ts',
      "import '../../node_modules/jose/index.js';",
      'src/high/a.ts:1 imports node_modules/jose/index.js: the row src/high allows src/low/door.ts, the base',
    ],
    [
      'a library outside its home',
      'src/low/a.ts',
      "import 'express';",
      'src/low/a.ts:1 imports express: the row express allows it in src/high',
    ],
    [
      'a part of a library outside its home',
      'src/main.ts',
      "import 'express/lib/router.js';",
      'src/main.ts:1 imports express: the row express allows it in src/high',
    ],
    [
      'a library of which types alone are allowed',
      'src/high/a.ts',
      "import { type Gauge } from 'prom-client';",
      'src/high/a.ts:1 imports prom-client: the row prom-client allows it in src/*/metrics.ts; the row type prom-client allows it in src/high',
    ],
    [
      'a library that has no home',
      'src/high/a.ts',
      "import '@new/library/deep.js';",
      'src/high/a.ts:1 imports @new/library: no row allows it',
    ],
    [
      'a name that only the running program knows',
      'test/a.ts',
      'await import(`../src/$' + '{name}.ts`);',
      'test/a.ts:1 imports what only the running program knows: no row allows it',
    ],
  ])('%s', (_, file, source, finding) => {
    expect(found({ [file]: source })).toEqual([finding]);
  });
});

test('a file in no row is found', () => {
  expect(found({ 'src/new/a.ts': '' })).toEqual(['src/new/a.ts is in no row of the table']);
});

test('the most exact row counts alone', () => {
  const source = "import '../../../low/a.ts';\nimport '../../a.ts';\n";
  expect(found({ 'src/high/room/deep/b.ts': source })).toEqual([
    'src/high/room/deep/b.ts:2 imports src/high/a.ts: the row src/high/room allows src/low, the base',
  ]);
});

test.each([
  ['its own folder', 'src/high/a.ts', "import './room/b.ts';"],
  ['a file that is allowed', 'src/high/a.ts', "import '../low/door.ts';"],
  ['the base', 'src/low/deep/a.ts', "import '../../clock.ts';"],
  ['the base, from the base', 'src/clock.ts', "import './random.ts';"],
  ['every folder, from what composes them', 'src/main.ts', "import './high/a.ts';"],
  ['Node.js itself', 'src/low/a.ts', "import 'node:fs';"],
  ['a library at home', 'src/high/room/a.ts', "import 'express';"],
  ['types of a library', 'src/high/room/a.ts', "import type { Registry } from 'prom-client';"],
  ['metrics in the metrics.ts of a folder', 'src/low/metrics.ts', "import { Gauge } from 'prom-client';"],
  ['any library, in tests', 'test/unit/a.ts', "import 'anything';"],
])('%s may be imported', (_, file, source) => {
  expect(found({ [file]: source })).toEqual([]);
});

test.each([
  "import { type Gauge } from 'prom-client';",
  "import type prom from 'prom-client';",
  "import type * as prom from 'prom-client';",
  "export { Registry } from 'prom-client';",
])('types of a library are named in an import of types alone, not as in %s', (source) => {
  expect(found({ 'src/high/a.ts': source })).toHaveLength(1);
});

describe('an import is found', () => {
  const FORBIDDEN = '../high/b.ts';
  test.each([
    `import '${FORBIDDEN}';`,
    `import b from '${FORBIDDEN}';`,
    `import { b } from '${FORBIDDEN}';`,
    `import * as b from '${FORBIDDEN}';`,
    `import type { B } from '${FORBIDDEN}';`,
    `import { type B } from '${FORBIDDEN}';`,
    `import b = require('${FORBIDDEN}');`,
    `export { b } from '${FORBIDDEN}';`,
    `export type { B } from '${FORBIDDEN}';`,
    `export * from '${FORBIDDEN}';`,
    `export type * as b from '${FORBIDDEN}';`,
    `const b = await import('${FORBIDDEN}');`,
    `const later = () => import(\`${FORBIDDEN}\`);`,
    `const b = require('${FORBIDDEN}');`,
    `type B = import('${FORBIDDEN}').B;`,
    `let b: typeof import('${FORBIDDEN}');`,
    `declare module 'express' { import type { B } from '${FORBIDDEN}'; }`,
  ])('in %s', (source) => {
    expect(found({ 'src/low/a.ts': source })).toEqual([expect.stringContaining('imports src/high/b.ts: ')]);
  });

  test('not where a text or a comment has the words', () => {
    expect(found({ 'src/low/a.ts': `// import '${FORBIDDEN}';\nconst text = "import '${FORBIDDEN}'";` })).toEqual([]);
  });
});

describe('a circle', () => {
  test('of files is found with each import in it, without those that lead there', () => {
    const sources = {
      'src/main.ts': "import './low/a.ts';",
      'src/low/a.ts': "import './b.ts';",
      'src/low/b.ts': "\nexport * from './c.ts';",
      'src/low/c.ts': "await import('./a.ts');",
    };
    expect(found(sources)).toEqual([
      'imports go in a circle: src/low/a.ts:1 imports src/low/b.ts, src/low/b.ts:2 imports src/low/c.ts, src/low/c.ts:1 imports src/low/a.ts',
    ]);
  });

  test('of a file with itself is found', () => {
    expect(found({ 'src/low/a.ts': "import './a.ts';" })).toHaveLength(1);
  });

  test.each([
    ['src/low', 1],
    ['src/high/room', 0],
    ['test', 0],
  ])('of files may be closed by types, which are gone when the program runs, but not in src: %s', (folder, count) => {
    const sources = { [`${folder}/a.ts`]: "import './b.ts';", [`${folder}/b.ts`]: "import type { A } from './a.ts';" };
    expect(found(sources)).toHaveLength(count);
  });

  const MUTUAL: ImportTable = { ...SMALL, ours: { 'src/low': ['src/high'], 'src/high': ['src/low'] } };
  const BOTH_WAYS = {
    'src/low/a.ts': "import '../high/b.ts';",
    'src/high/c.ts': "import type { D } from '../low/d.ts';",
  };

  test('of folders is found, types included, where the table wants one way', () => {
    expect(found(BOTH_WAYS, MUTUAL)).toEqual([
      'imports go in a circle: src/low/a.ts:1 imports src/high/b.ts, src/high/c.ts:1 imports src/low/d.ts',
    ]);
  });

  test('of folders is left where the table does not', () => {
    expect(found(BOTH_WAYS, { ...MUTUAL, oneWay: [] })).toEqual([]);
  });
});

describe('what is too large is found', () => {
  const lines = (count: number): string => '\n'.repeat(count);
  const files = (folder: string, count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`${folder}/${at}.ts`, '']));

  test('a file of more than 300 lines, in src', () => {
    const sources = { 'src/low/a.ts': lines(300), 'src/low/b.ts': lines(301), 'test/c.ts': lines(301) };
    expect(found(sources)).toEqual(['src/low/b.ts has 301 lines: 300 at most']);
  });

  test.each([
    ['a function', 'export async function act() {', '}'],
    ['an arrow function', 'const act = () => {', '};'],
    ['a function in another one', 'const act = () => () => {', '};'],
    ['a method', 'class A { act() {', '} }'],
  ])('%s of more than 60 lines, from its head to its end, in src', (_, head, end) => {
    const source = (count: number): string => `/** What it does. */\n${head}${lines(count - 1)}${end}\n`;
    const sources = { 'src/low/a.ts': source(60), 'src/low/b.ts': source(61), 'test/c.ts': source(61) };
    const findings = [...new Set(found(sources))];
    expect(findings).toEqual(['src/low/b.ts:2 has a function of 61 lines: 60 at most']);
  });

  test('a folder with more than 24 files directly in it, in src', () => {
    const sources = { ...files('src/low', 24), ...files('src/low/room', 25), ...files('test', 25) };
    expect(found(sources)).toEqual(['src/low/room has 25 files: 24 at most']);
  });

  test('but where it is still to be split', () => {
    expect(found({ ...files('src/high/room', 25), 'src/high/room/long.ts': lines(301) })).toEqual([]);
  });
});

test('names that mean no file are stale, in each part of the table', () => {
  const files = ['src/clock.ts', 'src/high/room/a.ts', 'test/a.ts'];
  expect(staleNames(files, SMALL)).toEqual(['src/random.ts', 'src/low', 'src/low/door.ts', 'src/*/metrics.ts']);
});
