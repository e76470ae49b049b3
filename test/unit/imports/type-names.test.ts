import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { doubledTypeNames, exportedTypes } from '../../imports/type-names.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const files = globSync('src/**/*.ts', { cwd: ROOT });
const sources = new Map(files.map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]));

test('no two exported types of src have one name', () => {
  expect(exportedTypes(sources).size).toBeGreaterThan(500);
  expect(doubledTypeNames(sources)).toEqual([]);
});

test('a name that an interface, a class and a type have is told with their files', () => {
  const doubled = new Map([
    ['src/a.ts', 'export interface Session {}\nexport type Alone = 1;\n'],
    ['src/b.ts', 'export class Session {}\nexport const Alone = 2;\n'],
    ['src/c.ts', '  export type Session = 1;\nexport type Session<T> = T;\n'],
  ]);
  expect(doubledTypeNames(doubled)).toEqual(['Session: src/a.ts, src/b.ts, src/c.ts']);
});
