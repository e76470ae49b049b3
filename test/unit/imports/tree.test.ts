import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findingsIn, staleNames } from '../../imports/check.ts';
import { readModules } from '../../imports/read.ts';
import { TABLE } from '../../imports/table.ts';

const modules = readModules(join(import.meta.dirname, '..', '..', '..'), ['src', 'dev', 'bench', 'test', 'web']);

test('every import is one that test/imports/table.ts allows', () => {
  expect(modules.length).toBeGreaterThan(800);
  expect(findingsIn(modules, TABLE)).toEqual([]);
});

test('every name in test/imports/table.ts means a file', () => {
  const files = modules.map(({ file }) => file);
  expect(staleNames(files, TABLE)).toEqual([]);
});
