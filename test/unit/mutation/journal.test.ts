import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Entry, endWorkers, outcomeOf, startOf } from '../../mutation/journal.ts';
import { makePlan } from '../../mutation/plan.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const began = (mutant: number): Entry => ({ what: 'began', mutant, tests: 'a.test.ts' });

test('a mutant that was under way when the run was stopped is neither killed nor tried', () => {
  const { killed, tried, ends } = outcomeOf([began(1), { what: 'stopped', mutant: 1, tests: 'a.test.ts' }]);
  expect([killed.size, tried.size, ends]).toEqual([0, 0, 0]);
});

test('samples of other offsets are of the same size and share no mutant', () => {
  const sampleOf = (offset: number): readonly number[] =>
    makePlan({ names: ['src/namespaces'], since: undefined, sample: 4, offset }).mutants.map(({ number }) => number);
  const [first, second] = [sampleOf(0), sampleOf(1)];
  expect([first.length, second.length, new Set([...first, ...second]).size]).toEqual([4, 4, 8]);
});

test('a process that has the id of a worker which has ended is left alone', async () => {
  const { folder } = temporaryFolder();
  const other = spawn(process.execPath, ['--eval', 'setInterval(() => {}, 1000); console.log("runs")']);
  const gone = once(other, 'exit');
  await once(other.stdout, 'data');
  const id = other.pid as number;
  writeFileSync(join(folder, `journal-${id}-1`), JSON.stringify(began(1)));
  endWorkers(folder, 'stopped');
  expect(other.exitCode ?? other.signalCode).toBe(null);
  expect(() => process.kill(id, 0)).not.toThrow();
  writeFileSync(join(folder, `journal-${id}-${startOf(id)}`), JSON.stringify(began(1)));
  endWorkers(folder, 'stopped');
  expect(await gone).toEqual([null, 'SIGKILL']);
});
