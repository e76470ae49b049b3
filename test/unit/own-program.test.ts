import { chmodSync } from 'node:fs';
import { delimiter } from 'node:path';
import { expect, test } from 'vitest';
import { ownProgram } from '../support/own-program.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

test('the program that runs has a path where Node.js knows its name only', () => {
  const { folder, write } = temporaryFolder();
  const program = write('a-node', '');
  const path = ['/nowhere', folder].join(delimiter);
  expect(ownProgram('/usr/bin/a-node', path)).toBe('/usr/bin/a-node');
  expect(ownProgram('a-node', path)).toBe('a-node');
  chmodSync(program, 0o700);
  expect(ownProgram('a-node', path)).toBe(program);
});
