import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { BUGS } from '../support/planted/bugs.ts';

const SOURCES = join(import.meta.dirname, '..', '..', 'src');

test.each(Object.entries(BUGS))('the bug that is planted has one place: %s', (_, { file, of }) => {
  const path = join(SOURCES, file);
  expect([file, existsSync(path)]).toEqual([file, true]);
  expect(readFileSync(path, 'utf8').split(of)).toHaveLength(2);
});
